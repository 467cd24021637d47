// Linear multi-class SVM of Crammer and Singer, solved to a duality gap for one C or for a path of them.
//
//   minimise 1/2 |M|^2 + (C/n) sum_i omega_i max(0, max_{l != l_i}(m_l.x_i + 1) - m_{l_i}.x_i)
//
// The bias is a feature of value 1 behind the others, regularised like them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/core/options.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"
#include "tunemix/learn/plain_model.h"

namespace tunemix {

enum class SvmScale : uint8_t { kNone, kMinMax, kStandard };
enum class SvmWeights : uint8_t { kUniform, kExponential };
enum class SvmSolver : uint8_t { kAuto, kDual, kNewton };

struct SvmOptions {
  double C = 1;                                   // weight of the mean loss against 1/2 |M|^2
  bool bias = true;                               // a feature of value 1, regularised like the others
  SvmScale scale = SvmScale::kStandard;           // of the features, fitted on the training data
  SvmWeights weights = SvmWeights::kExponential;  // omega_i: 1, or 2^label divided by its mean
  double gap = 1e-3;                              // stop at (primal - dual) / primal <= gap
  int max_epochs = 1000;                          // passes of dual descent, or Newton steps, for one C
  SvmSolver solver = SvmSolver::kAuto;            // dual coordinate descent, smoothed Newton, or by size
  int labels = 0;                                 // number of labels K; 0: the largest in the data plus 1
};
const OptionTable<SvmOptions>& svm_option_table();

// How a raw feature becomes a trained one: (x - shift) * factor; factor 0 for a feature without spread.
struct FeatureScaling {
  std::vector<double> shift;
  std::vector<double> factor;
};
FeatureScaling fit_scaling(const Dataset& data, SvmScale scale, const Context& context);

class SvmModel {
 public:
  // What the solver reached.
  struct Solution {
    double C = 0;
    double primal = 0;
    double dual = 0;
    int epochs = 0;  // passes of dual descent plus Newton steps for this C, warm start not counted
    double gap() const { return primal > 0 ? (primal - dual) / primal : 0; }
  };

  // weights: (features + 1) x labels, of scaled features; the last row is the bias (0 without one).
  SvmModel(FeatureScaling scaling, size_t labels, std::vector<double> weights, Solution solution);

  size_t features() const { return scaling_.shift.size(); }
  size_t labels() const { return labels_; }
  std::span<const double> weights() const { return weights_; }
  const FeatureScaling& scaling() const { return scaling_; }
  const Solution& solution() const { return solution_; }
  const std::string& id() const { return id_; }  // made from the content

  // f_l(x) = m_l.x of every document; InputError where the number of features differs.
  ScoreMatrix score(const Dataset& data, const Context& context) const;
  PlainModel plain() const;
  // (features + 1) x labels weights of raw features: the scaling is folded into them.
  std::vector<double> folded() const;

  void save(BinaryWriter& out) const;
  static SvmModel load(BinaryReader& in);

 private:
  FeatureScaling scaling_;
  size_t labels_;
  std::vector<double> weights_;
  Solution solution_;
  std::string id_;
};

// One model per C, in the order asked. They are solved from the smallest C to the largest, each from the
// solution of the one before; options.C is not read.
std::vector<SvmModel> train_svm_path(const Dataset& data, const SvmOptions& options,
                                     std::span<const double> Cs, const Context& context);
SvmModel train_svm(const Dataset& data, const SvmOptions& options, const Context& context);

}  // namespace tunemix

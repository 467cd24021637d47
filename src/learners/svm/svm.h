// Linear multi-class SVM of Crammer and Singer, solved to a duality gap for one C or for a path of them.
//
//   minimise 1/2 |M|^2 + (C/n) sum_i omega_i max(0, max_{l != l_i}(m_l.x_i + 1) - m_{l_i}.x_i)
//
// The bias is a feature of value 1 behind the others, regularised like them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunemix/core/aligned.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/core/options.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"
#include "tunemix/learn/learner.h"

namespace tunemix {

enum class SvmScale : uint8_t { kNone, kMinMax, kStandard };
enum class SvmWeights : uint8_t { kUniform, kExponential };
enum class SvmSolver : uint8_t { kAuto, kDual, kNewton };

struct SvmOptions {
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

// The solution for one C.
struct SvmSolution {
  FeatureScaling scaling;
  size_t labels = 0;
  std::vector<double>
      weights;  // (features + 1) x labels, of scaled features; the last row is the bias (0 without one)
  double C = 0;
  double primal = 0;
  double dual = 0;
  int epochs = 0;  // passes of dual descent plus Newton steps for this C, warm start not counted

  size_t features() const { return scaling.shift.size(); }
  double gap() const { return primal > 0 ? (primal - dual) / primal : 0; }
  std::string id() const;  // made from the content
  // Coefficients of the features as they are, without the scaling.
  std::vector<double> raw_coefficients() const;

  void save(BinaryWriter& out) const;
  static SvmSolution load(BinaryReader& in);
};

// f_l(x) = m_l.x of a path of solutions.
class SvmModel final : public Model {
 public:
  // By the label of their point; of the same features and labels.
  using Path = std::vector<std::pair<std::string, SvmSolution>>;
  explicit SvmModel(Path path);
  static std::unique_ptr<Model> load(BinaryReader& in);

  size_t features() const override { return path_[0].second.features(); }
  size_t columns() const override { return path_[0].second.labels; }
  std::vector<Point> points() const override;
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override;
  std::unique_ptr<Model> keep(std::span<const size_t> points) const override;
  Facts facts() const override;
  PlainModel plain(size_t point) const override;
  void save(BinaryWriter& out) const override;

 private:
  Path path_;
  std::vector<std::string> ids_;  // of the points
  // Those of all points side by side, so that one pass over a document's features scores all: (features + 1)
  // x stride, of raw features; the last row is the bias.
  AlignedVector<double> raw_;
  size_t stride_ = 0;  // points x labels, whole vectors
};

// One solution per C, in the order asked. They are found from the smallest C to the largest, each from the
// one before; options.C is not read.
std::vector<SvmSolution> train_svm_path(const Dataset& data, const SvmOptions& options,
                                        std::span<const double> Cs, const Context& context);

}  // namespace tunemix

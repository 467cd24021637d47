#include <algorithm>
#include <cmath>
#include <limits>

#include "learners/svm/packed.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/hash.h"
#include "tunemix/learners/svm.h"

namespace tunemix {

const OptionTable<SvmOptions>& svm_option_table() {
  static const OptionTable<SvmOptions> table = [] {
    OptionTable<SvmOptions> t;
    t.number("C", &SvmOptions::C, 1e-12, 1e12, "weight of the mean loss against 1/2 |M|^2")
        .flag("bias", &SvmOptions::bias, "add a feature of value 1, regularised like the others")
        .choice(
            "scale", &SvmOptions::scale,
            {{"none", SvmScale::kNone}, {"minmax", SvmScale::kMinMax}, {"standard", SvmScale::kStandard}},
            "scaling of the features, fitted on the training data: to [0, 1], or to mean 0 and deviation 1")
        .choice("weights", &SvmOptions::weights,
                {{"uniform", SvmWeights::kUniform}, {"exponential", SvmWeights::kExponential}},
                "weight of a document's loss: 1, or 2^label divided by its mean over the documents")
        .number("gap", &SvmOptions::gap, 1e-9, 1.0, "stop at this relative duality gap")
        .number("max_epochs", &SvmOptions::max_epochs, 1, 1000000,
                "most passes of dual descent, or Newton steps, for one C")
        .choice("solver", &SvmOptions::solver,
                {{"auto", SvmSolver::kAuto}, {"dual", SvmSolver::kDual}, {"newton", SvmSolver::kNewton}},
                "dual coordinate descent, Newton on the smoothed primal, or by the number of weights")
        .number("labels", &SvmOptions::labels, 0, 32, "number of labels; 0: the largest in the data plus 1");
    return t;
  }();
  return table;
}

FeatureScaling fit_scaling(const Dataset& data, SvmScale scale, const Context& context) {
  const size_t d = data.features();
  const size_t n = data.documents();
  FeatureScaling result{std::vector<double>(d, 0.0), std::vector<double>(d, 1.0)};
  if (scale == SvmScale::kNone || n == 0) return result;
  const std::span<const float> weights = data.weights();
  const auto weight = [&](size_t i) { return weights.empty() ? 1.0 : static_cast<double>(weights[i]); };
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += weight(i);
  parallel_blocks(context.pool(), d, 16, [&](size_t begin, size_t end) {
    std::vector<double> low(end - begin, std::numeric_limits<double>::infinity());
    std::vector<double> high(end - begin, -std::numeric_limits<double>::infinity());
    std::vector<double> sum(end - begin, 0.0);
    std::vector<double> squares(end - begin, 0.0);
    for (size_t i = 0; i < n; ++i) {
      const double w = weight(i);
      if (w == 0) continue;
      for (size_t j = begin; j < end; ++j) {
        const auto x = static_cast<double>(data.row(i)[j]);
        low[j - begin] = std::min(low[j - begin], x);
        high[j - begin] = std::max(high[j - begin], x);
        sum[j - begin] += w * x;
      }
    }
    for (size_t i = 0; i < n && scale == SvmScale::kStandard; ++i)
      for (size_t j = begin; j < end; ++j) {
        const double off = static_cast<double>(data.row(i)[j]) - sum[j - begin] / total;
        squares[j - begin] += weight(i) * off * off;
      }
    for (size_t j = begin; j < end; ++j) {
      const size_t at = j - begin;
      const double spread = scale == SvmScale::kMinMax ? high[at] - low[at] : std::sqrt(squares[at] / total);
      result.shift[j] = scale == SvmScale::kMinMax ? low[at] : sum[at] / total;
      // A constant feature has no spread; what rounding leaves of one is none either.
      result.factor[j] = high[at] > low[at] ? 1 / spread : 0;
    }
  });
  return result;
}

SvmModel::SvmModel(FeatureScaling scaling, size_t labels, std::vector<double> weights, Solution solution)
    : scaling_(std::move(scaling)), labels_(labels), weights_(std::move(weights)), solution_(solution) {
  require(scaling_.factor.size() == scaling_.shift.size(), "a scaling of two lengths");
  require(weights_.size() == (features() + 1) * labels_, "weights do not fit the features and labels");
  Hasher hasher;
  hasher.number(labels_)
      .values(std::span<const double>(scaling_.shift))
      .values(std::span<const double>(scaling_.factor))
      .values(std::span<const double>(weights_));
  id_ = "svm-" + hasher.digest().hex().substr(0, 16);
}

std::vector<double> SvmModel::folded() const {
  const size_t K = labels_;
  std::vector<double> folded((features() + 1) * K);
  std::copy_n(weights_.end() - static_cast<std::ptrdiff_t>(K), K,
              folded.end() - static_cast<std::ptrdiff_t>(K));
  for (size_t j = 0; j < features(); ++j)
    for (size_t l = 0; l < K; ++l) {
      folded[j * K + l] = weights_[j * K + l] * scaling_.factor[j];
      folded[features() * K + l] -= folded[j * K + l] * scaling_.shift[j];
    }
  return folded;
}

PlainModel SvmModel::plain() const {
  const std::vector<double> weights = folded();
  const auto intercepts = weights.end() - static_cast<std::ptrdiff_t>(labels_);
  PlainModel plain;
  plain.features = features();
  plain.columns = labels_;
  plain.weights.assign(weights.begin(), intercepts);
  plain.start.assign(intercepts, weights.end());
  return plain;
}

ScoreMatrix SvmModel::score(const Dataset& data, const Context& context) const {
  if (data.features() != features())
    throw_input("the data has {} features; the SVM model {} expects {}", data.features(), id_, features());
  ScoreMatrix scores(data.documents(), labels_, data.fingerprint(), id_);
  const SvmModel* const self[] = {this};
  ScoreMatrix* const to[] = {&scores};
  PackedSvms(self).score(data, to, context);
  return scores;
}

void SvmModel::save(BinaryWriter& out) const {
  out.put<uint64_t>(labels_);
  out.put(scaling_.shift);
  out.put(scaling_.factor);
  out.put(weights_);
  out.put(solution_.C);
  out.put(solution_.primal);
  out.put(solution_.dual);
  out.put<int32_t>(solution_.epochs);
}

SvmModel SvmModel::load(BinaryReader& in) {
  const auto labels = in.get<uint64_t>();
  FeatureScaling scaling{in.get_vector<double>(), in.get_vector<double>()};
  std::vector<double> weights = in.get_vector<double>();
  Solution solution;
  solution.C = in.get<double>();
  solution.primal = in.get<double>();
  solution.dual = in.get<double>();
  solution.epochs = in.get<int32_t>();
  if (labels < 1 || labels > 32) in.fail("the number of labels is out of range");
  if (scaling.factor.size() != scaling.shift.size() || weights.size() != (scaling.shift.size() + 1) * labels)
    in.fail("the weights do not fit the features and labels");
  if (!all_finite(weights) || !all_finite(scaling.shift) || !all_finite(scaling.factor))
    in.fail("a weight is not a finite number");
  return SvmModel(std::move(scaling), labels, std::move(weights), solution);
}

}  // namespace tunemix

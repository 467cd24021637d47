// XE-NDCG (Bruch 2021): cross entropy of the softmax of a query's scores, rho, and a distribution phi drawn
// from its gains: phi_i is proportional to 2^label + 1 - u, u even in 0..1, which is the grade and something
// more.
#include "core/portable_math.h"
#include "learners/gradient_trees/learners.h"
#include "learners/gradient_trees/query_blocks.h"
#include "tunemix/core/random.h"

namespace tunemix::trees {
namespace {

struct XeNdcgOptions : TreeOptions {};

class XeNdcg final : public Objective {
 public:
  XeNdcg(const XeNdcgOptions& /*options*/, const TrainingRequest& request, const Context& context)
      : data_(request.data),
        context_(context),
        blocks_(request.data),
        seed_(derive_seed(context.seed(), "xendcg")),
        scratch_(static_cast<size_t>(context.threads())) {}

  void gradients(uint64_t round, size_t, std::span<const std::vector<float>> scores,
                 uint64_t* words) override {
    blocks_.run(context_, [&](size_t q, size_t first, size_t count, int thread) {
      one_query(round, q, first, count, scores[0].data() + first, scratch_[static_cast<size_t>(thread)],
                words + first);
    });
  }

 private:
  struct Scratch {
    std::vector<double> rho, step, ratio;
  };

  void one_query(uint64_t round, size_t q, size_t first, size_t count, const float* scores, Scratch& own,
                 uint64_t* words) {
    // Of one document rho and phi are 1.
    if (count == 1) return void(words[0] = raw_word(0, 0));
    for (std::vector<double>* values : {&own.rho, &own.step, &own.ratio}) values->resize(count);
    const double highest = *std::max_element(scores, scores + count);
    // A stream of its own for each query and round, so that threads do not matter.
    Random random(seed_ ^ (round * 0x9e3779b97f4a7c15ULL + q) * 0xd1342543de82ef95ULL);
    double odds = 0;
    double gains = 0;
    for (size_t i = 0; i < count; ++i) {
      odds += own.rho[i] = portable_exp(scores[i] - highest);
      gains += own.step[i] = data_.grades()[data_.all().labels()[first + i]] + 1 - random.uniform();
    }
    for (size_t i = 0; i < count; ++i) {
      own.rho[i] /= odds;
      own.step[i] = own.rho[i] - own.step[i] / gains;
    }
    // The gradient, g = rho - phi, is followed by O D^-1 g and (O D^-1)^2 g, where D - O is the second
    // derivative and D its diagonal rho (1 - rho), O_ij = rho_i rho_j: a step g / D is then Newton's, (D -
    // O)^-1 g, up to the third term of its series.
    const std::vector<double>& rho = own.rho;
    std::vector<double> sum = own.step;
    for (int term = 1; term < kTerms; ++term) {
      double all = 0;
      for (size_t i = 0; i < count; ++i) all += own.ratio[i] = own.step[i] / std::max(1 - rho[i], kLeast);
      for (size_t i = 0; i < count; ++i) sum[i] += own.step[i] = rho[i] * (all - own.ratio[i]);
    }
    for (size_t i = 0; i < count; ++i)
      words[i] = raw_word(static_cast<float>(sum[i]), static_cast<float>(rho[i] * (1 - rho[i])));
  }

  static constexpr int kTerms = 3;
  static constexpr double kLeast = 1e-9;

  const TrainingData& data_;
  const Context& context_;
  QueryBlocks blocks_;
  uint64_t seed_;
  std::vector<Scratch> scratch_;
};

}  // namespace

TreeLearner xendcg() {
  LearnerEntry entry;
  entry.type = "xendcg";
  entry.row = "XN";
  entry.doc = "boosted trees on the cross entropy of softmax scores and randomly perturbed gains";
  entry.citation = "Bruch, An alternative cross entropy loss for learning-to-rank, 2021";
  entry.weights = WeightUse::kQuery;
  entry.version = 2;
  return tree_learner<XeNdcg, XeNdcgOptions>(std::move(entry), {.draws = true});
}

}  // namespace tunemix::trees

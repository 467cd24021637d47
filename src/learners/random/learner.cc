#include "learners/random/learner.h"

#include "tunemix/core/hash.h"

namespace tunemix {
namespace {

struct RandomOptions {};

const OptionTable<RandomOptions>& random_table() {
  static const OptionTable<RandomOptions> table;
  return table;
}

// A number from 0 to 1 by a hash of the seed and the document's features: the same document has the same
// number wherever it stands.
class RandomModel final : public Model {
 public:
  RandomModel(size_t features, uint64_t seed) : features_(features), seed_(seed) {}
  explicit RandomModel(BinaryReader& in) : features_(in.get<uint64_t>()), seed_(in.get<uint64_t>()) {}

  size_t features() const override { return features_; }
  size_t columns() const override { return 1; }
  std::vector<Point> points() const override { return {Point{}}; }
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override {
    if (data.features() != features_)
      throw_input("the data has {} features; the model was trained on {}", data.features(), features_);
    ScoreMatrix scores(data.documents(), 1, fmt::format("random-{:x}", seed_));
    parallel_blocks(context.pool(), data.documents(), kBlock, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const uint64_t hash = Hasher().number(seed_).values(data.row(i)).digest().low;
        scores.row(i)[0] = static_cast<float>(static_cast<double>(hash >> 11) * 0x1p-53);
      }
    });
    return std::vector<ScoreMatrix>(points.size(), scores);
  }
  std::unique_ptr<Model> keep(std::span<const size_t> /*points*/) const override {
    return std::make_unique<RandomModel>(*this);
  }
  Facts facts() const override { return {{"seed", static_cast<int64_t>(seed_)}}; }
  void save(BinaryWriter& out) const override {
    out.put<uint64_t>(features_);
    out.put(seed_);
  }

 private:
  static constexpr size_t kBlock = 1024;
  size_t features_;
  uint64_t seed_;
};

class RandomTrainer final : public Trainer {
 public:
  RandomTrainer(size_t features, uint64_t seed) : features_(features), seed_(seed) {}
  bool step(double /*seconds*/) override { return true; }
  std::unique_ptr<Model> model() const override { return std::make_unique<RandomModel>(features_, seed_); }

 private:
  size_t features_;
  uint64_t seed_;
};

}  // namespace

LearnerEntry random_learner() {
  LearnerEntry entry;
  entry.type = "random";
  entry.family = "random";
  entry.row = "RND";
  entry.doc = "Random scores by the seed: what a ranking without any knowledge reaches, as a baseline.";
  entry.citation = "the lowest baseline of Tapper's thesis, 2015";
  entry.one_column = true;
  entry.weights = WeightUse::kNone;
  entry.takes_missing = true;
  describe_options(entry, random_table());
  entry.start = [](const TrainingRequest& request, const Context& context) -> std::unique_ptr<Trainer> {
    return std::make_unique<RandomTrainer>(request.data.all().features(), context.seed());
  };
  entry.load = [](BinaryReader& in) -> std::unique_ptr<Model> { return std::make_unique<RandomModel>(in); };
  return entry;
}

}  // namespace tunemix

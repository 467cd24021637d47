#include "learners/scores/learner.h"

namespace tunemix {
namespace {

// A name for scores that are given from outside, with as many columns as they have.
class GivenScores final : public Model {
 public:
  GivenScores(std::string name, size_t columns) : name_(std::move(name)), columns_(columns) {}
  explicit GivenScores(BinaryReader& in) : name_(in.get_string()), columns_(in.get<uint64_t>()) {
    if (name_.empty() || columns_ < 1 || columns_ > 32) in.fail("scores without a name or columns");
  }

  size_t features() const override { return 0; }
  size_t columns() const override { return columns_; }
  std::vector<Point> points() const override { return {Point{}}; }
  std::vector<ScoreMatrix> score(const Dataset& /*data*/, std::span<const size_t> /*points*/,
                                 const Context& /*context*/) const override {
    throw_input("the scores of '{}' are not computed here; give those of these documents", name_);
  }
  std::unique_ptr<Model> keep(std::span<const size_t> /*points*/) const override {
    return std::make_unique<GivenScores>(*this);
  }
  Facts facts() const override { return {{"name", name_}, {"columns", static_cast<int64_t>(columns_)}}; }
  std::string external_scores() const override { return name_; }
  void save(BinaryWriter& out) const override {
    out.put(name_);
    out.put<uint64_t>(columns_);
  }

 private:
  std::string name_;
  size_t columns_;
};

}  // namespace

LearnerEntry scores_learner() {
  LearnerEntry entry;
  entry.type = "scores";
  entry.weights = WeightUse::kNone;
  entry.doc = "Score files of any other ranker, one or K numbers a line: calibrated and mixed like a model.";
  entry.external = [](const std::string& name, size_t columns) -> std::unique_ptr<Model> {
    return std::make_unique<GivenScores>(name, columns);
  };
  entry.load = [](BinaryReader& in) -> std::unique_ptr<Model> { return std::make_unique<GivenScores>(in); };
  return entry;
}

}  // namespace tunemix

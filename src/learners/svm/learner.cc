#include "learners/svm/learner.h"

#include <algorithm>

#include "tunemix/learners/svm.h"

namespace tunemix {
namespace {

struct PathOptions {
  SvmOptions svm;
  std::vector<double> C = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10};
};

const OptionTable<PathOptions>& path_table() {
  static const OptionTable<PathOptions> table = [] {
    OptionTable<PathOptions> t;
    for (const auto& entry : svm_option_table().entries())
      if (entry.name != "C" && entry.name != "labels")
        t.custom(
            entry.name, entry.expected,
            [entry](PathOptions& o, std::string_view text) { entry.set(o.svm, text); },
            [entry](const PathOptions& o) { return entry.get(o.svm); }, entry.doc);
    t.numbers("C", &PathOptions::C, 1e-12, 1e12,
              "Values of C (of the whole loss, divided by n), solved as one path");
    return t;
  }();
  return table;
}

std::string label(double C) { return fmt::format("C={}", C); }

class LearnedSvm final : public Model {
 public:
  explicit LearnedSvm(std::vector<std::pair<std::string, SvmModel>> models) : models_(std::move(models)) {}
  explicit LearnedSvm(BinaryReader& in) {
    const size_t count = in.get_count(1);
    if (count == 0) in.fail("it has no points");
    for (size_t p = 0; p < count; ++p) {
      std::string name = in.get_string();
      models_.emplace_back(std::move(name), SvmModel::load(in));
      if (models_[p].second.features() != features() || models_[p].second.labels() != columns())
        in.fail("its points differ in features or labels");
    }
  }

  size_t features() const override { return models_[0].second.features(); }
  size_t columns() const override { return models_[0].second.labels(); }
  std::vector<Point> points() const override {
    std::vector<Point> points;
    for (const auto& [name, model] : models_) points.push_back({0, name});
    return points;
  }
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override {
    std::vector<ScoreMatrix> scores;
    for (const size_t point : points) scores.push_back(models_.at(point).second.score(data, context));
    return scores;
  }
  std::unique_ptr<Model> keep(std::span<const size_t> points) const override {
    std::vector<std::pair<std::string, SvmModel>> kept;
    for (const size_t point : points) kept.push_back(models_.at(point));
    return std::make_unique<LearnedSvm>(std::move(kept));
  }

  Facts facts() const override {
    Facts facts = {{"labels", static_cast<int64_t>(columns())}};
    std::vector<double> C, primal, dual, gap, epochs;
    for (const auto& [name, model] : models_) {
      C.push_back(model.solution().C);
      primal.push_back(model.solution().primal);
      dual.push_back(model.solution().dual);
      gap.push_back(model.solution().gap());
      epochs.push_back(model.solution().epochs);
    }
    facts.push_back({"C", C});
    facts.push_back({"primal", primal});
    facts.push_back({"dual", dual});
    facts.push_back({"relative_gap", gap});
    facts.push_back({"epochs", epochs});
    return facts;
  }

  void save(BinaryWriter& out) const override {
    out.put<uint64_t>(models_.size());
    for (const auto& [name, model] : models_) {
      out.put(name);
      model.save(out);
    }
  }

 private:
  std::vector<std::pair<std::string, SvmModel>> models_;  // by the label of their point
};

class SvmRun final : public Trainer {
 public:
  SvmRun(const TrainingRequest& request, const Context& context)
      : data_(request.data), options_(parse_settings(path_table(), request.settings)), context_(context) {
    options_.svm.labels = request.data.label_count();
  }

  bool step(double /*seconds*/) override {
    if (!models_.empty()) return true;
    const std::vector<SvmModel> solved =
        train_svm_path(data_.is_all() ? data_.all() : data_.select(), options_.svm, options_.C, context_);
    for (const SvmModel& model : solved) models_.emplace_back(label(model.solution().C), model);
    return true;
  }
  std::unique_ptr<Model> model() const override {
    require(!models_.empty(), "the SVM was not trained");
    return std::make_unique<LearnedSvm>(models_);
  }
  Facts facts() const override { return model()->facts(); }

 private:
  const TrainingData& data_;
  PathOptions options_;
  const Context& context_;
  std::vector<std::pair<std::string, SvmModel>> models_;
};

}  // namespace

LearnerEntry svm_learner() {
  LearnerEntry entry;
  entry.type = "svm";
  entry.family = "svm";
  entry.row = "SVM";
  entry.doc = "The linear multi-class SVM of Crammer and Singer, solved as a path over C.";
  entry.citation = "Crammer and Singer 2001";
  describe_options(entry, path_table(), {{"C", OptionRole::kPath}});
  entry.points = [](const Settings& settings, std::span<const int64_t>) {
    std::vector<Point> points;
    for (const double C : parse_settings(path_table(), settings).C) points.push_back({0, label(C)});
    return points;
  };
  entry.start = [](const TrainingRequest& request, const Context& context) -> std::unique_ptr<Trainer> {
    return std::make_unique<SvmRun>(request, context);
  };
  entry.load = [](BinaryReader& in) -> std::unique_ptr<Model> { return std::make_unique<LearnedSvm>(in); };
  return entry;
}

}  // namespace tunemix

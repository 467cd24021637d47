#include "learners/svm/learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learners/svm/svm.h"

namespace tunemix {
namespace {

struct PathOptions {
  SvmOptions svm;
  std::vector<double> C;  // empty: auto
};

// Of `auto`: so many values, half a decade apart, upwards from the largest C whose model ranks as that of
// every smaller one.
constexpr size_t kAutoPoints = 6;
constexpr double kAutoStep = 0.5;
constexpr double kSmallC = 1e-6;

void set_path(PathOptions& options, std::string_view text) {
  if (text == "auto") {
    options.C.clear();
    return;
  }
  static const OptionTable<PathOptions> list = [] {
    OptionTable<PathOptions> t;
    t.numbers("C", &PathOptions::C, 1e-12, 1e12, "");
    return t;
  }();
  list.set(options, "C", text);
  if (options.C.empty()) throw InputError("C is []; expected auto or a list of numbers from 1e-12 to 1e12");
}

std::string path_text(const PathOptions& options) {
  return options.C.empty() ? "auto" : fmt::format("[{}]", fmt::join(options.C, ", "));
}

const OptionTable<PathOptions>& path_table() {
  static const OptionTable<PathOptions> table = [] {
    OptionTable<PathOptions> t;
    for (const auto& entry : svm_option_table().entries())
      if (entry.name != "labels")
        t.custom(
            entry.name, entry.expected,
            [entry](PathOptions& o, std::string_view text) { entry.set(o.svm, text); },
            [entry](const PathOptions& o) { return entry.get(o.svm); }, entry.doc);
    t.custom(
        "C", "auto, or a list of numbers from 1e-12 to 1e12", set_path, path_text,
        "Values of C (of the whole loss, divided by n), solved as one path; auto: six, half a decade apart, "
        "from the largest C that ranks as every smaller one upwards");
    return t;
  }();
  return table;
}

std::string label(double C) { return fmt::format("C={}", C); }

// The labels of a path's points. Those of `auto` do not depend on the data: bags and folds share them.
std::vector<std::string> labels_of(const PathOptions& options) {
  std::vector<std::string> labels;
  for (const double C : options.C) labels.push_back(label(C));
  for (size_t p = 0; options.C.empty() && p < kAutoPoints; ++p)
    labels.push_back(p == 0 ? "C=auto" : fmt::format("C=auto*10^{}", kAutoStep * static_cast<double>(p)));
  return labels;
}

// While no document is right by a margin of 1 every hinge counts, the solution is proportional to C, and all
// models rank alike: up to the C where the first document gets there.
double least_useful_path_start(const Dataset& data, const SvmOptions& options, const Context& context) {
  const double small[] = {kSmallC};
  const SvmModel model({{"", train_svm_path(data, options, small, context)[0]}});
  const size_t only[] = {0};
  const ScoreMatrix scores = std::move(model.score(data, only, context)[0]);
  double widest = 0;
  for (size_t i = 0; i < data.documents(); ++i) {
    const std::span<const float> row = scores.row(i);
    const auto own = static_cast<size_t>(data.labels()[i]);
    float other = std::numeric_limits<float>::lowest();
    for (size_t l = 0; l < row.size(); ++l)
      if (l != own) other = std::max(other, row[l]);
    widest = std::max(widest, static_cast<double>(row[own]) - static_cast<double>(other));
  }
  // Nothing is learned from constant features: any C will do.
  return widest > 0 ? std::clamp(kSmallC / widest, 1e-9, 1e9) : 1.0;
}

class SvmRun final : public Trainer {
 public:
  SvmRun(const TrainingRequest& request, const Context& context)
      : data_(request.data), options_(parse_settings(path_table(), request.settings)), context_(context) {
    options_.svm.labels = request.data.label_count();
  }

  bool step(double /*seconds*/) override {
    if (!path_.empty()) return true;
    if (data_.is_all())
      solve(data_.all());
    else
      solve(data_.select());
    return true;
  }
  std::unique_ptr<Model> model() const override {
    require(!path_.empty(), "the SVM was not trained");
    return std::make_unique<SvmModel>(path_);
  }
  Facts facts() const override { return model()->facts(); }

 private:
  void solve(const Dataset& data) {
    std::vector<double> path = options_.C;
    if (path.empty()) {
      const double first = least_useful_path_start(data, options_.svm, context_);
      for (size_t p = 0; p < kAutoPoints; ++p)
        path.push_back(first * std::pow(10.0, kAutoStep * static_cast<double>(p)));
    }
    const std::vector<std::string> labels = labels_of(options_);
    const std::vector<SvmSolution> solved = train_svm_path(data, options_.svm, path, context_);
    for (size_t p = 0; p < solved.size(); ++p) path_.emplace_back(labels[p], solved[p]);
  }

  const TrainingData& data_;
  PathOptions options_;
  const Context& context_;
  SvmModel::Path path_;
};

}  // namespace

LearnerEntry svm_learner() {
  LearnerEntry entry;
  entry.type = "svm";
  entry.family = "svm";
  entry.row = "SVM";
  entry.doc = "The linear multi-class SVM of Crammer and Singer, solved as a path over C.";
  entry.citation = "Crammer and Singer 2001";
  entry.version = 5;
  describe_options(entry, path_table(), {{"C", OptionRole::kPath}});
  entry.points = [](const Settings& settings, std::span<const int64_t>) {
    std::vector<Point> points;
    for (const std::string& name : labels_of(parse_settings(path_table(), settings)))
      points.push_back({0, name});
    return points;
  };
  entry.start = [](const TrainingRequest& request, const Context& context) -> std::unique_ptr<Trainer> {
    return std::make_unique<SvmRun>(request, context);
  };
  entry.load = SvmModel::load;
  return entry;
}

}  // namespace tunemix

#include "pipeline/stages/stage.h"

#include <algorithm>

#include "tunemix/core/text.h"

namespace tunemix {
namespace {

// Options by their paths; "a." stands for all that begin with it.
using Paths = std::vector<std::string_view>;

struct StageInfo {
  std::string name;
  Paths reads;  // by all its jobs
  Paths
      parts;  // of which a job's key has what concerns it: the entry of its learner, the content of its files
};

const std::vector<StageInfo>& stages() {
  static const std::vector<StageInfo> table = {
      {"data",
       {"data.labels", "data.max_feature_id", "data.missing", "data.allow_new_features",
        "data.synthetic.preset", "data.synthetic.queries"},
       {}},
      {"train",
       {"seed", "data.calibration.", "data.features"},
       {"learners.", "data.standardize", "data.source."}},
      {"calibrate", {"calibrate.", "data.grades"}, {}},
      {"mix", {"mix."}, {}},
      {"evaluate", {"evaluate."}, {}},
      {"report", {}, {}},
  };
  return table;
}

bool has(const Paths& paths, std::string_view option) {
  return std::any_of(paths.begin(), paths.end(), [&](std::string_view path) {
    return path.ends_with('.') ? option.starts_with(path) : option == path;
  });
}

const StageInfo& info_of(Stage stage) { return stages()[static_cast<size_t>(stage)]; }

}  // namespace

std::string_view to_string(Stage stage) { return info_of(stage).name; }

Stage parse_stage(std::string_view name) {
  std::vector<std::string> names;
  for (const StageInfo& info : stages()) {
    if (info.name == name) return static_cast<Stage>(names.size());
    names.push_back(info.name);
  }
  throw_input("stage is '{}'; expected one of: {}{}", name, join(names, ", "), did_you_mean(name, names));
}

std::optional<Stage> stage_that_reads(std::string_view option) {
  for (size_t s = 0; s < kStages; ++s)
    if (has(stages()[s].reads, option) || has(stages()[s].parts, option)) return static_cast<Stage>(s);
  return std::nullopt;
}

void hash_options(Stage stage, const Config& config, Hasher& hasher) {
  for (const auto& [option, value] : config.values)
    if (has(info_of(stage).reads, option)) hasher.text(option).text(value);
}

}  // namespace tunemix

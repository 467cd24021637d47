#include "pipeline/run/artifacts.h"

namespace tunemix {

Artifacts::Artifacts(RunOptions options, std::string name)
    : options_(std::move(options)),
      name_(std::move(name)),
      store_(std::make_unique<ArtifactStore>(options_.runs / ".store",
                                             options_.read_only ? StoreUse::kRead : StoreUse::kWrite)) {
  if (options_.planned_files) store_->take_planned_files(*options_.planned_files);
}

bool Artifacts::selected(Stage stage) const {
  if (stage > options_.until) return false;
  if (options_.only) return stage == *options_.only;
  return !options_.from || stage >= *options_.from;
}

MissingFiles Artifacts::missing_files() const {
  if (options_.planned_files) return MissingFiles::kPlanned;
  return selected(Stage::kData) || selected(Stage::kTrain) ? MissingFiles::kRefuse : MissingFiles::kRemember;
}

bool Artifacts::cached(Stage stage, const ArtifactId& id) const {
  const bool again = options_.force && (options_.only || options_.from) && selected(stage);
  return !again && contains(id);
}

std::vector<size_t> Artifacts::missing(const Plan& plan, Stage stage) const {
  const std::vector<StageJob> jobs = stage_jobs(plan, stage);
  std::vector<size_t> result;
  for (size_t j = 0; j < jobs.size(); ++j)
    if (!cached(stage, jobs[j].artifacts[0])) result.push_back(j);
  return result;
}

void Artifacts::remove(const StageJob& job) const {
  std::error_code ignored;
  for (const ArtifactId& id : job.artifacts)
    std::filesystem::remove(store_->path_of(id.kind, id.key), ignored);
}

void Artifacts::expect_selected(Stage stage, const std::string& what) const {
  if (selected(stage)) return;
  if (options_.read_only)
    throw_input(
        "'{}' has not been run to its end with this config: {} is not in {}; run it first with 'tunemix run'",
        name_, what, store_->root().string());
  throw_input("{} is not in the store and '{}' leaves the stage '{}' out; run without it first", what,
              options_.only ? "--only" : "--from", to_string(stage));
}

}  // namespace tunemix

// What a run may take from the store and what it may compute: its options, and the policy that follows.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stages/plan.h"
#include "pipeline/store/store.h"

namespace tunemix {

struct RunOptions {
  std::filesystem::path runs = "runs";
  std::optional<Stage> only;     // this stage alone; what it needs must be in the store
  std::optional<Stage> from;     // this stage and those after it
  Stage until = Stage::kReport;  // the last stage that runs
  bool force = false;            // with only or from: compute again what is in the store
  bool final_model = false;      // then train on all the data and write bundle.tmx
  bool read_only = false;        // for commands that only look: nothing under `runs` is written or locked
  bool detach = false;           // leave when the tasks are submitted
  // Of a task: the files that its run was planned with.
  std::optional<std::map<std::string, Hash128>> planned_files;
};

class Artifacts {
 public:
  // `name`: of the experiment, for messages.
  Artifacts(RunOptions options, std::string name);

  const RunOptions& options() const { return options_; }
  ArtifactStore& store() const { return *store_; }
  // Whether the stage runs.
  bool selected(Stage stage) const;
  MissingFiles missing_files() const;
  bool contains(const ArtifactId& id) const { return store_->contains(id.kind, id.key); }
  // Whether an artifact of a stage need not be computed.
  bool cached(Stage stage, const ArtifactId& id) const;
  // The numbers of a stage's jobs that must run.
  std::vector<size_t> missing(const Plan& plan, Stage stage) const;
  void remove(const StageJob& job) const;
  // Throws InputError where the stage is left out and what it makes is not there.
  void expect_selected(Stage stage, const std::string& what) const;
  // What `parse` makes of an artifact, or else `compute`, which also saves it, where the stage may run.
  template <typename Parse, typename Compute>
  auto load_or(Stage stage, const ArtifactId& id, uint32_t version, const std::string& what,
               const Context& context, Parse parse, Compute compute) const {
    if (auto found = store_->load_as(id.kind, id.key, version, context, parse)) return std::move(*found);
    expect_selected(stage, what);
    return compute();
  }

 private:
  RunOptions options_;
  std::string name_;
  std::unique_ptr<ArtifactStore> store_;
};

}  // namespace tunemix

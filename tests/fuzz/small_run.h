// A run of a few documents, whose artifacts are the seeds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/run/experiment.h"
#include "tests/fuzz/driver.h"
#include "tests/support.h"
#include "tunemix/core/context.h"

namespace tunemix::fuzz {

class SmallRun {
 public:
  SmallRun();

  const Context& context() const { return context_; }
  Experiment& experiment() { return experiment_; }
  const Plan& plan() const { return experiment_.plan(); }
  const ArtifactStore& store() { return experiment_.store(); }
  const FoldInfo& info() { return experiment_.fold_info(0); }
  std::filesystem::path bundle() const { return scratch_ / "runs/small/bundle-fold1.tmx"; }
  std::filesystem::path training_file() const { return scratch_ / "train.txt"; }
  const Dataset& data() const { return data_; }  // some documents to score

  Bytes payload(const char* kind, const Hash128& key);
  // A file of these bytes; the next call of the same name writes over it.
  std::filesystem::path written(const std::filesystem::path& name, const Bytes& bytes) const;

 private:
  test::ScratchDirectory scratch_;
  Context context_{1};
  ProgressView view_{true};
  Dataset data_;
  Experiment experiment_;
};

// A loader took it, and what it is used for need not work.
template <typename Use>
void may_refuse(Use use) {
  try {
    use();
  } catch (const InputError&) {
  }
}

// The targets of the parts of the program. The run outlives them.
std::vector<Target> stage_targets(SmallRun& run);
std::vector<Target> model_targets(SmallRun& run);
std::vector<Target> text_targets(SmallRun& run);

}  // namespace tunemix::fuzz

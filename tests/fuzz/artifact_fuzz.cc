// Every stage artifact, models, training states, bundles, text files and requests with any
// content: loaded and used, or refused with InputError. A small run makes the seeds.
#include "tests/fuzz/small_run.h"

int main(int argc, char** argv) {
  using namespace tunemix::fuzz;
  prefer_memory();
  SmallRun run;
  std::vector<Target> targets;
  for (const auto& part : {stage_targets(run), model_targets(run), text_targets(run)})
    targets.insert(targets.end(), part.begin(), part.end());
  return tunemix::fuzz::run(argc, argv, targets);
}

// The tables of the config's sections: the reader, the resolved config and the reference are made from them.
#pragma once

#include "pipeline/config/config.h"
#include "tunemix/core/options.h"

namespace tunemix {

// The keys at the top level that are no sections.
struct Header {
  std::string name;
  uint64_t seed = 1;
};

const OptionTable<Header>& header_table();
const OptionTable<DataConfig>& data_table();
const OptionTable<ValidFromTrain>& valid_from_table();
const OptionTable<DataConfig>& calibration_split_table();
const OptionTable<SyntheticConfig>& synthetic_table();
const OptionTable<SourceConfig>& source_table();
const OptionTable<CalibrateConfig>& calibrate_table();
const OptionTable<CalibrateConfig>& rbc_table();
const OptionTable<MixOptions>& mix_table();
const OptionTable<ChoiceConfig>& mix_choice_table();
const OptionTable<MixOptions>& mix_c_table();
const OptionTable<MixOptions>& mix_fixed_table();
const OptionTable<EvaluateConfig>& evaluate_table();
const OptionTable<EngineConfig>& engine_table();
const OptionTable<SlurmConfig>& slurm_table();
const OptionTable<CommandConfig>& command_table();

// The keys of every entry under `learners` besides its learner's own options.
struct CommonLearnerOptions {
  int bags = 1;
  std::vector<Standardize> standardize = {Standardize::kNone};
  SourceUse source = SourceUse::kNone;
  int copies = 0;
  double leave_out = 0.2;
  std::vector<int64_t> checkpoints;  // of learners that have a length
};
const OptionTable<CommonLearnerOptions>& common_learner_table(const LearnerEntry& learner);
// A key of learners that are trained whose values are lists themselves, or whose list is a grid.
struct GridKey {
  const char* name;
  const char* default_value;
  const char* expected;
  const char* doc;
};
std::vector<GridKey> common_grid_keys(const LearnerEntry& learner);

}  // namespace tunemix

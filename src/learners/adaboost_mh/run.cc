#include "learners/adaboost_mh/run.h"

namespace tunemix::trees {

BanditOptions bandit_options(const AdaBoostOptions& options) {
  return {options.bandit,       options.exploration,       options.bandit_rate,
          options.bandit_power, options.bandit_confidence, options.bandit_horizon};
}

void write_options(BinaryWriter& out, const AdaBoostOptions& options) {
  const auto& entries = adaboost_option_table().entries();
  out.put<uint64_t>(entries.size());
  for (const auto& entry : entries) {
    out.put(entry.name);
    out.put(entry.get(options));
  }
}

AdaBoostOptions read_options(BinaryReader& in) {
  AdaBoostOptions options;
  const size_t count = in.get_count(1);
  for (size_t k = 0; k < count; ++k) {
    const std::string name = in.get_string();
    adaboost_option_table().set(options, name, in.get_string());
  }
  return options;
}

void expect_features(const Dataset& data, size_t features) {
  if (data.features() != features)
    throw_input("the data has {} features; the model was trained on {}", data.features(), features);
}

}  // namespace tunemix::trees

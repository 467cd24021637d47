// How much of a campaign runs: a few cases of each kind, or all with TUNEMIX_CAMPAIGN=all.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tunemix::test {

inline bool whole_campaign() {
  const char* set = std::getenv("TUNEMIX_CAMPAIGN");
  return set != nullptr && std::string(set) == "all";
}

inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace tunemix::test

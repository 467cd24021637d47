#include "tunemix/core/instructions.h"

#include <cstdlib>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

std::vector<Instructions> find_available() {
  std::vector<Instructions> sets = {Instructions::kScalar};
#if defined(__x86_64__) && !defined(TUNEMIX_SCALAR)
  sets.push_back(Instructions::kSse2);
  // What the levels x86-64-v3 and v4, which kernels are compiled for, have beyond the level below. The rest
  // of v3 (f16c, lzcnt, movbe) came with these.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2")) {
    sets.push_back(Instructions::kAvx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      sets.push_back(Instructions::kAvx512);
  }
#endif
  return sets;
}

Instructions choose() {
  const std::vector<Instructions>& sets = available_instructions();
  const char* wanted = std::getenv("TUNEMIX_INSTRUCTIONS");
  if (wanted == nullptr || *wanted == '\0') return sets.back();
  std::vector<std::string_view> names;
  for (const Instructions set : sets) {
    if (instructions_name(set) == wanted) return set;
    names.push_back(instructions_name(set));
  }
  throw_input("TUNEMIX_INSTRUCTIONS is '{}'; this program on this machine has: {}", wanted,
              fmt::join(names, ", "));
}

}  // namespace

std::string_view instructions_name(Instructions set) {
  switch (set) {
    case Instructions::kScalar:
      return "scalar";
    case Instructions::kSse2:
      return "sse2";
    case Instructions::kAvx2:
      return "avx2";
    case Instructions::kAvx512:
      return "avx512";
  }
  throw InternalError("an unknown instruction set");
}

const std::vector<Instructions>& available_instructions() {
  static const std::vector<Instructions> sets = find_available();
  return sets;
}

Instructions instructions() {
  static const Instructions chosen = choose();
  return chosen;
}

}  // namespace tunemix

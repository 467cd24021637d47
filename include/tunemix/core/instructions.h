// Which of the machine's vector instructions the kernels use: decided once, when the program first needs it.
#pragma once

#include <string_view>
#include <vector>

namespace tunemix {

// Ascending. kScalar: histograms by plain loops, everything else as with kSse2, which every x86-64 machine
// has.
enum class Instructions { kScalar, kSse2, kAvx2, kAvx512 };

std::string_view instructions_name(Instructions set);  // scalar, sse2, avx2, avx512

// Those that this build and this machine have, ascending.
const std::vector<Instructions>& available_instructions();

// The last of them, or what the environment variable TUNEMIX_INSTRUCTIONS names. Throws InputError if that
// is not among them. Results do not depend on it.
Instructions instructions();

}  // namespace tunemix

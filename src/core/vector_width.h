// How wide the machine's vector registers are. The compiler takes wider vectors apart, some of their
// operations down to single values.
#pragma once

#include <cstddef>

namespace tunemix {

#if defined(__AVX512F__)
constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr size_t kVectorBytes = 32;
#else
constexpr size_t kVectorBytes = 16;
#endif

}  // namespace tunemix

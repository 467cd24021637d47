// Kernels that are compiled for several instruction sets: how their tables are declared and one is chosen,
// and how wide vectors are. How to write one: cmake/modules.cmake.
#pragma once

#include <cstddef>

#include "tunemix/core/instructions.h"

namespace tunemix {

// Of the set that a kernel file is compiled for. The compiler takes wider vectors apart, some of their
// operations down to single values.
#if defined(__AVX512F__)
constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr size_t kVectorBytes = 32;
#else
constexpr size_t kVectorBytes = 16;
#endif

}  // namespace tunemix

// TUNEMIX_KERNELS(Table, name), in a namespace: each set has its `const Table name_table`, and name() is that
// of the set in use, name(set) that of another.
#if defined(TUNEMIX_SCALAR)
#define TUNEMIX_KERNELS(Table, name)                                                     \
  namespace scalar {                                                                     \
  extern const Table name##_table;                                                       \
  }                                                                                      \
  inline const Table& name(::tunemix::Instructions = ::tunemix::Instructions::kScalar) { \
    return scalar::name##_table;                                                         \
  }
#else
#define TUNEMIX_KERNELS(Table, name)                                                  \
  namespace sse2 {                                                                    \
  extern const Table name##_table;                                                    \
  }                                                                                   \
  namespace avx2 {                                                                    \
  extern const Table name##_table;                                                    \
  }                                                                                   \
  namespace avx512 {                                                                  \
  extern const Table name##_table;                                                    \
  }                                                                                   \
  inline const Table& name(::tunemix::Instructions set = ::tunemix::instructions()) { \
    return set == ::tunemix::Instructions::kAvx512 ? avx512::name##_table             \
           : set == ::tunemix::Instructions::kAvx2 ? avx2::name##_table               \
                                                   : sse2::name##_table;              \
  }
#endif

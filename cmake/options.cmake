option(TUNEMIX_TESTS "Build the tests" ON)
option(TUNEMIX_BENCHMARKS "Build the benchmarks in experiments/bench" OFF)
option(TUNEMIX_PYTHON "Build the Python package (pybind11)" OFF)
option(TUNEMIX_SCALAR "Only the plain loops of histograms, and no instruction sets to choose from: for any processor" OFF)
option(TUNEMIX_UNITY "Compile a dozen files at a time: a whole build takes half as long, a small change longer" OFF)
set(TUNEMIX_SANITIZE "" CACHE STRING "Sanitizer build: address (with undefined), thread, or empty")
set_property(CACHE TUNEMIX_SANITIZE PROPERTY STRINGS "" address thread)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_UNITY_BUILD ${TUNEMIX_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # By the compiler's own list of headers, so that nothing is preprocessed twice; paths count from the source tree, so that clones share.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_DEPEND=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

# Compile flags of everything that is ours; never exported to consumers.
add_library(tunemix_flags INTERFACE)
target_compile_options(tunemix_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's own AVX-512 headers trip over it.
  target_compile_options(tunemix_flags INTERFACE -Wno-maybe-uninitialized)
  # Vectors wider than the registers have been passed in two ways; ours never leave a source file.
  target_compile_options(tunemix_flags INTERFACE -Wno-psabi)
  # Types of a source file look like those of a header where several files are compiled at a time.
  if(TUNEMIX_UNITY)
    target_compile_options(tunemix_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
# Contraction to fused multiply-adds would make results depend on the machine's instructions.
# No result depends on errno or on floating-point traps, and square roots are vectorised only without them.
target_compile_options(tunemix_flags INTERFACE -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TUNEMIX_SCALAR ON)
endif()
if(TUNEMIX_SCALAR)
  target_compile_definitions(tunemix_flags INTERFACE TUNEMIX_SCALAR)
endif()
# Sanitizer builds are hardly optimised, as they take longer to build than to run; under the thread sanitizer running
# takes longer, so a little.
if(TUNEMIX_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O0 -g1)
  # Null pointers end in the address sanitizer anyway, and a check at every use of one is a fifth of the compile time.
  add_compile_options(-fno-sanitize=null,object-size,vptr)
  add_link_options(-fsanitize=address,undefined)
elseif(TUNEMIX_SANITIZE STREQUAL "thread")
  # Only clang's OpenMP tells the sanitizer, by way of archer, what a parallel loop orders.
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TUNEMIX_SANITIZE=thread needs clang and its OpenMP: configure with -DCMAKE_CXX_COMPILER=clang++")
  endif()
  string(REGEX MATCH "^[0-9]+" clang_version "${CMAKE_CXX_COMPILER_VERSION}")
  find_library(ARCHER_LIBRARY archer REQUIRED PATHS /usr/lib/llvm-${clang_version}/lib)
  add_compile_options(-fsanitize=thread -O1 -g1)
  add_link_options(-fsanitize=thread)
  # Properties of tests; two, as a list of two variables does not survive gtest_discover_tests.
  set(TUNEMIX_TEST_ENVIRONMENT ENVIRONMENT OMP_TOOL_LIBRARIES=${ARCHER_LIBRARY}
    ENVIRONMENT_MODIFICATION TSAN_OPTIONS=set:ignore_noninstrumented_modules=1)
elseif(TUNEMIX_SANITIZE)
  message(FATAL_ERROR "TUNEMIX_SANITIZE is '${TUNEMIX_SANITIZE}'; expected address, thread or nothing")
endif()

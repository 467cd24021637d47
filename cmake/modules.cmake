# Kernels for several instruction sets. A file src/NAME/**/FILE.simd.cc is compiled once for each set (TUNEMIX_SETS) of
# the machines that the program may run on, and one of the results is used, chosen when the program starts:
#   - A header declares what the kernels are, a table of functions, in any namespace:
#       struct SumKernels { double (*sum)(const double* values, size_t count); };
#       TUNEMIX_KERNELS(SumKernels, sum_kernels)          // core/simd.h
#   - FILE.simd.cc puts all that it has into the namespace of its set, and there defines the table:
#       namespace tunemix::NAME::TUNEMIX_SET {
#       namespace { double sum(const double* values, size_t count) {...} }
#       const SumKernels sum_kernels_table = {sum};
#       }
#     Vectors have kVectorBytes bytes (core/simd.h). Headers of templates that only kernels include do the same.
#   - Everybody else calls sum_kernels().sum(...): for blocks of work, as it is a call through a pointer.
# A function of another namespace that a kernel file uses and the compiler does not inline would be compiled for the
# file's set, and the linker might use it everywhere, also on machines without these instructions. So kernel files take
# and give plain pointers, grow no containers, throw nothing; the test `kernel_symbols` fails where such a function is left.
# The order of every sum is the same in all sets, and nothing is contracted to fused multiply-adds: same bytes everywhere.

# Compile options and a namespace for each set.
if(TUNEMIX_SCALAR)
  set(TUNEMIX_SETS scalar)
else()
  set(TUNEMIX_SETS sse2 avx2 avx512)
endif()
set(TUNEMIX_FLAGS_scalar "")
set(TUNEMIX_FLAGS_sse2 -march=x86-64)
set(TUNEMIX_FLAGS_avx2 -march=x86-64-v3)
set(TUNEMIX_FLAGS_avx512 -march=x86-64-v4)

# The kernel files of module NAME, for every set; their objects become part of its library.
function(tunemix_kernels name)
  foreach(set ${TUNEMIX_SETS})
    set(target tunemix_${name}_${set})
    add_library(${target} OBJECT ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # one kernel file does not see another's names
    target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:tunemix_${name},INCLUDE_DIRECTORIES>)
    target_compile_definitions(${target} PRIVATE TUNEMIX_SET=${set})
    target_link_libraries(${target} PRIVATE tunemix_flags)
    # Optimised in sanitizer builds too: what is not inlined is a symbol that must not be there. Looking for undefined
    # behaviour in vectors takes minutes to compile.
    target_compile_options(${target} PRIVATE ${TUNEMIX_FLAGS_${set}}
      $<$<BOOL:${TUNEMIX_SANITIZE}>:-O2> $<$<STREQUAL:${TUNEMIX_SANITIZE},address>:-fno-sanitize=undefined>)
    target_sources(tunemix_${name} PRIVATE $<TARGET_OBJECTS:${target}>)
    set_property(GLOBAL APPEND PROPERTY TUNEMIX_KERNEL_OBJECTS $<TARGET_OBJECTS:${target}>)
  endforeach()
endfunction()

# tunemix_module(NAME PUBLIC deps... PRIVATE deps... HEADERS deps...): the static library of src/NAME with headers in
# include/tunemix/NAME. A dependency without "::" is another module. HEADERS are needed to compile it, and not by consumers.
function(tunemix_module name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE;HEADERS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cc)
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.simd\\.cc$")
  list(FILTER sources EXCLUDE REGEX "\\.simd\\.cc$")
  add_library(tunemix_${name} STATIC ${sources})
  add_library(tunemix::${name} ALIAS tunemix_${name})
  set_target_properties(tunemix_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(tunemix_${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_compile_features(tunemix_${name} PUBLIC cxx_std_20)
  foreach(scope PUBLIC PRIVATE)
    foreach(dep ${ARG_${scope}})
      if(NOT dep MATCHES "::")
        set(dep tunemix_${dep})
      endif()
      target_link_libraries(tunemix_${name} ${scope} ${dep})
    endforeach()
  endforeach()
  foreach(dep tunemix_flags ${ARG_HEADERS})
    target_link_libraries(tunemix_${name} PRIVATE $<BUILD_INTERFACE:${dep}>)
  endforeach()
  if(kernels)
    tunemix_kernels(${name} ${kernels})
  endif()
  set_property(GLOBAL APPEND PROPERTY TUNEMIX_MODULES tunemix_${name})
endfunction()

# The options of the build, and what follows from them for every target.

option(BUILD_SHARED_LIBS "Build zenith as a shared library" OFF)
option(ZENITH_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ZENITH_BUILD_BOTH_KINDS "Build and install a static and a shared library from the same objects"
       ${ZENITH_BUILD_TESTS})
option(ZENITH_BUILD_PERF "Build zenith-study and the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(ZENITH_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
option(ZENITH_WERROR "Treat warnings as errors" OFF)

foreach(means IN ITEMS CUDA KOKKOS TBB)
  set(ZENITH_ENABLE_${means} AUTO CACHE STRING "Build with ${means}: AUTO (when found), ON (required), OFF")
  set_property(CACHE ZENITH_ENABLE_${means} PROPERTY STRINGS AUTO ON OFF)
  set(given "${ZENITH_ENABLE_${means}}")
  string(TOUPPER "${given}" ZENITH_ENABLE_${means})
  if(ZENITH_ENABLE_${means} MATCHES "^(TRUE|YES|1)$")
    set(ZENITH_ENABLE_${means} ON)
  elseif(ZENITH_ENABLE_${means} MATCHES "^(FALSE|NO|0)$")
    set(ZENITH_ENABLE_${means} OFF)
  elseif(NOT ZENITH_ENABLE_${means} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "ZENITH_ENABLE_${means} is '${given}'; it must be AUTO, ON or OFF.")
  endif()
endforeach()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# Kernels are always optimised: unoptimised code would leave xsimd's inline functions as symbols of their own, and GCC 12
# vectorises at -O3 only. Sanitizers take -O1. That of addresses takes clang, which compiles it in half of g++'s time;
# that of threads does not: clang's has an operator new of its own, and tests replace it.
set(ZENITH_KERNEL_OPTIMISATION -O3 CACHE STRING "How the units of kernels are optimised; never -O0")
# What the backends compile from one text is instrumented for one instruction set of the CPU; Kokkos' and the other
# instruction sets' copies run as they are.
option(ZENITH_ENABLE_AVX512 "Build the cpu backend for AVX-512, too" ON)
option(ZENITH_SANITIZE_ONCE "Instrument one copy of each family's kernels" OFF)
mark_as_advanced(ZENITH_KERNEL_OPTIMISATION ZENITH_SANITIZE_ONCE)
if(ZENITH_SANITIZE_ONCE)
  # Pointers are not checked twice: the address sanitizer watches them. Its checks stay inline, since calls take five times
  # as long when the tests run.
  add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  # for which clang puts type information into the units of instruction sets
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# An archive passes what it links on to the project around this one, which must be able to see it.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
endif()

include(ZenithLibrary)

add_library(zenith_warnings INTERFACE)
target_compile_options(zenith_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>
  # clang's -Wconversion has the first, g++'s has not; loops are not unrolled where sanitizers have put branches
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion -Wno-pass-failed>
  # g++ 12 sees overlapping copies in the inlined operator+ of its own strings (GCC bug 105651)
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<BOOL:${ZENITH_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)

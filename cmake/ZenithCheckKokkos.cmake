# What goes wrong later, or silently, with the Kokkos that was found. Said when Zenith is configured.

# Views have one layout on the host and another on the device (kokkos#8562).
if("CUDA" IN_LIST Kokkos_DEVICES AND Kokkos_VERSION VERSION_GREATER_EQUAL 4.6.99
   AND Kokkos_VERSION VERSION_LESS 4.7.02)
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_VERSION VERSION_LESS 12.9)
    message(WARNING "zenith: Kokkos ${Kokkos_VERSION} compiled by nvcc 12.9 or newer gives wrong results "
      "(kokkos#8562) unless it was cured (backends/kokkos/README.md). Use Kokkos 4.7.02 or newer.")
  endif()
endif()

# A shared libzenith takes a static Kokkos into itself, where programs that link it do not see it.
set(ZENITH_SHARED_HIDES_KOKKOS OFF)
if(TARGET Kokkos::kokkoscore)
  get_target_property(zenith_kokkos_type Kokkos::kokkoscore TYPE)
  if(zenith_kokkos_type STREQUAL "STATIC_LIBRARY" AND (BUILD_SHARED_LIBS OR ZENITH_BUILD_BOTH_KINDS))
    # Of the archive alone: a header of Kokkos may be another compiler's (nvcc).
    get_target_property(zenith_kokkos_archive Kokkos::kokkoscore LOCATION)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/zenith_kokkos_shared.cpp
      "namespace Kokkos { void finalize(); }\nextern \"C\" void end() { Kokkos::finalize(); }\n")
    try_compile(ZENITH_KOKKOS_IS_RELOCATABLE ${CMAKE_CURRENT_BINARY_DIR}/zenith_kokkos_shared
      SOURCES ${CMAKE_CURRENT_BINARY_DIR}/zenith_kokkos_shared.cpp
      COMPILE_DEFINITIONS ${CMAKE_CXX_COMPILE_OPTIONS_PIC}
      LINK_OPTIONS -shared LINK_LIBRARIES ${zenith_kokkos_archive}
      CXX_STANDARD 20 OUTPUT_VARIABLE zenith_kokkos_output)
    if(NOT ZENITH_KOKKOS_IS_RELOCATABLE AND BUILD_SHARED_LIBS)
      message(FATAL_ERROR "zenith: this static Kokkos cannot be linked into a shared library. Build Kokkos with "
        "CMAKE_POSITION_INDEPENDENT_CODE=ON or BUILD_SHARED_LIBS=ON, or Zenith with BUILD_SHARED_LIBS=OFF.\n"
        "${zenith_kokkos_output}")
    elseif(NOT ZENITH_KOKKOS_IS_RELOCATABLE)
      message(WARNING "zenith: no shared libzenith is built: this static Kokkos has no position-independent code.")
      set(ZENITH_BUILD_BOTH_KINDS OFF)
    else()
      message(WARNING "zenith: the shared libzenith contains a Kokkos of its own, because this Kokkos is static. A "
        "program that uses Kokkos itself must link the static libzenith, or a shared Kokkos.")
      set(ZENITH_SHARED_HIDES_KOKKOS ON)
    endif()
  endif()
endif()

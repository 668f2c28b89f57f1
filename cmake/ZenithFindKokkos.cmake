# Kokkos as the interface target zenith_kokkos_interface.

set(Kokkos_FOUND OFF)
if(NOT ZENITH_ENABLE_KOKKOS STREQUAL "OFF")
  # Debian's Kokkos force-sets CMAKE_CXX_EXTENSIONS in the scope that looks for it.
  set(zenith_extensions ${CMAKE_CXX_EXTENSIONS})
  find_package(Kokkos QUIET)
  set(CMAKE_CXX_EXTENSIONS ${zenith_extensions})
endif()
set(zenith_kokkos_sentence "Kokkos (Debian: libtrilinos-kokkos-dev) was not found")
if(Kokkos_FOUND AND Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  set(Kokkos_FOUND OFF)
  string(CONCAT zenith_kokkos_sentence "the Kokkos in ${Kokkos_DIR} was built with "
    "Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE, so that it cannot be used from C++ sources (build it without; for CUDA "
    "take its nvcc_wrapper or its launcher as the C++ compiler)")
endif()
zenith_means(KOKKOS Kokkos_FOUND "${zenith_kokkos_sentence}")

if(ZENITH_HAS_KOKKOS)
  include(ZenithKokkosTarget)
  include(ZenithCheckKokkos)
endif()

# Kokkos as the interface target zenith_kokkos_interface.

set(Kokkos_FOUND OFF)
if(NOT ZENITH_ENABLE_KOKKOS STREQUAL "OFF")
  # Debian's Kokkos force-sets CMAKE_CXX_EXTENSIONS in the scope that looks for it.
  set(zenith_extensions ${CMAKE_CXX_EXTENSIONS})
  find_package(Kokkos QUIET)
  set(CMAKE_CXX_EXTENSIONS ${zenith_extensions})
endif()
zenith_means(KOKKOS Kokkos_FOUND "Kokkos (Debian: libtrilinos-kokkos-dev) was not found")

if(ZENITH_HAS_KOKKOS)
  include(ZenithKokkosTarget)
endif()

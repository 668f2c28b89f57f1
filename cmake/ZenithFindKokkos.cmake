# Kokkos as the interface target zenith_kokkos_interface.

set(Kokkos_FOUND OFF)
set(zenith_kokkos_sentence "Kokkos (Debian: libtrilinos-kokkos-dev) was not found")
set(zenith_kokkos_loads ON)
if(ZENITH_ENABLE_KOKKOS STREQUAL "AUTO")
  include(ZenithProbePackage)
  zenith_probe_package(Kokkos zenith_kokkos_loads zenith_kokkos_error)
endif()
if(NOT zenith_kokkos_loads)
  set(zenith_kokkos_sentence "the installed Kokkos cannot be used (${zenith_kokkos_error})")
elseif(NOT ZENITH_ENABLE_KOKKOS STREQUAL "OFF")
  # Debian's Kokkos force-sets CMAKE_CXX_EXTENSIONS in the scope that looks for it.
  set(zenith_extensions ${CMAKE_CXX_EXTENSIONS})
  find_package(Kokkos QUIET)
  set(CMAKE_CXX_EXTENSIONS ${zenith_extensions})
endif()
if(Kokkos_FOUND AND Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  set(Kokkos_FOUND OFF)
  string(CONCAT zenith_kokkos_sentence "the Kokkos in ${Kokkos_DIR} was built with "
    "Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE, so that it cannot be used from C++ sources (build it without, and leave "
    "the C++ compiler as it is: Kokkos' launcher finds nvcc; see backends/kokkos/README.md)")
endif()
zenith_means(KOKKOS Kokkos_FOUND "${zenith_kokkos_sentence}")

if(ZENITH_HAS_KOKKOS)
  include(ZenithKokkosTarget)
  include(ZenithCheckKokkos)
endif()

# zenith_compile_with_kokkos(<target>): its sources include Kokkos. With a device of NVIDIA's they are nvcc's, by Kokkos'
# launcher, which does not recognise the compiler behind another launcher (ccache).
function(zenith_compile_with_kokkos target)
  target_link_libraries(${target} PRIVATE zenith_kokkos_interface)
  if(Kokkos_ENABLE_CUDA)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  endif()
endfunction()

# Makes zenith_kokkos_interface of a Kokkos that find_package has found. Used by Zenith's own build and, installed beside
# the package's config file, by the consumers of a static Zenith.

if(NOT TARGET zenith_kokkos_interface)
  # Imported, so that the installed targets may name it without exporting it.
  add_library(zenith_kokkos_interface INTERFACE IMPORTED)
  if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
    set_target_properties(zenith_kokkos_interface PROPERTIES IMPORTED_GLOBAL ON)
  endif()

  set(zenith_kokkos_works OFF)
  if(TARGET Kokkos::kokkos)
    set(zenith_kokkos_works ON)
    foreach(one IN ITEMS Kokkos::kokkos Kokkos::kokkoscore)
      if(NOT TARGET ${one})
        continue()
      endif()
      get_target_property(zenith_kokkos_includes ${one} INTERFACE_INCLUDE_DIRECTORIES)
      if(NOT zenith_kokkos_includes)
        continue()
      endif()
      foreach(folder IN LISTS zenith_kokkos_includes)
        if(NOT folder MATCHES "\\$<" AND NOT EXISTS "${folder}")
          set(zenith_kokkos_works OFF)
        endif()
      endforeach()
    endforeach()
  endif()

  if(zenith_kokkos_works)
    set_target_properties(zenith_kokkos_interface PROPERTIES INTERFACE_LINK_LIBRARIES Kokkos::kokkos)
  else()
    # Debian 12's imported target names an include folder that does not exist.
    find_library(ZENITH_KOKKOS_LIBRARY NAMES trilinos_kokkoscore kokkoscore HINTS ${Kokkos_LIBRARY_DIRS} REQUIRED)
    find_package(Threads REQUIRED)
    set_target_properties(zenith_kokkos_interface PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}"
      INTERFACE_LINK_LIBRARIES "${ZENITH_KOKKOS_LIBRARY};Threads::Threads;${CMAKE_DL_LIBS}")
  endif()

  # Scores have the same bits everywhere: nvcc, to which Kokkos' launcher gives C++ sources, fuses no multiply-add either.
  if(Kokkos_ENABLE_CUDA AND Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA")
    set_target_properties(zenith_kokkos_interface PROPERTIES
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-fmad=false>")
  endif()
endif()

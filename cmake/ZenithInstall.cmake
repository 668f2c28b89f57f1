# The installed package: headers, libraries, what find_package and pkg-config need. Nothing in it names a path of the
# machine that built it, so the prefix can be moved.

include(CMakePackageConfigHelpers)

set(zenith_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zenith)
if(ZENITH_BUILD_BOTH_KINDS)
  set(zenith_installed_kinds static shared)
else()
  set(zenith_installed_kinds ${zenith_kind})
endif()

foreach(kind IN LISTS zenith_installed_kinds)
  set(target zenith)
  if(NOT kind STREQUAL zenith_kind)
    set(target zenith_${kind})
  endif()
  install(TARGETS ${target} EXPORT zenith-${kind}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT zenith_${kind}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT zenith_${kind}
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT zenith_${kind}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT zenith-${kind} NAMESPACE zenith:: FILE zenith-${kind}-targets.cmake
          DESTINATION ${zenith_package_dir} COMPONENT zenith_${kind})
endforeach()

foreach(root IN LISTS zenith_include_roots)
  install(DIRECTORY ${root}/zenith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT zenith_development
          FILES_MATCHING PATTERN "*.hpp")
endforeach()

# What strategies of a program's own include: the library's inner headers, out of the way of its public ones.
set(zenith_source_dir ${CMAKE_INSTALL_INCLUDEDIR}/zenith/source)
set(zenith_source_folders core algorithms)
set(zenith_context_folders backends/cpu)
foreach(means IN ITEMS CUDA KOKKOS)
  if(ZENITH_HAS_${means})
    string(TOLOWER ${means} backend)
    list(APPEND zenith_context_folders backends/${backend})
  endif()
endforeach()
install(DIRECTORY ${zenith_source_folders} DESTINATION ${zenith_source_dir} COMPONENT zenith_development
        FILES_MATCHING PATTERN "*.hpp" PATTERN include EXCLUDE PATTERN src EXCLUDE)
install(DIRECTORY ${zenith_context_folders} DESTINATION ${zenith_source_dir}/backends COMPONENT zenith_development
        FILES_MATCHING PATTERN "*.hpp" PATTERN include EXCLUDE)
install(DIRECTORY strategies/zenith DESTINATION ${zenith_source_dir} COMPONENT zenith_development
        FILES_MATCHING PATTERN "*.hpp")

get_property(ZENITH_BUILT_BACKENDS GLOBAL PROPERTY ZENITH_BUILT_BACKENDS)

# What a consumer of the archive must find again, and why a backend that it asks for is not there.
set(zenith_static_dependencies "")
set(zenith_find_kokkos "")
set(zenith_pc_requires "")
set(zenith_pc_libraries "-pthread")
set(zenith_pc_variables "")
set(zenith_pc_cuda "")
if(ZENITH_HAS_TBB)
  string(APPEND zenith_static_dependencies "    find_dependency(TBB)\n")
  string(APPEND zenith_pc_requires "tbb")
endif()
if(ZENITH_HAS_KOKKOS)
  # Kokkos promises no stable binary interface, so the archive needs the very version that it was compiled against.
  # Some set CMAKE_CXX_EXTENSIONS for whoever looks for them.
  string(APPEND zenith_find_kokkos
         "    set(zenith_extensions \${CMAKE_CXX_EXTENSIONS})\n"
         "    find_dependency(Kokkos @Kokkos_VERSION@ EXACT)\n"
         "    set(CMAKE_CXX_EXTENSIONS \${zenith_extensions})\n"
         "    include(\"\${CMAKE_CURRENT_LIST_DIR}/ZenithKokkosTarget.cmake\")\n")
  string(CONFIGURE "${zenith_find_kokkos}" zenith_find_kokkos @ONLY)
  string(APPEND zenith_static_dependencies "${zenith_find_kokkos}")
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/ZenithKokkosTarget.cmake
          DESTINATION ${zenith_package_dir} COMPONENT zenith_development)
  if(ZENITH_KOKKOS_LIBRARY)
    get_filename_component(zenith_kokkos_name ${ZENITH_KOKKOS_LIBRARY} NAME_WE)
    string(REGEX REPLACE "^lib" "-l" zenith_kokkos_name ${zenith_kokkos_name})
    string(APPEND zenith_pc_libraries " ${zenith_kokkos_name}")
  else()
    # A Kokkos of the builder's own stands anywhere: kokkos_libdir can be set with --define-variable.
    get_target_property(zenith_kokkos_location Kokkos::kokkoscore LOCATION)
    get_filename_component(zenith_kokkos_libdir ${zenith_kokkos_location} DIRECTORY)
    string(APPEND zenith_pc_variables "kokkos_libdir=${zenith_kokkos_libdir}\n")
    string(APPEND zenith_pc_libraries " -L\${kokkos_libdir} -lkokkoscore")
    # Zenith's own Kokkos units call the runtime of the space, too.
    if("OPENMP" IN_LIST Kokkos_DEVICES)
      string(APPEND zenith_pc_libraries " ${OpenMP_CXX_FLAGS}")
    endif()
    if("CUDA" IN_LIST Kokkos_DEVICES)
      set(zenith_pc_cuda " -lcudart -L\${cuda_libdir}/stubs -lcuda")
    endif()
  endif()
endif()
if(ZENITH_HAS_CUDA)
  string(APPEND zenith_static_dependencies "    find_dependency(CUDAToolkit)\n")
  string(APPEND zenith_pc_cuda " -lcudart_static -lrt")
endif()
if(zenith_pc_cuda)
  # NVIDIA ships no pkg-config file in every toolkit; cuda_libdir can be set with --define-variable.
  string(APPEND zenith_pc_variables "cuda_libdir=/usr/local/cuda/lib64\n")
  string(APPEND zenith_pc_libraries " -L\${cuda_libdir}${zenith_pc_cuda}")
endif()
string(APPEND zenith_pc_libraries " -lstdc++ -lm -ldl")

set(zenith_absence_settings "")
foreach(means IN ITEMS CUDA KOKKOS)
  if(NOT ZENITH_HAS_${means})
    string(TOLOWER ${means} backend)
    string(APPEND zenith_absence_settings "set(zenith_absence_of_${backend} \"${ZENITH_${means}_MISSING}\")\n")
  endif()
endforeach()

file(RELATIVE_PATH zenith_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" zenith_pc_to_prefix "${zenith_pc_to_prefix}")

configure_package_config_file(cmake/ZenithConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/package/zenith-config.cmake
  INSTALL_DESTINATION ${zenith_package_dir} PATH_VARS zenith_source_dir NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/package/zenith-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/zenith.pc.in ${CMAKE_CURRENT_BINARY_DIR}/package/zenith.pc @ONLY)

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/zenith-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/package/zenith-config-version.cmake
        DESTINATION ${zenith_package_dir} COMPONENT zenith_development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/zenith.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT zenith_development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT zenith_development)
if(TARGET zenith-study)
  file(RELATIVE_PATH zenith_bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(zenith-study PROPERTIES INSTALL_RPATH "$ORIGIN/${zenith_bin_to_lib}")
  install(TARGETS zenith-study RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT zenith_tools)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/perf/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/zenith
          COMPONENT zenith_tools FILES_MATCHING PATTERN "*.json")
endif()

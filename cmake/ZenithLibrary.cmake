# The library target: what holds for it whether it is an archive or a shared library, and how one build makes both.

get_property(zenith_targets_supports_shared GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)
if(BUILD_SHARED_LIBS AND zenith_targets_supports_shared)
  set(zenith_kind shared)
else()
  set(zenith_kind static)
endif()

# zenith_library_settings(<target>): its public face, and for a shared library the symbols that it shows.
function(zenith_library_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(root IN LISTS zenith_include_roots)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}>)
  endforeach()
  # No DEFINE_SYMBOL, so that both kinds have the same objects.
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON
    DEFINE_SYMBOL ""
    OUTPUT_NAME zenith
    EXPORT_NAME zenith)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY" AND CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    set(map ${PROJECT_SOURCE_DIR}/cmake/ZenithSymbols.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # the sanitizers' runtime is linked into programs only
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()

# zenith_add_other_kind(): beside the archive a shared library, or the reverse, from the objects that are there already.
function(zenith_add_other_kind)
  # zenith's own objects, and those that it takes from object libraries.
  get_target_property(objects zenith SOURCES)
  list(FILTER objects INCLUDE REGEX "^\\$<TARGET_OBJECTS:")
  list(APPEND objects $<TARGET_OBJECTS:zenith>)
  if(zenith_kind STREQUAL "static")
    set(other zenith_shared)
    add_library(${other} SHARED ${objects})
  else()
    set(other zenith_static)
    add_library(${other} STATIC ${objects})
  endif()
  zenith_library_settings(${other})
  set_target_properties(${other} PROPERTIES LINKER_LANGUAGE CXX)
  get_target_property(libraries zenith LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "^::@")  # CMake's own marks of the folder that named a library
  target_link_libraries(${other} PRIVATE ${libraries})
endfunction()

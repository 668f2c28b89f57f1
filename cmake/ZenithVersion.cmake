# The version, read from the one header that states it.

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../core/include/zenith/version.hpp zenith_version_lines
     REGEX "^#define ZENITH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
foreach(line IN LISTS zenith_version_lines)
  string(REGEX MATCH "ZENITH_VERSION_([A-Z]+) ([0-9]+)" unused "${line}")
  set(zenith_version_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
set(zenith_version ${zenith_version_MAJOR}.${zenith_version_MINOR}.${zenith_version_PATCH})

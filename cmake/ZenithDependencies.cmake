# Finds what the library is built with. Each optional means ends as ZENITH_HAS_<MEANS>, and ZENITH_<MEANS>_MISSING says
# in one sentence what was not found.

# zenith_means(<MEANS> <found> <sentence>): resolves AUTO, and fails when ON cannot be had.
macro(zenith_means MEANS found sentence)
  set(ZENITH_HAS_${MEANS} OFF)
  set(ZENITH_${MEANS}_MISSING "")
  if(ZENITH_ENABLE_${MEANS} STREQUAL "OFF")
    set(ZENITH_${MEANS}_MISSING "it was switched off with ZENITH_ENABLE_${MEANS}=OFF")
  elseif(${found})
    set(ZENITH_HAS_${MEANS} ON)
  elseif(ZENITH_ENABLE_${MEANS} STREQUAL "ON")
    message(FATAL_ERROR "ZENITH_ENABLE_${MEANS} is ON, but ${sentence}.")
  else()
    set(ZENITH_${MEANS}_MISSING "${sentence} when Zenith was configured")
  endif()
  message(STATUS "zenith: ${MEANS}: ${ZENITH_HAS_${MEANS}} ${ZENITH_${MEANS}_MISSING}")
endmacro()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)

set(TBB_FOUND OFF)
if(NOT ZENITH_ENABLE_TBB STREQUAL "OFF")
  find_package(TBB QUIET)
endif()
zenith_means(TBB TBB_FOUND "TBB (Debian: libtbb-dev) was not found")

find_package(xsimd REQUIRED)
find_package(Boost 1.74 REQUIRED)  # headers only: Boost.Sort

include(ZenithFindKokkos)
include(ZenithFindCuda)

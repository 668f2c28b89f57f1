# Installs one kind of library with the development files, checks that the package names no path of the build, and moves
# it to where the consumers will look.

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

set(first ${WORK_DIR}/installed/${KIND})
file(REMOVE_RECURSE ${first} ${PREFIX})
foreach(component IN ITEMS zenith_${KIND} zenith_development)
  run("install" text ZERO ${CMAKE_COMMAND} --install ${BUILD_DIR} --config "${CONFIG}" --prefix ${first}
      --component ${component})
endforeach()

file(GLOB_RECURSE texts ${first}/*.cmake ${first}/*.pc ${first}/*.hpp)
foreach(file IN LISTS texts)
  file(READ ${file} text)
  foreach(path IN ITEMS ${SOURCE_DIR} ${BUILD_DIR} ${first})
    string(FIND "${text}" "${path}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}, so the package cannot be moved")
    endif()
  endforeach()
  # what is below zenith/source is for strategies of a program's own, and private to all others
  if(file MATCHES "\\.hpp$" AND NOT file MATCHES "/zenith/source/" AND text MATCHES "#include <((nlohmann|xsimd|tbb|oneapi|cuda_runtime|cub|Kokkos|core|algorithms|backends)[^>]*)>")
    message(FATAL_ERROR "${file} includes <${CMAKE_MATCH_1}>, which is private")
  endif()
endforeach()

get_filename_component(parent ${PREFIX} DIRECTORY)
file(MAKE_DIRECTORY ${parent})
file(RENAME ${first} ${PREFIX})

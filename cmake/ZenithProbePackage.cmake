# zenith_probe_package(<package> <loads> <error>): whether find_package(<package>) ends without an error, in a project of
# its own, and what it says otherwise. A package that is installed in part ends the configuration of whoever looks for
# it, and what is optional must not do that.
function(zenith_probe_package package loads error)
  set(folder ${PROJECT_BINARY_DIR}/probe/${package})
  file(WRITE ${folder}/CMakeLists.txt
    "cmake_minimum_required(VERSION 3.25)\nproject(probe CXX)\nfind_package(${package} QUIET)\n")
  set(settings)
  foreach(name CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_MAKE_PROGRAM CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE
      ${package}_DIR ${package}_ROOT)
    if(NOT "${${name}}" STREQUAL "")
      string(REPLACE ";" "\\;" value "${${name}}")
      list(APPEND settings "-D${name}=${value}")
    endif()
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G ${CMAKE_GENERATOR} ${settings}
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
  if(result EQUAL 0)
    set(${loads} ON PARENT_SCOPE)
    return()
  endif()
  # what is behind "CMake Error at FILE:LINE (message):", in one line
  string(REGEX REPLACE "^.*CMake Error[^\n]*\n" "" said "${said}")
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(REGEX REPLACE " Possible reasons include.*| Call Stack .*" "" said "${said}")
  string(SUBSTRING "${said}" 0 200 said)
  string(STRIP "${said}" said)
  set(${loads} OFF PARENT_SCOPE)
  set(${error} "${said}" PARENT_SCOPE)
endfunction()

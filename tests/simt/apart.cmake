# cmake -DNM=… -DLIBRARY=… -DROOT=… -P apart.cmake
#
# The emulation is a test tool: no header that is installed can reach it, no source of the library names it, and no symbol
# of the library comes from it.

file(GLOB_RECURSE public ${ROOT}/core/include/*.hpp ${ROOT}/algorithms/*/include/*.hpp ${ROOT}/algorithms/include/*.hpp)
file(GLOB_RECURSE private ${ROOT}/core/*.?pp ${ROOT}/algorithms/*.?pp ${ROOT}/backends/*.?pp ${ROOT}/backends/*.cu)
foreach(header IN LISTS public)
  file(STRINGS ${header} lines REGEX "[Ss][Ii][Mm][Tt]|tests/|backends/")
  if(lines)
    message(FATAL_ERROR "${header} is installed and speaks of the emulation, of tests or of a backend: ${lines}")
  endif()
endforeach()
foreach(source IN LISTS private)
  file(STRINGS ${source} lines REGEX "#[ \t]*include[ \t]*[<\"]tests/")
  if(lines)
    message(FATAL_ERROR "${source} includes a header of the tests: ${lines}")
  endif()
endforeach()
# grep, because names hold whole lists of kernels: CMake's own matching took two minutes
execute_process(COMMAND ${NM} -C ${LIBRARY}
                COMMAND grep -E "simt_engine|simt::emulation|cuda_backend::emulation|boost::context"
                OUTPUT_VARIABLE found ERROR_QUIET RESULTS_VARIABLE statuses)
list(GET statuses 0 status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NM} does not read ${LIBRARY}")
endif()
if(found)
  message(FATAL_ERROR "${LIBRARY} holds a symbol of the emulation: ${found}")
endif()
list(LENGTH public count)
message("${count} installed headers and ${LIBRARY} know nothing of the emulation")

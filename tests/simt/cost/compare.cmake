# cmake -DNVCC=… -DREADELF=… -DARCHITECTURE=80 -DROOT=… -DFOLDER=… -P compare.cmake
#
# The vocabulary costs nothing: a kernel in its words and the same kernel in CUDA's intrinsics become the same machine
# code, byte by byte, with the same registers and memory.

if(NOT NVCC OR NOT READELF)
  message("zenith: skipped: no nvcc, or no readelf to look into what it makes")
  return()
endif()

# result: of each kernel the bytes of its machine code; result_usage: what ptxas says of registers and memory.
function(compile name result)
  set(cubin ${FOLDER}/${name}.cubin)
  execute_process(
    COMMAND ${NVCC} -std=c++20 -O3 -cubin -arch=sm_${ARCHITECTURE} -Xptxas -v -I${ROOT}
            ${CMAKE_CURRENT_LIST_DIR}/${name}.cu -o ${cubin}
    RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE report)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "nvcc does not compile ${name}.cu:\n${report}")
  endif()
  execute_process(COMMAND ${READELF} -S --wide ${cubin} OUTPUT_VARIABLE sections ERROR_QUIET)
  set(code "")
  foreach(kernel IN ITEMS sum_blocks append_odd)
    if(NOT sections MATCHES "(\\.text\\.[A-Za-z0-9_]*${kernel}[A-Za-z0-9_]*)")
      message(FATAL_ERROR "${cubin} has no kernel ${kernel}")
    endif()
    execute_process(COMMAND ${READELF} --hex-dump=${CMAKE_MATCH_1} ${cubin} OUTPUT_VARIABLE dump ERROR_QUIET)
    string(REGEX MATCHALL "0x[0-9a-f]+ [0-9a-f ]+" rows "${dump}")
    list(LENGTH rows count)
    if(count LESS 20)
      message(FATAL_ERROR "no machine code of ${kernel} found in ${cubin}")
    endif()
    message("${name}: ${kernel}: ${count} instructions")
    list(APPEND code "-- ${kernel}" ${rows})
  endforeach()
  string(REGEX MATCHALL "Used [0-9]+ registers[^\n]*" usage "${report}")
  list(SORT usage)
  set(${result} "${code}" PARENT_SCOPE)
  set(${result}_usage "${usage}" PARENT_SCOPE)
endfunction()

compile(vocabulary ours)
compile(intrinsics theirs)
if(NOT ours_usage STREQUAL theirs_usage)
  message(FATAL_ERROR "registers or memory differ: ${ours_usage} against ${theirs_usage}")
endif()
if(NOT ours STREQUAL theirs)
  message(FATAL_ERROR "the machine code differs: see ${FOLDER}/vocabulary.cubin and ${FOLDER}/intrinsics.cubin")
endif()
message("the same machine code: ${ours_usage}")

# Configures the consumer against the moved prefix, and builds and runs it, or expects to be REFUSED with a sentence.

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

set(work ${WORK_DIR}/consumers/${NAME})
file(REMOVE_RECURSE ${work})
file(COPY ${CONSUMER_DIR}/ DESTINATION ${work}/source)

set(settings -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_PREFIX_PATH=${PREFIX} -DWANTED_VERSION=${WANTED_VERSION}
    -DWANTED_COMPONENTS=${COMPONENTS})

set(environment --unset=CUDACXX --unset=CUDA_PATH --unset=LD_LIBRARY_PATH)
if(HIDE_DEPENDENCIES)
  list(APPEND environment PATH=/usr/bin:/bin)
  list(APPEND settings -DCUDAToolkit_ROOT=/nowhere -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
       -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON)
elseif(KOKKOS_DIR)
  list(APPEND settings -DKokkos_DIR=${KOKKOS_DIR})
endif()

if(REFUSED)
  run("configure" text NONZERO ${CMAKE_COMMAND} -E env ${environment} ${CMAKE_COMMAND} -S ${work}/source -B ${work}/build
      ${settings})
  expect_text("the refusal" "${text}" "${REFUSED}")
  return()
endif()

run("configure" text ZERO ${CMAKE_COMMAND} -E env ${environment} ${CMAKE_COMMAND} -S ${work}/source -B ${work}/build
    ${settings} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
file(READ ${work}/build/compile_commands.json commands)
if(NOT commands MATCHES "${PREFIX}/include")
  message(FATAL_ERROR "the consumer does not compile against ${PREFIX}/include: ${commands}")
endif()
run("build" text ZERO ${CMAKE_COMMAND} -E env ${environment} ${CMAKE_COMMAND} --build ${work}/build)
run("run" text ZERO ${CMAKE_COMMAND} -E env ${environment} ${work}/build/consumer ${RUN})
expect_text("the consumer" "${text}" "zenith ${VERSION} .*consumer: right")
if(KIND STREQUAL "shared")
  run("ldd" text ZERO ldd ${work}/build/consumer)
  expect_text("ldd" "${text}" "libzenith\\.so[.0-9]* => ${PREFIX}/")
endif()

# Compiles the consumer with what pkg-config says of the moved prefix, and runs it.

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

find_program(PKG_CONFIG NAMES pkg-config pkgconf)
if(NOT PKG_CONFIG)
  message("zenith: skipped: pkg-config was not found")
  return()
endif()

set(work ${WORK_DIR}/consumers/${NAME})
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
file(COPY ${CONSUMER_DIR}/main.cpp DESTINATION ${work})

set(environment PKG_CONFIG_PATH=${PREFIX}/${LIBDIR}/pkgconfig)
set(static "")
if(KIND STREQUAL "static")
  set(static --static)
endif()
set(answer "")
foreach(part IN ITEMS cflags libs)
  run("pkg-config" ${part} ZERO ${CMAKE_COMMAND} -E env ${environment} ${PKG_CONFIG} --${part} ${static} zenith)
  separate_arguments(${part} UNIX_COMMAND "${${part}}")
endforeach()
run("pkg-config" version ZERO ${CMAKE_COMMAND} -E env ${environment} ${PKG_CONFIG} --modversion zenith)
expect_text("pkg-config --modversion" "${version}" "^${VERSION}")

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
run("compile" text ZERO ${CXX} -std=c++20 ${flags} ${cflags} -o ${work}/consumer ${work}/main.cpp ${libs})
# of the package and of a shared Kokkos, where there is one
run("pkg-config" kokkos_libdir ZERO ${CMAKE_COMMAND} -E env ${environment} ${PKG_CONFIG} --variable=kokkos_libdir zenith)
string(STRIP "${PREFIX}/${LIBDIR}:${kokkos_libdir}" paths)
run("run" text ZERO ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${paths} ${work}/consumer ${RUN})
expect_text("the consumer" "${text}" "consumer: right")

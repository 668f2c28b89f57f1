# Configures Zenith itself with one means switched to VALUE (ON) while it is hidden, and expects one clear sentence. With
# AUTO the same hidden means only leaves it out.

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

set(work ${WORK_DIR}/options/${NAME})
file(REMOVE_RECURSE ${work})
set(settings -S ${SOURCE_DIR} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DZENITH_BUILD_TESTS=OFF -DZENITH_BUILD_PERF=OFF)
foreach(other IN ITEMS TBB KOKKOS CUDA)
  if(NOT other STREQUAL MEANS)
    list(APPEND settings -DZENITH_ENABLE_${other}=OFF)
  endif()
endforeach()
if(HIDE)
  list(APPEND settings -D${HIDE})
endif()
if(NOT VALUE)
  set(VALUE ON)
  set(SENTENCE "ZENITH_ENABLE_${MEANS} is ON, but .* found\\.")
endif()

run("configure" text NONZERO ${CMAKE_COMMAND} -E env --unset=CUDACXX ${CMAKE_COMMAND} -B ${work}/on ${settings}
    -DZENITH_ENABLE_${MEANS}=${VALUE})
expect_text("the refusal" "${text}" "${SENTENCE}")

if(HIDE)
  run("configure" text ZERO ${CMAKE_COMMAND} -E env --unset=CUDACXX ${CMAKE_COMMAND} -B ${work}/auto ${settings}
      -DZENITH_ENABLE_${MEANS}=AUTO)
  expect_text("what is left out" "${text}" "zenith: ${MEANS}: OFF .*found when Zenith was configured")
endif()

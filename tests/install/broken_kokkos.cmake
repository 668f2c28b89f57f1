# Configures Zenith beside a Kokkos package that is installed in part: AUTO leaves it out and says why.

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

set(work ${WORK_DIR}/options/${NAME})
file(REMOVE_RECURSE ${work})
file(WRITE ${work}/package/KokkosConfig.cmake "message(FATAL_ERROR \"The imported target is not there.\")\n")

run("configure" text ZERO ${CMAKE_COMMAND} -E env --unset=CUDACXX ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${work}/auto
    -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DZENITH_BUILD_TESTS=OFF -DZENITH_BUILD_PERF=OFF
    -DZENITH_ENABLE_CUDA=OFF "-DKokkos_DIR=${work}/package" "-DCMAKE_PREFIX_PATH=/nowhere;/nowhere else")
expect_text("what is left out" "${text}"
            "zenith: KOKKOS: OFF the installed Kokkos cannot be used \\(The imported target is not there\\..*when Zenith was configured")

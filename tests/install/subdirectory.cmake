# Zenith as a part of another project: it must not impose its tests, its install rules or its build type, and what it
# links must be visible to the project around it.

include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

set(work ${WORK_DIR}/subdirectory)
file(REMOVE_RECURSE ${work})
file(COPY ${CONSUMER_DIR}/main.cpp DESTINATION ${work}/source)
file(WRITE ${work}/source/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(around LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(zenith SOURCE_DIR \"${SOURCE_DIR}\")
FetchContent_MakeAvailable(zenith)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE zenith::zenith)
if(CMAKE_BUILD_TYPE OR TARGET zenith-study)
  message(FATAL_ERROR \"Zenith imposes itself on the project around it\")
endif()
")
run("configure" text ZERO ${CMAKE_COMMAND} -S ${work}/source -B ${work}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${CXX} -DZENITH_ENABLE_CUDA=OFF -DZENITH_ENABLE_KOKKOS=OFF)

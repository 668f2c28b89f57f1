# The readers of outside bytes: their tests build them even where the study itself is not built.

add_library(zenith_study_readers OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/column_name.cpp
  ${CMAKE_CURRENT_LIST_DIR}/csv.cpp
  ${CMAKE_CURRENT_LIST_DIR}/npy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/python_literal.cpp)
target_include_directories(zenith_study_readers PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(zenith_study_readers PUBLIC zenith::zenith PRIVATE zenith_warnings)

# What the install tests share.

cmake_minimum_required(VERSION 3.25)

# run(<what> <variable for the output> <expected result: ZERO or NONZERO> <command>...)
function(run what output expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if((expected STREQUAL "ZERO" AND NOT result STREQUAL "0") OR (expected STREQUAL "NONZERO" AND result STREQUAL "0"))
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${what}: ended with ${result}\n${command}\n${text}")
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# expect_text(<what> <text> <regular expression>): line breaks, which CMake puts anywhere into a message, count as blanks.
function(expect_text what text expression)
  string(REGEX REPLACE "[ \n]+" " " flat "${text}")
  if(NOT flat MATCHES "${expression}")
    message(FATAL_ERROR "${what}: expected to read '${expression}' in\n${text}")
  endif()
endfunction()

# The prefix of a kind, after it was moved away from where it was installed.
set(PREFIX ${WORK_DIR}/moved/${KIND})

# Compiles UNIT with COMPILE and says how long it took.

string(TIMESTAMP before "%s%f" UTC)
execute_process(COMMAND ${COMPILE} ${UNIT} RESULT_VARIABLE status ERROR_VARIABLE said)
string(TIMESTAMP after "%s%f" UTC)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "<zenith/zenith.hpp> does not compile:\n${said}")
endif()
math(EXPR milliseconds "(${after} - ${before}) / 1000")
message(STATUS "zenith: a program that includes <zenith/zenith.hpp> compiles in ${milliseconds} ms")

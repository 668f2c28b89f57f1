#pragma once

#include <cstdint>
#include <string>

#include <perf/study/study_options.hpp>

namespace zenith_study {

struct file_query {
  std::string file;
  std::string column;
  std::uint64_t k = 10;
  bool smallest = false;
  file_line line;
  int threads = 0;
};

/// Reads a table, ranks its rows by one column, prints the winners and how long each step took where. Returns the exit
/// status; throws for a file, column or value that is not what it should be.
int query_file(const file_query& query);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <perf/study/study_options.hpp>

namespace zenith_study {

struct skyline_query {
  std::string file;
  std::vector<std::string> minimised;
  std::vector<std::string> maximised;
  std::vector<std::string> different;  ///< numbers or text
  bool first_of_equal = false;
  std::uint64_t most_rows = 50;
  std::string picture;            ///< a file for it; empty: none
  std::vector<std::string> axes;  ///< two of the columns that are minimised or maximised
  file_line line;
};

/// Prints the rows of a table that no other row dominates, and how long each step took. Rows without a value in one of
/// the columns are left out. The picture shows the rows in the plane of two columns, with the layers that these two
/// have. Returns the exit status; throws for a file, column or value that is not what it should be.
int print_skyline(const skyline_query& query);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <string>

#include <perf/study/study_options.hpp>

namespace zenith_study {

struct spatial_query {
  std::string left;   ///< "FILE:x,y,score"
  std::string right;  ///< the same
  std::string score = "sum";
  bool smallest = false;
  double distance = 0;
  std::uint64_t k = 10;
  std::string picture;  ///< a file for it; empty: none
  file_line line;
};

/// Prints the best pairs of rows of two tables that are near each other, and how long each step took, and draws a map
/// of them. Rows without a value in one of their columns are left out. Returns the exit status; throws for a file,
/// column or value that is not what it should be.
int print_best_pairs(const spatial_query& query);

}  // namespace zenith_study

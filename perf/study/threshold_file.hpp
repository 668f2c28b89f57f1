#pragma once

#include <cstdint>
#include <string>

#include <perf/study/study_options.hpp>

namespace zenith_study {

struct threshold_query {
  std::string file;
  std::string weights;  ///< "rating=0.7,price=-0.3"
  std::uint64_t k = 10;
  file_line line;
};

/// Prints the rows of a table with the largest weighted sums of some columns, found with a threshold table, and how
/// long each step took. Rows without a value in one of the columns come last. Returns the exit status; throws for a
/// file, column, weight or value that is not what it should be.
int print_best_rows(const threshold_query& query);

}  // namespace zenith_study

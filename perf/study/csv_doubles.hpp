#pragma once

#include <string>
#include <vector>

#include <perf/study/csv.hpp>

namespace zenith_study {

/// A column's numbers row by row, NaN where one is missing. Throws as `read_numbers` does, and `invalid_argument` for a
/// whole number that a double does not hold exactly.
[[nodiscard]] std::vector<double> read_doubles(const csv_table& from, const std::string& column);

}  // namespace zenith_study

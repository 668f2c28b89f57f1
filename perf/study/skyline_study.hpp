#pragma once

#include <string>
#include <vector>

#include <perf/study/standard_points.hpp>
#include <perf/study/sweep.hpp>

/// \file
/// The time and the work of every strategy of the skyline on standard points.

namespace zenith_study {

struct skyline_study_options {
  std::vector<std::uint64_t> rows = {};
  std::vector<std::uint64_t> columns = {};
  std::vector<correlation> correlations = {};
  std::uint32_t seed = 7;
  double time_limit = 5;  ///< seconds: a strategy that needed more for one set of points is left out of larger ones
  std::string output = {};
  sweep_options sweep{.repeat = 3};
};

/// Measures, prints, and writes numbers and pictures. Gives the exit status.
[[nodiscard]] int run_skyline_study(const skyline_study_options& given);

}  // namespace zenith_study

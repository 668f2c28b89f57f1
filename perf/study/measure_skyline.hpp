#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <perf/study/standard_points.hpp>

/// \file
/// The time and the work of every strategy of the skyline on one set of points.

namespace zenith_study {

struct skyline_sweep_options {
  std::vector<std::string> backends;    ///< executor strings; empty: every usable backend but the reference
  std::vector<std::string> strategies;  ///< empty: all
  std::uint32_t seed = 7;
  int repeat = 3;
  double time_limit = 5;  ///< seconds: a strategy that needed more for one set of points is left out of larger ones
};

/// One strategy on one executor, with the points on the host or on the executor's device.
struct skyline_line {
  std::string label;  ///< "cpu/skyalign", "cuda/skyalign from host"
  std::string executor;
  std::string strategy;
  bool resident = false;
  bool too_slow = false;  ///< for larger sets than it has seen
};

struct skyline_measurement {
  std::string label;
  std::uint64_t rows = 0;
  unsigned columns = 0;
  std::uint64_t skyline = 0;  ///< ids in the result
  double seconds = 0;         ///< the median of the repetitions
  std::optional<double> predicted;
  std::uint64_t dominance_tests = 0;
  std::uint64_t mask_tests = 0;
  bool is_chosen = false;  ///< by `decide`, for points on the host
  bool is_wrong = false;   ///< other ids than those of the first line
};

/// Every strategy of the backends that are asked for. Throws for a backend or strategy that is named and not there.
[[nodiscard]] std::vector<skyline_line> skyline_lines(const skyline_sweep_options& options);

/// Measures the lines that are not too slow, and marks those that become so.
[[nodiscard]] std::vector<skyline_measurement> measure_skyline(std::span<const float> points, std::uint64_t rows,
                                                               unsigned columns, std::vector<skyline_line>& lines,
                                                               const skyline_sweep_options& options);

}  // namespace zenith_study

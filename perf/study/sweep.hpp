#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/clock.hpp>
#include <perf/study/floor.hpp>
#include <perf/study/progress.hpp>
#include <perf/study/subject.hpp>

/// \file
/// The measurement of the study: the time of every backend and strategy on every question of an input.

namespace zenith_study {

struct sweep_options {
  int repeat = 5;                                           ///< timed samples of a call, where there is no time limit
  int threads = 0;                                          ///< for backends that take the setting; 0: all
  double budget = std::numeric_limits<double>::infinity();  ///< seconds for all timed calls together
  std::optional<time_limits> limits = {};                   ///< of each time: then its lower quartile counts
  std::vector<std::string> backends = {};                   ///< executor strings; empty: every usable backend
  std::vector<std::string> strategies = {};                 ///< empty: all
};

/// One line of the picture: a strategy on an executor, with the data on its device or on the host.
struct series : placement {
  std::string label;         ///< "cpu/filter", "cuda/filter from host"
  std::string detail;        ///< the device, threads and instruction set
  bool is_profiled = true;   ///< the executor's instruction set is the one that the profile describes
  double floor_seconds = 0;  ///< one read of the data where it lies, or its way over the link
  std::string floor_origin;
};

enum class outcome : std::uint8_t { measured, skipped, failed, wrong };

struct measurement {
  std::size_t point = 0;  ///< of the input
  std::size_t series = 0;
  std::string_view operation;
  outcome result = outcome::skipped;
  std::vector<double> seconds = {};  ///< one entry a sample
  double time = 0;                   ///< their median, or lower quartile
  std::optional<double> predicted = {};
  bool is_chosen = false;  ///< by `decide`, for this problem
  facts seen = {};
  std::string note = {};  ///< why it was skipped or failed, or what was wrong
};

struct sweep {
  read_floor floor;
  std::vector<series> all_series;
  std::vector<measurement> points;  ///< by point, then in order of `all_series`, then of the operations
  std::vector<std::string> notes;   ///< what was left out, in sentences
};

/// Measures the floor, where the input has one, and then every point. Each result is checked before its time counts;
/// the operations of a question are timed as one. `all_series` are those of `list_series`.
[[nodiscard]] sweep run_sweep(input& of, const std::vector<std::string_view>& operations,
                              std::vector<series> all_series, const sweep_options& options, progress& shown);

}  // namespace zenith_study

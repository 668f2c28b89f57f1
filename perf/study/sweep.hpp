#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <perf/study/distribution.hpp>
#include <perf/study/floor.hpp>
#include <perf/study/progress.hpp>
#include <zenith/executor.hpp>
#include <zenith/types.hpp>

/// \file
/// The main measurement of the study: the time of every backend and strategy over k.

namespace zenith_study {

struct sweep_options {
  std::uint64_t count = std::uint64_t{1} << 26;
  std::vector<std::uint64_t> ks;
  zenith::key_type type = zenith::key_type::float32;
  distribution values = distribution::uniform;
  bool smallest = false;
  std::uint64_t seed = 1;
  int repeat = 5;
  int threads = 0;                      ///< for backends that take the setting; 0: all
  double budget = 90;                   ///< seconds for all timed calls together
  std::vector<std::string> backends;    ///< executor strings; empty: every usable backend
  std::vector<std::string> strategies;  ///< empty: all
};

/// One line of the picture: a strategy on an executor, with the data on its device or on the host.
struct series {
  std::string label;     ///< "cpu/filter", "cuda/filter, from host"
  std::string executor;  ///< as in `make_executor`
  std::string strategy;
  std::string detail;  ///< the device, threads and instruction set
  zenith::executor on;
  bool resident = false;     ///< the keys lie in the memory of a device
  bool is_default = true;    ///< the executor's settings are those that the profile describes
  double floor_seconds = 0;  ///< one read of the data where it lies, or its way over the link
  std::string floor_origin;
};

enum class outcome : std::uint8_t { measured, skipped, failed, wrong };

struct measurement {
  std::size_t series = 0;
  std::uint64_t k = 0;
  outcome result = outcome::skipped;
  std::vector<double> seconds;  ///< one entry a repetition
  double time = 0;              ///< their median
  std::optional<double> predicted;
  bool is_chosen = false;  ///< by `decide`, for this problem
  std::string variant;     ///< what ran inside the strategy
  std::string note;        ///< why it was skipped or failed, or what was wrong
};

struct sweep {
  sweep_options options;
  read_floor floor;
  std::vector<series> all_series;
  std::vector<measurement> points;  ///< by k, then in order of `all_series`
  std::vector<std::string> notes;   ///< what was left out, in sentences
};

/// Generates the data, measures the floor and then every point. Each result is checked against a selection by the
/// standard library before its time counts. Throws for what makes the whole run impossible.
[[nodiscard]] sweep run_sweep(const sweep_options& options, progress& shown);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <perf/study/standard_points.hpp>

/// \file
/// What each iteration of a skyline prunes, and how long it takes: figure 10 of Bøgh, Chester, Assent: Work-Efficient
/// Parallel Skyline Computation for the GPU, VLDB 2015.

namespace zenith_study {

struct iterations_request {
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> columns;
  std::vector<correlation> correlations;
  std::uint32_t seed = 7;
  int repeat = 3;
  std::vector<std::string> backends;    ///< executor strings; empty: one thread of the CPU, all of them, and CUDA
  std::vector<std::string> strategies;  ///< empty: "skyalign" and "bitmap_tiles"
  std::filesystem::path folder;
};

/// The rounds of each strategy on each backend, from points in the host's memory. Iteration 0 is what comes before:
/// copies to a device, prefilter and order. An iteration of the paper is a level of masks; here it is a block of points
/// or a window, as the strategy has them. A table and, in the folder, numbers and two pictures. Returns the exit
/// status.
int draw_iterations(const iterations_request& given);

}  // namespace zenith_study

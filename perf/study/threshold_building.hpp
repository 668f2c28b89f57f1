#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <perf/study/standard_points.hpp>

/// \file
/// How long threshold tables take to build: figure 11 of Zois, Tsotras, Najjar: GPU Accelerated Top-K Selection With
/// Efficient Early Stopping, 2019.

namespace zenith_study {

struct building_request {
  std::uint64_t rows = 0;  ///< a sixteenth, a quarter and all of them are built
  unsigned columns = 8;
  std::vector<correlation> correlations;
  std::uint32_t block_rows = 64;
  std::uint32_t seed = 7;
  int repeat = 5;
  std::vector<std::string> backends;  ///< executor strings; empty: one thread of the CPU, all of them, and CUDA
  std::filesystem::path folder;
};

/// Builds tables of clusters, of partitions at random and by angle, split equally deep and regularly, on each backend,
/// which a GPU does for clusters alone, beside one read of the columns on all threads. Each table is asked for its best
/// 16 rows, which must be those of a scan of the columns. A table of times and, in the folder, numbers and a picture.
/// Returns the exit status.
int draw_building(const building_request& given);

}  // namespace zenith_study

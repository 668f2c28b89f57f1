#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <perf/study/spatial_subject.hpp>
#include <perf/study/sweep.hpp>

/// \file
/// Figures 7.1 to 7.4 of Åmdal: Top-k Spatial Join on GPU, master's thesis, NTNU 2020, with its data.

namespace zenith_study {

/// The thesis' inputs: each pair of its three sizes.
inline constexpr const char* thesis_rows = "2^20,2^20x2^15,2^20x2^10,2^15,2^15x2^10,2^10";

struct figures_request {
  std::vector<side_rows> rows;  ///< the smallest joins first; not empty
  std::vector<std::uint64_t> k;
  double distance = 1;
  std::uint64_t seed = 1;
  double time_limit = 5;
  sweep_options sweep;
  std::filesystem::path folder;
};

/// 7.1: times by k of the inputs with the largest left side; 7.2: of the others; 7.3: by threads, of the largest input
/// and k; 7.4: the same by how many blocks are joined at once. One more shows the size of a block, a leaf of the index.
/// Tables and, in the folder, numbers and pictures. Returns the exit status.
int draw_thesis_figures(const figures_request& given);

}  // namespace zenith_study

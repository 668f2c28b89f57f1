#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zenith_study {

struct pack_options {
  std::string input;  ///< a CSV file, or the figures
  std::vector<std::string> backends;
  std::vector<std::string> figures;
  std::uint64_t count = 0;
  std::uint64_t seed = 1;
  double time_limit = 0.03;
  std::string output;
};

/// Packs every numeric column of a CSV file in every encoding, and prints bits and times. Gives the exit status.
[[nodiscard]] int pack_file(const pack_options& given);
/// The figures of chapter 5: tables, numbers and pictures.
[[nodiscard]] int draw_packed_figures(const pack_options& given);

}  // namespace zenith_study

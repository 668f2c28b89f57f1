#pragma once

#include <array>
#include <memory>
#include <vector>

#include <perf/study/standard_points.hpp>
#include <perf/study/subject.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith_study {

/// The preference vectors Q0 to Q4 of the paper on threshold tables (its table 1): the first columns have the first
/// weights, and those behind the eighth the same again.
inline constexpr std::array<std::array<float, 8>, 5> preference_vectors{{
    {1, 1, 1, 1, 1, 1, 1, 1},
    {.1F, .2F, .3F, .4F, .5F, .6F, .7F, .8F},
    {.8F, .7F, .6F, .5F, .4F, .3F, .2F, .1F},
    {.1F, .2F, .3F, .4F, .4F, .3F, .2F, .1F},
    {.4F, .3F, .2F, .1F, .1F, .2F, .3F, .4F},
}};

/// A threshold table of standard points, and a question for each preference vector, each number of weights and each k.
/// Right is the scan of the columns.
struct threshold_input_options {
  correlation of{};
  std::uint64_t rows = 0;
  unsigned columns = 8;
  std::uint32_t seed = 7;
  zenith::table_options table = {};
  std::vector<std::uint64_t> weights;
  std::vector<std::uint64_t> ks;
  std::vector<std::uint64_t> preferences = {0};  ///< of `preference_vectors`
};

/// What else a placement can name than the strategies of a table.
inline constexpr std::string_view scan_of_columns = "scan of the columns";    ///< of scored top-k
inline constexpr std::string_view blocks_on_host = "blocks, rows on host";    ///< of a device: blocks are fetched
inline constexpr std::string_view rows_mapped = "blocks, rows mapped";        ///< of a device: read on the host
inline constexpr std::string_view columns_on_host = "scan, columns on host";  ///< of a device: all is streamed

/// `build_seconds`, where it is not nullptr, is how long the table took on one thread.
[[nodiscard]] std::shared_ptr<input> make_threshold_input(const threshold_input_options& options,
                                                          double* build_seconds = nullptr);

}  // namespace zenith_study

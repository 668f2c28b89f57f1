#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/skyline.hpp>

/// \file
/// The layers of a table (non-dominated sorting): its skyline, the skyline of the rest, and so on.

namespace zenith {

struct skyline_layers_options {
  /// One for each column; empty: all are minimised. Borrowed.
  std::span<const preference> preferences = {};
  nan_rows nans = nan_rows::reject;
  /// No more layers than this, at least 1.
  std::uint32_t most_layers = no_layer;
  /// No further layer once so many rows have one, at least 1: a selection of the best m rows needs no more than this.
  std::uint64_t enough_rows = ~std::uint64_t{0};
  /// "auto", or the name of a strategy: "bitmap_tiles", "skyalign", "sfs".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  skyline_statistics* statistics = nullptr;
  /// Not empty: an element for each row, which becomes the number of rows that dominate it, and `no_layer` for a row
  /// with a NaN under `nan_rows::drop` and for one that `duplicates` leaves out. On the host. Borrowed.
  std::span<std::uint32_t> dominated_by = {};
  /// Equal rows are in the same layer. Under `keep_first`, of these all but the one with the lowest id have `no_layer`:
  /// they neither count as dominators nor for `enough_rows`.
  duplicate_rows duplicates = duplicate_rows::keep_all;
};

/// The layer of every row, and what ran.
struct skyline_layers_result {
  std::vector<std::uint32_t> layer_of;  ///< `no_layer` for rows in none that was asked for
  std::size_t layers = 0;
  std::string backend;
  std::string strategy;
};

namespace detail {

struct layers_target {
  memory_space space = memory_space::host;
  std::uint32_t* layers = nullptr;
  std::size_t count = 0;
};

skyline_run skyline_layers(const executor& on, const skyline_points& points, const layers_target& target,
                           const skyline_layers_options& options);

}  // namespace detail

/// Writes the layer of every row of `points` to `layers_out`, an element for each row, and returns the number of
/// layers. Layer 0 is the skyline, layer i + 1 is the skyline of the rows that are in none of the layers 0 … i. Equal
/// rows are in one layer. Rows in none of the layers that were asked for, those with a NaN under `nan_rows::drop`, and
/// all but the first of equal rows under `duplicate_rows::keep_first` have `no_layer`. Dominance is that of `skyline`.
/// The result is the same on every backend and for every strategy.
///
/// Complexity: a few reads of the points, a sort of the n' rows that a prefilter leaves, and for each layer the
/// dominance tests of a skyline of what is left. With up to 64 `most_layers`, the prefilter leaves out rows that are
/// dominated by the last of these layers of a sample; with more, n' is n. On a host, all layers of one or two columns
/// take O(n log n), beside any that are `different`; and where layers are small, rows are compared with layers instead,
/// of which a bisection finds the right one. To find equal rows takes a sort of n' hashes. `options.dominated_by` takes
/// a `skyband` of all rows besides, up to n * n tests. Scratch is that of `skyline`, with counts that of `skyband`. It
/// synchronises. A GPU executor copies host points to the device whole.
///
/// Throws as `skyline` does, and `invalid_argument` when `layers_out` has not an element for each row, or most_layers
/// or enough_rows is 0, or `options.dominated_by` is neither empty nor an element for each row. `layers_out` and
/// `options.dominated_by` are untouched then.
///
/// Source: Goldberg's ranking of non-dominated individuals (Genetic Algorithms, 1989); Deb, Pratap, Agarwal, Meyarivan:
/// A fast and elitist multiobjective genetic algorithm, 2002; bisection: Zhang, Tian, Cheng, Jin: An efficient approach
/// to nondominated sorting for evolutionary multiobjective optimization, 2015.
template <point_table Points>
std::size_t skyline_layers(const executor& on, const Points& points, std::span<std::uint32_t> layers_out,
                           const skyline_layers_options& options = {}) {
  return detail::skyline_layers(on, detail::points_of(points),
                                {memory_space::host, layers_out.data(), layers_out.size()}, options)
      .count;
}

/// The same with layers in device memory.
template <point_table Points>
std::size_t skyline_layers(const executor& on, const Points& points, device_span<std::uint32_t> layers_out,
                           const skyline_layers_options& options = {}) {
  return detail::skyline_layers(on, detail::points_of(points),
                                {memory_space::device, layers_out.data(), layers_out.size()}, options)
      .count;
}

/// The layers as a value. Throws as above.
template <point_table Points>
[[nodiscard]] skyline_layers_result skyline_layers(const executor& on, const Points& points,
                                                   const skyline_layers_options& options = {}) {
  skyline_layers_result result;
  const auto table = detail::points_of(points);
  detail::check_skyline_points("skyline_layers", table, options.preferences);
  result.layer_of = detail::make_results<std::uint32_t>(table.rows);
  auto run =
      detail::skyline_layers(on, table, {memory_space::host, result.layer_of.data(), result.layer_of.size()}, options);
  result.layers = run.count;
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Takes what no overload takes, so that the compiler's message is short.
ZENITH_NO_OVERLOAD(skyline_layers);

}  // namespace zenith

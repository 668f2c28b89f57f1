#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/skyline.hpp>

/// \file
/// The k-skyband of a table: the rows that fewer than k other rows dominate.

namespace zenith {

struct skyband_options {
  /// One for each column; empty: all are minimised. Borrowed.
  std::span<const preference> preferences = {};
  /// Under `keep_first`, of equal rows all but the first neither belong to the result nor count as dominators.
  duplicate_rows duplicates = duplicate_rows::keep_all;
  nan_rows nans = nan_rows::reject;
  /// "auto", or the name of a strategy: "bitmap_tiles", "sfs".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  skyline_statistics* statistics = nullptr;
};

/// The ids of the skyband's rows, ascending, how many rows dominate each, and what ran.
template <index Index = std::uint64_t>
struct skyband_result {
  std::vector<Index> ids;
  std::vector<std::uint32_t> dominated_by;
  std::string backend;
  std::string strategy;
};

namespace detail {

/// Where the result goes. Vectors are the caller's and resized; nullptr: spans.
struct skyband_target {
  int index_bytes = 8;
  bool index_signed = false;
  void* ids = nullptr;
  std::size_t ids_count = 0;
  std::uint32_t* dominated_by = nullptr;
  std::size_t dominated_by_count = 0;
  bool wants_counts = false;
  void* (*resize)(void* vector, std::uint64_t count) = nullptr;
  void* vector = nullptr;
  std::vector<std::uint32_t>* counts_vector = nullptr;
  std::uint32_t* by_row = nullptr;      ///< not nullptr: counts of all rows of the table are wanted, and nothing else
  std::string_view caller = "skyband";  ///< begins the messages
};

skyline_run skyband(const executor& on, const skyline_points& points, std::uint32_t k, const skyband_target& target,
                    const skyband_options& options);

template <class Index>
[[nodiscard]] skyband_target band_target(Index* ids, std::size_t count) {
  skyband_target target;
  target.index_bytes = static_cast<int>(sizeof(Index));
  target.index_signed = std::is_signed_v<Index>;
  target.ids = ids;
  target.ids_count = count;
  return target;
}

}  // namespace detail

/// Writes the ids of the rows of `points` that fewer than `k` rows dominate to the beginning of `ids_out`, ascending,
/// and returns how many there are. The skyband of k = 1 is the skyline, that of k = 0 is empty. Dominance is that of
/// `skyline`; with k = 0, too, a NaN is rejected, which takes as long as k = 1. The result is the same on every
/// backend.
///
/// Complexity: two or three reads of the points; a sort of the rows; and at most n * b dominance tests, where b is the
/// number of different rows in the skyband, by "bitmap_tiles" 512 at a time and fewer where a prefilter of the best
/// rows leaves few. Scratch is O(n * columns). It synchronises. A GPU executor copies host points to the device whole.
///
/// Throws as `skyline` does. Outputs are untouched then.
///
/// Source: Papadias, Tao, Fu, Seeger: Progressive skyline computation in database systems, TODS 2005.
template <point_table Points, detail::writable_range Ids>
requires index<detail::element_t<Ids>> std::size_t skyband(const executor& on, const Points& points, std::uint32_t k,
                                                           Ids&& ids_out, const skyband_options& options = {}) {
  return detail::skyband(on, detail::points_of(points), k,
                         detail::band_target(std::ranges::data(ids_out), std::ranges::size(ids_out)), options)
      .count;
}

/// The same; dominated_by_out[i] becomes the number of rows that dominate row ids_out[i].
template <point_table Points, detail::writable_range Ids>
requires index<detail::element_t<Ids>> std::size_t skyband(const executor& on, const Points& points, std::uint32_t k,
                                                           Ids&& ids_out, std::span<std::uint32_t> dominated_by_out,
                                                           const skyband_options& options = {}) {
  auto target = detail::band_target(std::ranges::data(ids_out), std::ranges::size(ids_out));
  target.wants_counts = true;
  target.dominated_by = dominated_by_out.data();
  target.dominated_by_count = dominated_by_out.size();
  return detail::skyband(on, detail::points_of(points), k, target, options).count;
}

/// Ids and counts as a value. Throws as above.
template <index Index = std::uint64_t, point_table Points>
[[nodiscard]] skyband_result<Index> skyband(const executor& on, const Points& points, std::uint32_t k,
                                            const skyband_options& options = {}) {
  skyband_result<Index> result;
  auto target = detail::band_target<Index>(nullptr, 0);
  target.vector = &result.ids;
  target.counts_vector = &result.dominated_by;
  target.resize = [](void* vector, std::uint64_t count) -> void* {
    auto& ids = *static_cast<std::vector<Index>*>(vector);
    detail::resize_results(ids, static_cast<std::size_t>(count));
    return ids.data();
  };
  auto run = detail::skyband(on, detail::points_of(points), k, target, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Takes what no overload takes, so that the compiler's message is short.
ZENITH_NO_OVERLOAD(skyband);

}  // namespace zenith

#pragma once

/// \file
/// Threshold tables under scores of the caller's own, which do not fall when a column rises. The score of a block's
/// maxima bounds its rows' scores then; bounds.hpp proves that for weighted sums.
///
/// Three kinds of blocks have the best of all bounds, so that they are opened in any case: where a column has a NaN,
/// since what a score makes of NaN is not known; where the score of the maxima is NaN; and, with NaN before all
/// numbers, where an extreme is infinite or the score of the minima is NaN, since a row between may score NaN.

#include <algorithms/scored_top_k/own_score.hpp>
#include <algorithms/threshold_table/strategies.hpp>

namespace zenith::threshold_table_family {

/// Names the score by F of columns of T.
template <class T, class F>
struct own_score {};

template <class T, class F>
struct scoring<own_score<T, F>> {
  using value = T;
  using columns = scored_top_k_family::own_scored<T, F>;
  using score = typename columns::key;
  static constexpr bool is_weighted_sum = false;
};

/// Extremes of items of some kind.
template <class T, class F>
struct bounds_of<own_score<T, F>> {
  using named = own_score<T, F>;
  using score = score_of<named>;
  using entry = entry_of<named>;

  columns_of<named> upper;
  columns_of<named> lower;  ///< with NaN before all numbers alone
  const u64* nans;
  const u32* first_ids;
  u64 used;
  bool nan_first;

  [[nodiscard]] ZENITH_FN u64 size() const { return upper.count; }
  [[nodiscard]] ZENITH_FN entry bound(u64 i, score of) const {
    constexpr auto best = static_cast<typename entry::image_t>(~typename entry::image_t{0});
    const ordered::key_order<score> order{false, nan_first};
    const bool is_open = nans[i] != 0 || !(of == of) || (nan_first && may_be_nan(i));
    return entry::make(is_open ? best : order.image(of), first_ids[i]);
  }
  [[nodiscard]] ZENITH_FN entry bound(u64 i) const { return bound(i, score_at(upper, i)); }

 private:
  [[nodiscard]] ZENITH_FN bool may_be_nan(u64 i) const {
    if constexpr (!std::is_floating_point_v<score>) {
      return false;
    } else {
      const score least = device::key_at(lower, i);
      if (!(least == least)) return true;
      if constexpr (std::is_floating_point_v<T>) {
        for (unsigned j = 0; j < upper.columns; ++j) {
          if (is_infinite(upper.column[j][i]) || is_infinite(lower.column[j][i])) return true;
        }
      }
      return false;
    }
  }
  [[nodiscard]] ZENITH_FN static bool is_infinite(T value) { return value != 0 && value + value == value; }
};

template <class Named>
using own_kernels = device::concat<
    scan_kernels<Named>,
    device::list<write_bounds<Named>, write_block_bounds<Named>, open_blocks<Named>, open_fetched<Named>,
                 open_best_groups<Named>, open_reaching<Named>, finish_walk<Named, std::uint32_t>,
                 finish_walk<Named, std::uint64_t>, write_rows<Named, std::uint32_t>, write_rows<Named, std::uint64_t>>,
    entry_kernels<entry_of<Named>>, device::list<number_groups, gather_begins>>;

}  // namespace zenith::threshold_table_family

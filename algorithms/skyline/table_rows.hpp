#pragma once

/// \file
/// The rows of a device's table that the prefilter leaves.

#include <type_traits>

#include <algorithms/skyline/layer_pivots.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/table_prefilter.hpp>
#include <algorithms/skyline/widths.hpp>

namespace zenith::skyline_family::detail {

/// Points are wanted that may be in one of so many layers, in an exact order.
struct layer_points {
  u64 most_layers;
  bool keeps_twins;  ///< else of equal rows the first is asked alone
};

/// Points are wanted for strategies that compare by values, which differ from others by what is compiled for them.
struct value_points {};
struct layer_value_points : layer_points {};
template <class Asked>
inline constexpr bool is_by_values = std::is_same_v<Asked, value_points> || std::is_same_v<Asked, layer_value_points>;

/// Points are wanted that fewer than `most` others may dominate.
struct band_points {
  u32 most;
  bool drops_equal;  ///< of equal rows only the first counts
};

[[nodiscard]] constexpr bool drops_equal_pivots(const auto& /*asked*/) { return false; }
[[nodiscard]] constexpr bool drops_equal_pivots(const band_points& band) { return band.drops_equal; }

/// Marks rows that enough pivots dominate or that are dropped.
template <class T, class Asked, class Context>
void test_rows_of_table(Context& on, const row_source<T>& from, const typename row_source<T>::image* pivots,
                        bool drops_nan, u32 enough, u64* nan_at, u8* removed) {
  if (is_by_values<Asked> || from.columns > 16) {
    const test_wide_table<T> test{from, pivots, drops_nan, enough, nan_at, removed};
    return on.for_teams(test.teams(), test);
  }
  if constexpr (!is_by_values<Asked>) {
    with_padded(from.columns, [&]<unsigned Columns>(std::integral_constant<unsigned, Columns>) {
      if constexpr (Columns <= 16) {
        constexpr bool counts = std::is_same_v<Asked, band_points>;
        const test_table<T, Columns, counts> test{from, pivots, drops_nan, from.is_by_fours(), enough, nan_at, removed};
        on.for_teams(test.teams(), test);
      }
    });
  }
}

/// Writes `pivot_count` pivots over ~0; returns whether there are any.
template <class T, class Context, class Asked>
[[nodiscard]] bool find_table_pivots(Context& on, const row_source<T>& from, const Asked& asked, bool drops_nan,
                                     u64* pivots) {
  if constexpr (std::is_base_of_v<layer_points, Asked>) {
    return find_layer_pivots(on, from, drops_nan, asked.most_layers, pivots) > 0;
  } else {
    find_pivots_of_stripes(on, from, pivots, nullptr, pivot_count);
    return true;
  }
}

/// The rows that take part, ascending, but for those that `enough` pivots dominate; 0: there are none.
template <class T, class Context, class Asked>
[[nodiscard]] u32* find_table_rows(Context& on, const skyline_input& call, const row_source<T>& from,
                                   const Asked& asked, u32 enough, u8* removed, table_findings* found) {
  using image = typename row_source<T>::image;
  const bool drops_nan = call.nans == nan_rows::drop;
  u64* const pivots = on.template buffer<u64>(pivot_count);
  image* values = nullptr;
  u32* const left = on.template buffer<u32>(call.rows);
  on.for_each(pivot_count, begin_table{found, pivots});
  if (enough > 0 && find_table_pivots(on, from, asked, drops_nan, pivots)) {
    values = on.template buffer<image>(u64{pivot_count} * from.columns);
    on.for_each(u64{pivot_count} * from.columns,
                place_pivots<T>{from, pivots, drops_nan, drops_equal_pivots(asked), values});
  }
  test_rows_of_table<T, Asked>(on, from, values, drops_nan, enough, &found->nan_at, removed);
  on.compact(call.rows, is_left{removed}, left, &found->left);
  return left;
}

}  // namespace zenith::skyline_family::detail

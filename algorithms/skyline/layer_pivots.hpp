#pragma once

/// \file
/// The pivots of layers: a row that one of them dominates is in none of the first L layers.
///
/// That is so for what a row of layer L or behind it dominates. A row's layer among some rows is at most its layer
/// among all. So the L-th layer of a sample has such rows, and a sample of rows that dominate much has good ones.

#include <algorithm>
#include <utility>

#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/skyband.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Rows of samples to points, the best first.
template <class Image>
struct place_samples {
  const Image* values;  ///< row by row
  const u32* rows;
  point_set<Image> to;

  ZENITH_FN void operator()(u64 i) const {
    for (u32 c = 0; c < to.columns; ++c) to.values[c * to.stride + i] = values[i * to.columns + c];
    to.rows[i] = rows[i];
  }
};

struct is_counted {
  const u32* counts;

  ZENITH_FN bool operator()(u64 i) const { return counts[i] != 0; }
};
struct is_not_counted {
  const u32* counts;

  ZENITH_FN bool operator()(u64 i) const { return counts[i] == 0; }
};

/// Pivots from a list, as even a part of it as there can be.
struct pick_pivots {
  const u32* rows;
  const u32* picked;
  u64 count;
  u64* to;  ///< the first is the best; ~0: none

  ZENITH_FN void operator()(u64 i) const {
    const u64 wanted = count < pivot_count ? count : u64{pivot_count};
    to[i] = i < wanted ? i << 32 | rows[picked[i * count / wanted]] : ~u64{0};
  }
};

template <class... Image>
using layer_pivot_kernels = device::list<place_samples<Image>..., pick_pivots>;

namespace detail {

/// Pivots from a layer of points, written to `pivots`; returns how many there are.
template <class Context, class Image>
[[nodiscard]] u32 find_pivots_of_layer(Context& on, point_set<Image> points, u64 count, u32 padded, u64 layer,
                                       u64* pivots) {
  auto others = make_points(on, count, points, padded);
  u32* const ones = on.template buffer<u32>(count);
  u32* const counts = on.template buffer<u32>(count);
  u32* const picked = on.template buffer<u32>(count);
  u32* const found = on.template buffer<u32>(1);
  on.for_each(count, weigh_block{nullptr, true, ones});
  // of rows with equal sums one may come before another that dominates it: then its layer seems to be less, which is
  // as good
  const auto count_dominators = [&] {
    on.fill_zero(counts, count);
    count_in_window(on, padded, points, count, counted_window<Image>{points, count, true, ones, 1, counts, nullptr},
                    {});
  };
  for (; layer > 1 && count > 0; --layer) {
    count_dominators();
    on.compact(count, is_counted{counts}, picked, found);
    count = on.read(static_cast<const u32*>(found));
    on.for_each(count, gather_points<Image>{points, picked, others});
    std::swap(points, others);
  }
  if (count == 0) return 0;
  count_dominators();
  on.compact(count, is_not_counted{counts}, picked, found);
  const u32 all = on.read(static_cast<const u32*>(found));
  on.for_each(pivot_count, pick_pivots{points.rows, picked, all, pivots});
  return std::min(all, pivot_count);
}

/// Pivots of a table's first `most_layers` layers: `pivot_count` keys, ~0 behind those that there are. Returns how many
/// they are.
template <class T, class Context>
[[nodiscard]] u32 find_layer_pivots(Context& on, const row_source<T>& from, bool drops_nan, u64 most_layers,
                                    u64* pivots) {
  using image = typename row_source<T>::image;
  const u32 count = layer_samples_for(from.rows, most_layers, Context::runs_on_host);
  if (count == 0) return 0;
  const auto samples = find_best_rows(on, from, count);
  image* const values = on.template buffer<image>(u64{count} * from.columns);
  on.for_each(u64{count} * from.columns, gather_row_pivots<T>{from, samples.rows, drops_nan, values});
  const u32 padded = padded_columns(from.columns);
  const auto points = make_points(on, count, point_set<image>{nullptr, 0, from.columns}, padded);
  on.for_each(count, place_samples<image>{values, samples.rows, points});
  return find_pivots_of_layer(on, points, count, padded, most_layers, pivots);
}

}  // namespace detail

}  // namespace zenith::skyline_family

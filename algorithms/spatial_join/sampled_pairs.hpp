#pragma once

/// \file
/// The scores of some of all pairs, on a host: those of all rows of one side with samples of the other. A guess takes
/// places and scores as independent; these pairs are what they are.

#include <algorithm>
#include <cmath>

#include <algorithms/spatial_join/buckets.hpp>
#include <algorithms/spatial_join/samples.hpp>
#include <core/device/context.hpp>

namespace zenith::spatial_join_family {

/// The pairs of a row and samples of the other side.
template <class T, unsigned D>
struct join_samples {
  using entry = ordered::entry_t<ordered::bits_t<T>>;
  using sample = packed_point<T, D, false>;
  static constexpr u64 item_cost = 64;

  point_columns<T, D> rows;
  point_columns<T, D> others;
  bool is_right;  ///< the others are the right side
  const sample* samples;
  const u32* starts;
  cell_grid<T, D> grid;  ///< over the samples
  pair_scorer<T> scorer;
  entry* to;
  u64* count;  ///< counts on above the capacity
  u64 capacity;

  ZENITH_FN void operator()(u64 i) const {
    T at[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) at[a] = rows.at[a][i];
    u32 near = 0;
    each_candidate(at, [&](const sample& other) ZENITH_BODY { near += grid.is_near(at, other.at) ? 1 : 0; });
    if (near == 0) return;
    u64 place = device::atomic_add(count, near);
    if (place >= capacity) return;
    each_candidate(at, [&](const sample& other) ZENITH_BODY {
      if (!grid.is_near(at, other.at) || place >= capacity) return;
      const T own = rows.value(i);
      const T value = others.value(sampled_row(other.row, others.rows));
      to[place] =
          entry::make(is_right ? scorer.image_of(own, value) : scorer.image_of(value, own), static_cast<u32>(place));
      ++place;
    });
  }

 private:
  template <class Use>
  ZENITH_FN void each_candidate(const T (&at)[D], const Use& use) const {
    grid.each_range(at, [&](u32 first, u32 end) ZENITH_BODY {
      const u32 last = starts[end];
      for (u32 r = starts[first]; r < last; ++r) use(samples[r]);
    });
  }
};

namespace detail {

/// What pairs of all rows of the smaller side with samples of the larger one say of a bound that `wanted` pairs reach.
/// One row with most of the partners is on the smaller side, or samples of the larger one find it hardly ever.
template <class T>
struct sampled_bound {
  bool has_pairs;            ///< otherwise it says nothing
  ordered::bits_t<T> image;  ///< 0: hardly so many pairs are there
};

template <class T, unsigned D, class Context>
[[nodiscard]] sampled_bound<T> bound_of_sampled_pairs(Context& on, join_input<T, D> input,
                                                      const side_samples<T, D, Context>& samples,
                                                      const pair_scorer<T>& scorer, double wanted) {
  using kernel = join_samples<T, D>;
  using entry = typename kernel::entry;
  constexpr u64 capacity = u64{1} << 16;
  // samples that crowd here and there are in few cells even if there are many more cells than samples
  constexpr u64 cells_for = u64{1} << 15;
  const bool is_right = input.left.rows <= input.right.rows;
  const auto rows = is_right ? input.left : input.right;
  const auto others = is_right ? input.right : input.left;
  if (!is_right) {
    for (unsigned c = 0; c < most_side_columns; ++c) {
      input.known.least[most_side_columns + c] = input.known.least[c];
      input.known.greatest[most_side_columns + c] = input.known.greatest[c];
    }
  }
  input.right = samples.places(is_right);
  const u64 count = input.right.rows;
  const auto grid = make_side_grid(on, input, cells_for);
  auto* const points = on.template buffer<packed_point<T, D, false>>(count);
  const auto* const starts =
      order_by_cells(on, point_list<T, D, false>{input.right}, count, grid, ordered_points<T, D, false>{points}, {});
  entry* const entries = on.template buffer<entry>(capacity);
  entry* const last = on.template buffer<entry>(1);
  u64* const found = on.template zeroed<u64>(1);
  on.for_each(rows.rows, kernel{rows, others, is_right, points, starts, grid, scorer, entries, found, capacity});
  const u64 near = on.read(static_cast<const u64*>(found));
  if (near == 0) return {false, 0};
  const u64 held = std::min(near, capacity);
  const double of_one = static_cast<double>(others.rows) / static_cast<double>(count) * static_cast<double>(near) /
                        static_cast<double>(held);
  // as far beyond the rank that is expected as chance may put it
  const double expected = wanted / of_one;
  const double rank = std::max(1.0, std::ceil(expected + 2 * std::sqrt(expected)));
  if (rank > static_cast<double>(held)) return {true, 0};
  on.kth_best(entries, held, static_cast<u64>(rank), last);
  return {true, on.read(static_cast<const entry*>(last)).image()};
}

}  // namespace detail

}  // namespace zenith::spatial_join_family

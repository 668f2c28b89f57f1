#pragma once

/// \file
/// The caller's table, row by row, for hosts: no image of it is kept. A kernel takes some rows, gathers a column's
/// values and makes their images in two loops, of which the second is one that compilers vectorise.

#include <type_traits>

#include <algorithms/skyline/grid.hpp>
#include <algorithms/skyline/image_lanes.hpp>
#include <algorithms/skyline/images.hpp>
#include <algorithms/skyline/points.hpp>
#include <core/key_order.hpp>

namespace zenith::skyline_family {

inline constexpr u32 most_columns = 64;  ///< a column of preference `different` becomes two

/// The images that `write_images` writes, on demand.
template <class T>
struct row_source {
  using image = ordered::bits_t<T>;

  const T* column[most_given_columns];
  u64 row_stride;
  u64 rows;
  u32 given_columns;
  u32 columns;     ///< of images
  u32 maximised;   ///< a bit a given column
  u32 different;   ///< a bit a given column
  u64 complement;  ///< a bit an image
  u8 given[most_columns];

  ZENITH_FN ordered::key_order<T> order(u32 c) const { return {((maximised >> given[c]) & 1) == 0, false}; }
  ZENITH_FN image flip(u32 c) const { return ((complement >> c) & 1) != 0 ? image{0} : static_cast<image>(~image{0}); }
  ZENITH_FN image at(u64 row, u32 c) const {
    return static_cast<image>(order(c).image(column[given[c]][row * row_stride]) ^ flip(c));
  }
  /// Images of the rows row(0) … row(n - 1) in column c, by way of `raw`.
  template <class Team, class Row>
  ZENITH_FN void convert(Team& team, u32 c, u64 n, const Row& row, T* raw, image* to) const {
    const T* const from = column[given[c]];
    const u64 stride = row_stride;
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY { raw[i] = from[row(i) * stride]; });
    team.barrier();
    const auto by = order(c);
    const image flipped = flip(c);
    team.for_each(n, [&](u64 i) ZENITH_BODY { to[i] = static_cast<image>(by.image(raw[i]) ^ flipped); });
    team.barrier();
  }
};

/// Rows that a team takes at a time.
inline constexpr u32 row_tile = 128;

/// What brings a column's numbers to [0, 1], better ones first: (number - origin) * factor.
struct column_scale {
  float origin;
  float factor;  ///< 0: the column says nothing
};

/// Scales of columns of the table by the range of a sample, so that in a sum of several all count.
template <class T>
struct find_scales {
  static constexpr u64 samples = 1024;
  static constexpr u64 item_cost = samples * 64;
  static constexpr float most = 3e38F;

  row_source<T> from;
  column_scale* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 c) const {
    const u64 n = from.rows < samples ? from.rows : samples;
    const float low = team.reduce(
        n, most,
        [&](u64 i) ZENITH_BODY {
          const float value = sample(c, i * from.rows / n);
          return value > -most ? value : most;
        },
        [](float a, float b) ZENITH_BODY { return b < a ? b : a; });
    const float high = team.reduce(
        n, -most,
        [&](u64 i) ZENITH_BODY {
          const float value = sample(c, i * from.rows / n);
          return value < most ? value : -most;
        },
        [](float a, float b) ZENITH_BODY { return a < b ? b : a; });
    const bool is_used = low < high && ((from.different >> c) & 1) == 0;
    const float factor = is_used ? 1 / (high - low) : 0;
    const bool is_maximised = ((from.maximised >> c) & 1) != 0;
    team.once([&]() ZENITH_BODY { to[c] = is_maximised ? column_scale{high, -factor} : column_scale{low, factor}; });
  }

 private:
  ZENITH_FN float sample(u64 c, u64 row) const { return static_cast<float>(from.column[c][row * from.row_stride]); }
};

/// Pivots: of each stripe of rows, that whose scaled values have the smallest sum. Sums of images, which grow with
/// logarithms of the values, or half of the pivots by the smallest maximum (SkyAlign, section 5.1), leave several times
/// as many rows of the standard points.
template <class T>
struct find_pivots {
  static constexpr u32 scratch_bytes = row_tile * 4;
  static constexpr u64 item_cost = u64{1} << 18;

  row_source<T> from;
  const column_scale* scales;
  u64 step;            ///< every so many-th row is looked at
  bool goes_by_tiles;  ///< for compilers to vectorise; else a lane adds up a row, without barriers
  u64* pivots;         ///< the sum, and the row; ~0: the stripe has none

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 p) const {
    const u64 begin = from.rows * p / pivot_count;
    const u64 end = from.rows * (p + 1) / pivot_count;
    float* const sums = team.template scratch<float>();
    const auto less = [](u64 a, u64 b) ZENITH_BODY { return b < a ? b : a; };
    u64 best = ~u64{0};
    if (!goes_by_tiles) {
      best = team.reduce((end - begin + step - 1) / step, ~u64{0},
                         [&](u64 i) ZENITH_BODY {
                           const u64 row = begin + i * step;
                           float sum = 0;
                           for (u32 c = 0; c < from.given_columns; ++c) {
                             sum += scaled(from.column[c][row * from.row_stride], scales[c]);
                           }
                           return key(sum, row);
                         },
                         less);
    }
    for (u64 first = begin; goes_by_tiles && first < end; first += row_tile * step) {
      const u64 left = (end - first + step - 1) / step;
      const u64 n = left < row_tile ? left : row_tile;
      team.barrier();
      team.for_each(n, [&](u64 i) ZENITH_BODY { sums[i] = 0; });
      for (u32 c = 0; c < from.given_columns; ++c) {
        const T* const column = from.column[c] + first * from.row_stride;
        const u64 stride = step * from.row_stride;
        const column_scale scale = scales[c];
        if (scale.factor == 0) continue;
        team.barrier();
        team.for_each(n, [&](u64 i) ZENITH_BODY { sums[i] += scaled(column[i * stride], scale); });
      }
      team.barrier();
      const u64 here = team.reduce(
          n, ~u64{0}, [&](u64 i) ZENITH_BODY { return key(sums[i], first + i * step); }, less);
      best = here < best ? here : best;
    }
    team.once([&]() ZENITH_BODY { pivots[p] = best; });
  }

 private:
  ZENITH_FN static float scaled(T value, const column_scale& by) {
    return (static_cast<float>(value) - by.origin) * by.factor;
  }
  ZENITH_FN static u64 key(float sum, u64 row) {
    if (!(sum < 1e30F)) return ~u64{0};  // nor NaN
    const ordered::key_order<float> order{true, false};
    return u64{static_cast<u32>(~order.image(sum))} << 32 | row;
  }
};

/// The pivots' rows by rising sums.
struct rank_pivots {
  static constexpr u64 item_cost = pivot_count * 8;

  const u64* pivots;
  u32* to;  ///< ~0: none

  ZENITH_FN void operator()(u64 i) const {
    u32 rank = 0;
    for (u64 other = 0; other < pivot_count; ++other) {
      rank += pivots[other] < pivots[i] || (pivots[other] == pivots[i] && other < i) ? 1U : 0U;
    }
    to[rank] = static_cast<u32>(pivots[i]);
  }
};

/// Values of the pivots, row by row. Where there is none, the worst point, which dominates nothing.
template <class T>
struct gather_row_pivots {
  row_source<T> from;
  const u32* pivots;
  bool drops_nan;
  typename row_source<T>::image* to;

  ZENITH_FN void operator()(u64 i) const {
    using image = typename row_source<T>::image;
    const u32 row = pivots[i / from.columns];
    bool is_used = row != u32(~u32{0});
    for (u32 c = 0; c < from.given_columns && is_used && drops_nan; ++c) {
      const T value = from.column[c][row * from.row_stride];
      is_used = value == value;
    }
    to[i] = is_used ? from.at(row, static_cast<u32>(i % from.columns)) : static_cast<image>(~image{0});
  }
};

/// Which of some rows in columns, `stride` apart, no pivot dominates: a lane for each.
template <class Image>
struct pivot_test {
  static constexpr u32 lanes = image_lanes<Image>::count;
  static constexpr u32 exit_step = 4;  // columns after which rows are asked for that a pivot may still dominate

  const Image* pivots;
  u32 columns;

  /// By pivots [first, end).
  ZENITH_FN void run(u32 first, u32 end, const Image* rows, u64 stride, u8* removed) const {
#if defined(ZENITH_SKYLINE_PLAIN_LANES)
    for (u32 lane = 0; lane < lanes; ++lane) {
      for (u32 p = first; p < end && removed[lane] == 0; ++p) {
        bool reaches = true;
        bool is_equal = true;
        for (u32 c = 0; c < columns && reaches; ++c) {
          const Image value = rows[c * stride + lane];
          reaches = pivots[p * columns + c] <= value;
          is_equal = is_equal && pivots[p * columns + c] == value;
        }
        if (reaches && !is_equal) removed[lane] = 1;
      }
    }
#else
    using vector = typename image_lanes<Image>::vector;
    vector open{};
    for (u32 lane = 0; lane < lanes; ++lane) open[lane] = removed[lane] == 0 ? static_cast<Image>(~Image{0}) : Image{0};
    for (u32 p = first; p < end && has_bits(open); ++p) {
      vector reached = open;
      vector differs = open ^ open;
      for (u32 c = 0; c < columns; ++c) {
        vector value;
        __builtin_memcpy(&value, rows + c * stride, sizeof(value));
        const vector pivot = (open ^ open) + pivots[p * columns + c];
        reached &= (vector)(pivot <= value);
        differs |= pivot ^ value;
        if (c % exit_step == exit_step - 1 && !has_bits(reached)) break;
      }
      open &= ~(reached & (vector)(differs != 0));
    }
    for (u32 lane = 0; lane < lanes; ++lane) removed[lane] = open[lane] == 0 ? 1 : 0;
#endif
  }
};

/// Marks rows that a pivot dominates, and those with a NaN that are dropped.
template <class T>
struct test_rows {
  using image = typename row_source<T>::image;
  static constexpr u32 images_bytes = most_columns * row_tile * sizeof(image);
  static constexpr u32 scratch_bytes = images_bytes + row_tile * 8;
  static constexpr u64 item_cost = row_tile * 64;

  row_source<T> from;
  const image* pivots;  ///< nullptr: none
  bool drops_nan;
  u64* nan_at;  ///< lowered to the lowest row * 32 + column with a NaN
  u8* removed;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = from.rows - first < row_tile ? from.rows - first : row_tile;
    image* const images = team.template scratch<image>();
    T* const raw = team.template scratch<T>(images_bytes);
    u8* const out = removed + first;
    team.for_each(n, [&](u64 i) ZENITH_BODY { out[i] = 0; });
    for (u32 c = 0; c < from.columns; ++c) {
      image* const column = images + c * row_tile;
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return first + i; }, raw, column);
      if constexpr (std::is_floating_point_v<T>) {
        constexpr image of_nan = static_cast<image>(~image{0});
        if (((from.complement >> c) & 1) == 0 && team.any(n, [&](u64 i) ZENITH_BODY { return column[i] == of_nan; })) {
          team.for_each(n, [&](u64 i) ZENITH_BODY {
            if (column[i] != of_nan) return;
            (void)device::atomic_min(nan_at, (first + i) * most_given_columns + from.given[c]);
            if (drops_nan) out[i] = 1;
          });
        }
      }
    }
    if (pivots == nullptr) return;
    team.barrier();
    // what is dominated is mostly so by one of the first; then the others have lanes of their own
    u8* const states = team.template scratch<u8>(images_bytes);
    u8* const places = states + row_tile;
    team.for_each(row_tile, [&](u64 i) ZENITH_BODY {
      states[i] = i < n ? out[i] : u8{1};
      places[i] = static_cast<u8>(i);
    });
    u32 count = static_cast<u32>(n);
    u32 first_pivot = 0;
    for (u32 stage = 0; stage < 3; ++stage) {
      const u32 end = stage == 0 ? 4 : stage == 1 ? 16 : pivot_count;
      team.barrier();
      test(team, first_pivot, end, images, count, states);
      team.barrier();
      team.for_each(count, [&](u64 i) ZENITH_BODY {
        if (states[i] != 0) out[places[i]] = 1;
      });
      first_pivot = end;
      if (end < pivot_count) count = keep_open(team, images, count, states, places);
    }
  }

 private:
  template <class Team>
  ZENITH_FN void test(Team& team, u32 first_pivot, u32 end, const image* images, u64 count, u8* states) const {
    constexpr u32 lanes = pivot_test<image>::lanes;
    const pivot_test<image> by{pivots, from.columns};
    team.for_each((count + lanes - 1) / lanes, [&](u64 g) ZENITH_BODY {
      by.run(first_pivot, end, images + g * lanes, row_tile, states + g * lanes);
    });
  }

  /// Moves open rows to the front; returns how many they are.
  template <class Team>
  ZENITH_FN u32 keep_open(Team& team, image* images, u32 count, u8* states, u8* places) const {
    u32* const kept = team.template scratch<u32>(images_bytes + 2 * row_tile);
    team.barrier();
    team.once([&]() ZENITH_BODY {
      u32 found = 0;
      u32 picked[row_tile];
      for (u32 i = 0; i < count; ++i) {
        picked[found] = i;
        found += states[i] == 0 ? 1 : 0;
      }
      for (u32 i = 0; i < found; ++i) places[i] = places[picked[i]];
      for (u32 c = 0; c < from.columns; ++c) {
        image* const column = images + c * row_tile;
        for (u32 i = 0; i < found; ++i) column[i] = column[picked[i]];
      }
      for (u32 i = 0; i < count; ++i) states[i] = i < found ? u8{0} : u8{1};
      *kept = found;
    });
    team.barrier();
    return *kept;
  }
};

/// Every so many-th row's images, column by column (`draw_cut_samples`).
template <class T>
struct draw_row_samples {
  row_source<T> from;
  const u32* left;
  u64 count;
  u32 samples;
  typename row_source<T>::image* to;
  u32* unused;

  ZENITH_FN void operator()(u64 i) const {
    to[i] = from.at(left[i % samples * count / samples], static_cast<u32>(i / samples));
    unused[i] = 0;
  }
};

/// What rows are ordered by: all of it in one key where that fits, else its parts from the last to the first.
enum class row_key : u8 { all, low_sum, high_sum, cell };

template <class T>
struct write_row_keys {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = row_tile * 40;
  static constexpr u64 item_cost = row_tile * 64;

  row_source<T> from;
  const u32* left;
  u64 count;
  const image* cuts;
  u32 buckets;
  row_key which;
  u64* keys;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = count - first < row_tile ? count - first : row_tile;
    T* const raw = team.template scratch<T>();
    image* const images = team.template scratch<image>(row_tile * 8);
    u64* const high = team.template scratch<u64>(row_tile * 16);
    u64* const low = team.template scratch<u64>(row_tile * 24);
    u32* const median = team.template scratch<u32>(row_tile * 32);
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      high[i] = 0;
      low[i] = 0;
      median[i] = 0;
    });
    constexpr unsigned low_bits = exact_sum<image>::low_bits;
    for (u32 c = 0; c < from.columns; ++c) {
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return u64{left[first + i]}; }, raw, images);
      team.for_each(n, [&](u64 i) ZENITH_BODY { high[i] += images[i] >> low_bits; });
      if (low_bits > 0) team.for_each(n, [&](u64 i) ZENITH_BODY { low[i] += images[i] & ((u64{1} << low_bits) - 1); });
      if (c >= most_ordering_columns) continue;
      if (cuts == nullptr) continue;
      const image cut = cuts[c * buckets + buckets / 2];
      team.for_each(n, [&](u64 i) ZENITH_BODY { median[i] |= (cut <= images[i] ? 1U : 0U) << c; });
    }
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const u64 bits = bits_in(median[i]);
      const u64 rank = gray_rank(median[i]);
      keys[first + i] = which == row_key::all        ? (bits << 58) | (rank << sum_bits) | high[i]
                        : which == row_key::low_sum  ? low[i]
                        : which == row_key::high_sum ? high[i]
                                                     : (bits << 32) | rank;
    });
  }
};

/// Images of points whose rows are known.
template <class T>
struct place_row_values {
  using image = typename row_source<T>::image;
  static constexpr u32 scratch_bytes = row_tile * 16;
  static constexpr u64 item_cost = row_tile * 128;

  row_source<T> from;
  u64 count;
  point_set<image> to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * row_tile;
    const u64 n = count - first < row_tile ? count - first : row_tile;
    T* const raw = team.template scratch<T>();
    image* const images = team.template scratch<image>(row_tile * 8);
    for (u32 c = 0; c < from.columns; ++c) {
      from.convert(
          team, c, n, [&](u64 i) ZENITH_BODY { return u64{to.rows[first + i]}; }, raw, images);
      image* const column = to.values + first * to.step + c * to.stride;
      team.for_each(n, [&](u64 i) ZENITH_BODY { column[i * to.step] = images[i]; });
    }
  }
};

template <class... T>
using row_source_kernels =
    device::concat<device::list<find_scales<T>, find_pivots<T>, gather_row_pivots<T>, test_rows<T>, draw_row_samples<T>,
                                write_row_keys<T>, place_row_values<T>>...>;

}  // namespace zenith::skyline_family

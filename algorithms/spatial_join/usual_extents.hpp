#pragma once

/// \file
/// Where most points of a side lie, as some of them say: a few far ones are left out, even if they are among these.

#include <algorithms/spatial_join/extents.hpp>

namespace zenith::spatial_join_family {

/// Samples are taken in groups, whose least and greatest coordinates say what is usual.
inline constexpr u32 sample_group = 8;
inline constexpr u32 most_sample_groups = most_place_samples / sample_group;

/// Groups for a side of so many rows.
ZENITH_FN u32 sample_groups(u64 rows) {
  return rows < most_place_samples ? static_cast<u32>((rows + sample_group - 1) / sample_group) : most_sample_groups;
}
/// The row of sample i of so many groups: of few rows each, the last one more than once.
ZENITH_FN u64 grouped_row(u64 i, u64 rows) {
  if (rows > most_place_samples) return sampled_row(i, rows);
  return i < rows ? i : rows - 1;
}

/// Whether at most a part of n numbers, a half where `part` is 2, is less than one of them. The greatest such number is
/// a quantile: their median.
template <class T>
ZENITH_FN bool is_in_lower_part(const T* numbers, u32 n, u32 part, T one) {
  ordered::bits_t<T> less = 0;  // as wide as a number: compilers vectorise the loop
  for (u32 i = 0; i < n; ++i) less += numbers[i] < one ? 1 : 0;
  return less <= n / part;
}

/// Two ends on an axis.
template <class T>
struct axis_ends {
  T low;
  T high;
};

/// Of groups of samples on an axis.
template <class T>
struct group_extent {
  axis_ends<T> all;
  axis_ends<T> mean;
};

/// What samples of a side say of its extents.
template <class T, unsigned D>
struct sampled_extents {
  side_extents<T, D> all;    ///< of all samples
  side_extents<T, D> usual;  ///< of most of them
};

/// Usual is, of the least and the greatest of each group, what lies no farther from the extent between their medians,
/// where five sixths of evenly spread points lie, than that is long. All samples are usual where their extent is at
/// most twice as long as that between the means. get(a, i): coordinate a of sample i. `scratch`: 2 * most_sample_groups
/// numbers for each axis.
template <class T, unsigned D, class Team, class Get>
ZENITH_FN sampled_extents<T, D> extents_of_samples(Team& team, u32 groups, T* scratch, const Get& get) {
  constexpr T most = greatest_number<T>;
  constexpr T far = 2;
  team.for_each(u64{D} * groups, [&](u64 item) ZENITH_BODY {
    const u32 a = static_cast<u32>(item) / groups;
    const u32 g = static_cast<u32>(item) % groups;
    T low = get(a, g * sample_group);
    T high = low;
    for (u32 i = 1; i < sample_group; ++i) {
      const T x = get(a, g * sample_group + i);
      low = x < low ? x : low;
      high = high < x ? x : high;
    }
    scratch[2 * a * most_sample_groups + g] = low;
    scratch[(2 * a + 1) * most_sample_groups + g] = high;
  });
  team.barrier();
  using extent = group_extent<T>;
  const T part = T{1} / static_cast<T>(groups);
  sampled_extents<T, D> found;
  for (unsigned a = 0; a < D; ++a) {
    const T* const least = scratch + 2 * a * most_sample_groups;
    const T* const greatest = least + most_sample_groups;
    const auto [all, mean] = team.reduce(
        groups, extent{{most, -most}, {0, 0}},
        [&](u64 g) ZENITH_BODY {
          return extent{{least[g], greatest[g]}, {least[g] * part, greatest[g] * part}};
        },
        [](const extent& x, const extent& y) ZENITH_BODY {
          return extent{
              {x.all.low < y.all.low ? x.all.low : y.all.low, x.all.high < y.all.high ? y.all.high : x.all.high},
              {x.mean.low + y.mean.low, x.mean.high + y.mean.high}};
        });
    found.all.low[a] = found.usual.low[a] = all.low;
    found.all.high[a] = found.usual.high[a] = all.high;
    if (all.high - all.low <= far * (mean.high - mean.low)) continue;
    const axis_ends<T> medians = team.reduce(
        groups, axis_ends<T>{-most, -most},
        [&](u64 g) ZENITH_BODY {
          return axis_ends<T>{is_in_lower_part(least, groups, 2, least[g]) ? least[g] : -most,
                              is_in_lower_part(greatest, groups, 2, greatest[g]) ? greatest[g] : -most};
        },
        [](const axis_ends<T>& x, const axis_ends<T>& y) ZENITH_BODY {
          return axis_ends<T>{x.low < y.low ? y.low : x.low, x.high < y.high ? y.high : x.high};
        });
    const T length = medians.high - medians.low;
    const T lowest = medians.low - length;
    const T highest = medians.high + length;
    const axis_ends<T> usual = team.reduce(
        groups, axis_ends<T>{most, -most},
        [&](u64 g) ZENITH_BODY {
          return axis_ends<T>{least[g] < lowest ? most : least[g], greatest[g] > highest ? -most : greatest[g]};
        },
        [](const axis_ends<T>& x, const axis_ends<T>& y) ZENITH_BODY {
          return axis_ends<T>{x.low < y.low ? x.low : y.low, x.high < y.high ? y.high : x.high};
        });
    found.usual.low[a] = usual.low;
    found.usual.high[a] = usual.high;
  }
  return found;
}

/// Usual extents of one side or of two.
template <class T, unsigned D>
struct find_usual_extents {
  static constexpr u32 scratch_bytes = 2 * D * most_sample_groups * sizeof(T);

  point_columns<T, D> side[2];
  side_extents<T, D>* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 s) const {
    const auto usual = of(team, static_cast<u32>(s));
    team.once([&]() ZENITH_BODY { to[s] = usual; });
  }
  template <class Team>
  ZENITH_FN side_extents<T, D> of(Team& team, u32 s) const {
    const auto& from = side[s];
    const auto get = [&](u32 a, u32 i) ZENITH_BODY { return from.at[a][grouped_row(i, from.rows)]; };
    return extents_of_samples<T, D>(team, sample_groups(from.rows), team.template scratch<T>(), get).usual;
  }
};

}  // namespace zenith::spatial_join_family

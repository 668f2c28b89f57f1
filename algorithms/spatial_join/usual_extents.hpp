#pragma once

/// \file
/// Where most points of a side lie, as some of them say: a few far ones are left out, even if they are among these.

#include <algorithms/spatial_join/geometry.hpp>

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

/// So many samples look for the nearest one.
inline constexpr u32 most_asked = 128;

/// The square of how far it is from a place to the nearest one that is another: coordinate a of place j at
/// places[a * most_place_samples + j].
template <class T, unsigned D>
ZENITH_FN T nearest_place(const T (&from)[D], const T* places, u32 count) {
  // the bits of a number that is not negative rise with it; compilers make vectors of integers' minima; 0 comes last
  using key = ordered::key_order<T>;
  ordered::bits_t<T> least = key::bits(greatest_number<T>) - 1;
  for (u32 j = 0; j < count; ++j) {
    T sum = 0;
    for (unsigned a = 0; a < D; ++a) {
      const T x = from[a] - places[a * most_place_samples + j];
      sum += x * x;
    }
    const ordered::bits_t<T> before = key::bits(sum) - 1;
    least = before < least ? before : least;
  }
  return key::from_bits(least + 1);
}

/// Of the nearest places of query(0) … query(asked - 1). `squared`: as many numbers.
template <class T, unsigned D, class Team, class Query>
ZENITH_FN nearest_squares<T> nearest_of(Team& team, u32 asked, const Query& query, const T* places, u32 count,
                                        T* squared) {
  team.for_each(asked, [&](u64 i) ZENITH_BODY {
    T from[D];
    for (unsigned a = 0; a < D; ++a) from[a] = query(a, static_cast<u32>(i));
    squared[i] = nearest_place<T, D>(from, places, count);
  });
  team.barrier();
  const auto part_of = [&](u64 i, u32 part) ZENITH_BODY {
    return is_in_lower_part(squared, asked, part, squared[i]) ? squared[i] : T{0};
  };
  using squares = nearest_squares<T>;
  return team.reduce(
      asked, squares{0, 0},
      [&](u64 i) ZENITH_BODY {
        return squares{part_of(i, 8), part_of(i, 2)};
      },
      [](const squares& a, const squares& b) ZENITH_BODY {
        return squares{a.eighth < b.eighth ? b.eighth : a.eighth, a.middle < b.middle ? b.middle : a.middle};
      });
}

/// What samples of a side say of a grid over its points.
template <class T, unsigned D>
struct find_places {
  static constexpr u32 scratch_bytes = (D * most_place_samples + most_asked) * sizeof(T);
  static_assert(2 * most_sample_groups <= most_place_samples);

  point_columns<T, D> side;
  sampled_places<T, D>* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    const auto found = of(team);
    team.once([&]() ZENITH_BODY { *to = found; });
  }
  template <class Team>
  ZENITH_FN sampled_places<T, D> of(Team& team) const {
    T* const places = team.template scratch<T>();
    const u32 groups = sample_groups(side.rows);
    const u32 count = groups * sample_group;
    const auto row = [&](u32 i) ZENITH_BODY { return grouped_row(i, side.rows); };
    sampled_places<T, D> found;
    found.usual = extents_of_samples<T, D>(team, groups, places, [&](u32 a, u32 i) ZENITH_BODY {
                    return side.at[a][row(i)];
                  }).usual;
    team.barrier();
    team.for_each(count, [&](u64 i) ZENITH_BODY {
      for (unsigned a = 0; a < D; ++a) places[a * most_place_samples + i] = side.at[a][row(static_cast<u32>(i))];
    });
    team.barrier();
    // of few rows fewer, so that all of it takes less time than a join
    constexpr u32 least_asked = 16;
    const u64 share = 4 * side.rows / (count + 1);
    const u32 some = share < most_asked ? static_cast<u32>(share) : most_asked;
    const u32 wanted = some < least_asked ? least_asked : some;
    const u32 asked = count < wanted ? count : wanted;
    found.nearest = nearest_of<T, D>(
        team, asked, [&](u32 a, u32 i) ZENITH_BODY { return places[a * most_place_samples + i]; }, places, count,
        places + D * most_place_samples);
    found.count = count;
    return found;
  }
};

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

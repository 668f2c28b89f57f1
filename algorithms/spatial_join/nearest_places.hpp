#pragma once

/// \file
/// How far samples are from each other.

#include <algorithms/spatial_join/density.hpp>
#include <algorithms/spatial_join/usual_extents.hpp>

namespace zenith::spatial_join_family {

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

}  // namespace zenith::spatial_join_family

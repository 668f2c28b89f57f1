#pragma once

/// \file
/// The first round of threshold_first on a device, as turns of one launch: what both sides are, and a bound that
/// follows from it. The points that can reach the bound are picked and joined by the turns of chains.hpp. So the host
/// asks once, when all is done.

#include <cmath>

#include <algorithms/spatial_join/geometry.hpp>
#include <algorithms/spatial_join/nearest_places.hpp>
#include <algorithms/spatial_join/samples.hpp>
#include <algorithms/spatial_join/usual_extents.hpp>
#include <core/device/bisect.hpp>

namespace zenith::spatial_join_family {

/// What a first round knows: zeros at first.
template <class T, unsigned D>
struct round_state {
  using image = ordered::bits_t<T>;

  image turned[most_all_columns];  ///< complements of the least values
  image greatest[most_all_columns];
  u32 near;              ///< pairs of samples
  picked_counts picked;  ///< points that reach the limits; more than `most` are only counted
  u32 found;             ///< pairs that reach the bound; more than the pool's capacity are only counted
  u32 is_crowded;        ///< a point has so many candidates that chains are too slow: pairs are missing
  image bound;           ///< 0: there is none, and nothing is picked
  picked_counts most;    ///< points that may be picked
  T limit[2];            ///< of values of the left and the right side
  alignas(16) side_extents<T, D> usual_left;  // copied at once
  alignas(16) side_extents<T, D> usual_right;
  nearest_squares<T> nearest;  ///< of left samples
  double near_share;           ///< of all pairs, as guessed
  cell_grid<T, D> grid;

  [[nodiscard]] ZENITH_FN column_extremes<T> known() const {
    column_extremes<T> all;
    for (u32 c = 0; c < most_all_columns; ++c) {
      all.least[c] = ~turned[c];
      all.greatest[c] = greatest[c];
    }
    return all;
  }
};

/// A picked point; of the right side in the chain of its cell. Aligned, so that one load brings it.
template <class T, unsigned D>
struct alignas(16) chained_point {
  T at[D];
  T value;
  u32 next;  ///< place + 1; 0: none
};

/// Where pairs go.
template <class T>
struct round_pool {
  ordered::bits_t<T>* images;
  u64* pairs;
  ordered::entry64* entries;  ///< nullptr: none are wanted
  u32 capacity;
};

/// What all turns are given.
template <class T, unsigned D>
struct round_plan {
  using image = ordered::bits_t<T>;

  point_columns<T, D> side[2];  ///< left and right
  pair_scorer<T> scorer;
  T squared;
  T reach;
  double pairs;  ///< of a left and a right row
  double goal;   ///< pairs that a bound is to take; 0: there is to be none
  u32 samples[2];
  picked_counts capacity;  ///< of `points`
  u32 most_cells;
  image* images;  ///< of samples in rising order, those of the left side first
  u32* heads;     ///< of each cell: place + 1 of the first point of its chain; 0: none
  chained_point<T, D>* points[2];
  u32* rows[2];  ///< of the points
  round_pool<T> pool;
  round_state<T, D>* state;
};

/// The first turn: extremes of all columns, usual extents, samples in order, near and nearest samples, empty cells. A
/// team has a part of one of these.
template <class T, unsigned D>
struct learn_sides {
  using image = ordered::bits_t<T>;
  static constexpr u32 part = 4096;
  static constexpr u32 cell_part = 8192;
  static constexpr u32 near_lefts = 32;
  static constexpr u64 item_cost = part * sizeof(T);
  static constexpr u32 sorted_bytes = most_score_samples * sizeof(image);
  static constexpr u32 place_bytes = find_places<T, D>::scratch_bytes;
  static_assert((near_lefts + most_place_samples) * D * sizeof(T) <= place_bytes);
  static constexpr u32 scratch_bytes = sorted_bytes > place_bytes ? sorted_bytes : place_bytes;
  static_assert(find_usual_extents<T, D>::scratch_bytes <= scratch_bytes);

  round_plan<T, D> plan;

  [[nodiscard]] ZENITH_FN u64 near_teams() const { return (places(0) + near_lefts - 1) / near_lefts; }
  [[nodiscard]] ZENITH_FN u64 parts(u32 s) const { return (plan.side[s].rows + part - 1) / part; }
  [[nodiscard]] ZENITH_FN u64 teams() const {
    return 5 + near_teams() + (parts(0) + parts(1)) * (D + 1) + (plan.most_cells + cell_part - 1) / cell_part;
  }

  /// What takes longest goes first.
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    if (t < 2) return sort_samples(team, static_cast<u32>(t));
    t -= 2;
    if (t < 2) return find_usual(team, static_cast<u32>(t));
    t -= 2;
    if (t == 0) return find_nearest(team);
    t -= 1;
    if (t < near_teams()) return count_near(team, static_cast<u32>(t) * near_lefts);
    t -= near_teams();
    for (u32 s = 0; s < 2; ++s) {
      if (t < parts(s) * (D + 1)) return find_extremes(team, s, static_cast<u32>(t / parts(s)), t % parts(s) * part);
      t -= parts(s) * (D + 1);
    }
    const u64 begin = t * cell_part;
    const u64 n = plan.most_cells - begin < cell_part ? plan.most_cells - begin : cell_part;
    team.for_each(n, [&](u64 i) ZENITH_BODY { plan.heads[begin + i] = 0; });
  }

 private:
  struct extent {
    image least;
    image greatest;
  };

  [[nodiscard]] ZENITH_FN u32 places(u32 s) const {
    return plan.samples[s] < most_place_samples ? plan.samples[s] : most_place_samples;
  }

  template <class Team>
  ZENITH_FN void find_usual(Team& team, u32 s) const {
    const auto usual = find_usual_extents<T, D>{{plan.side[0], plan.side[1]}, nullptr}.of(team, s);
    team.once([&]() ZENITH_BODY { (s == 0 ? plan.state->usual_left : plan.state->usual_right) = usual; });
  }

  template <class Team>
  ZENITH_FN void sort_samples(Team& team, u32 s) const {
    const auto& from = plan.side[s];
    const ordered::key_order<T> order{plan.scorer.smallest, false};
    image* const values = team.template scratch<image>();
    const u32 count = plan.samples[s];
    u32 all = 1;
    while (all < count) all *= 2;
    team.for_each(all, [&](u64 i) ZENITH_BODY {
      values[i] = i < count ? order.image(from.value(sampled_row(i, from.rows))) : static_cast<image>(~image{0});
    });
    team.barrier();
    for (u32 run = 2; run <= all; run *= 2) {
      for (u32 stride = run / 2; stride > 0; stride /= 2) {
        team.for_each(all / 2, [&](u64 i) ZENITH_BODY {
          const auto low = static_cast<u32>(2 * i - (i & (stride - 1)));
          const image a = values[low];
          const image b = values[low + stride];
          const bool rises = (low & run) == 0;
          if (rises ? b < a : a < b) {
            values[low] = b;
            values[low + stride] = a;
          }
        });
        team.barrier();
      }
    }
    image* const to = plan.images + (s == 0 ? 0 : plan.samples[0]);
    team.for_each(count, [&](u64 i) ZENITH_BODY { to[i] = values[i]; });
  }

  // Of left samples from `first` on and all right ones.
  template <class Team>
  ZENITH_FN void count_near(Team& team, u32 first) const {
    const u32 rights = places(1);
    const u32 lefts = places(0) - first < near_lefts ? places(0) - first : near_lefts;
    T* const left = team.template scratch<T>();
    T* const right = left + near_lefts * D;
    team.for_each(rights, [&](u64 i) ZENITH_BODY { copy_place(1, i, right + i * D); });
    team.for_each(lefts, [&](u64 i) ZENITH_BODY { copy_place(0, first + i, left + i * D); });
    team.barrier();
    cell_grid<T, D> grid{};
    grid.squared = plan.squared;
    const u32 found = team.reduce(
        rights, u32{0},
        [&](u64 j) ZENITH_BODY {
          u32 near = 0;
          T b[D];
          for (unsigned c = 0; c < D; ++c) b[c] = right[j * D + c];
          for (u32 i = 0; i < lefts; ++i) {
            T a[D];
            for (unsigned c = 0; c < D; ++c) a[c] = left[i * D + c];
            near += grid.is_near(a, b) ? 1 : 0;
          }
          return near;
        },
        [](u32 a, u32 b) ZENITH_BODY { return a + b; });
    team.once([&]() ZENITH_BODY {
      if (found > 0) (void)device::atomic_add(&plan.state->near, found);
    });
  }
  template <class Team>
  ZENITH_FN void find_nearest(Team& team) const {
    const u32 rights = this->places(1);
    const u32 asked = this->places(0) < most_asked ? this->places(0) : most_asked;
    T* const places = team.template scratch<T>();
    team.for_each(rights, [&](u64 i) ZENITH_BODY {
      T one[D];
      copy_place(1, i, one);
      for (unsigned a = 0; a < D; ++a) places[a * most_place_samples + i] = one[a];
    });
    team.barrier();
    const auto query = [&](u32 a, u32 i) ZENITH_BODY { return plan.side[0].at[a][sampled_row(i, plan.side[0].rows)]; };
    const auto found = nearest_of<T, D>(team, asked, query, places, rights, places + D * most_place_samples);
    team.once([&]() ZENITH_BODY { plan.state->nearest = found; });
  }
  ZENITH_FN void copy_place(u32 s, u64 i, T* to) const {
    const u64 row = sampled_row(i, plan.side[s].rows);
    for (unsigned c = 0; c < D; ++c) to[c] = plan.side[s].at[c][row];
  }

  // Column D is the scores.
  template <class Team>
  ZENITH_FN void find_extremes(Team& team, u32 s, u32 column, u64 begin) const {
    constexpr u32 together = 4;  // loads of a lane at a time
    const auto& from = plan.side[s];
    const T* values = from.scores;
    for (u32 c = 0; c < D; ++c) {
      if (c == column) values = from.at[c];
    }
    const T weight = column == D ? from.weight : T{1};
    values += begin;
    const u64 n = from.rows - begin < part ? from.rows - begin : part;
    const extent all = team.reduce(
        part / together, extent{static_cast<image>(~image{0}), 0},
        [&](u64 i) ZENITH_BODY {
          extent some{static_cast<image>(~image{0}), 0};
          ZENITH_UNROLLED
          for (u32 j = 0; j < together; ++j) {
            const u64 at = i + j * (part / together);
            if (at < n) {
              const image one = total_order(values[at] * weight);
              some = widened(some, extent{one, one});
            }
          }
          return some;
        },
        [](extent a, extent b) ZENITH_BODY { return widened(a, b); });
    const u32 to = s * most_side_columns + (column == D ? most_side_columns - 1 : column);
    team.once([&]() ZENITH_BODY {
      (void)device::atomic_max(plan.state->turned + to, static_cast<image>(~all.least));
      (void)device::atomic_max(plan.state->greatest + to, all.greatest);
    });
  }
  ZENITH_FN static extent widened(extent a, extent b) {
    return {b.least < a.least ? b.least : a.least, a.greatest < b.greatest ? b.greatest : a.greatest};
  }
};

/// The second turn, of one team: the bound, what a point's value must be to reach it, and the grid for such points.
template <class T, unsigned D>
struct choose_bound {
  using image = ordered::bits_t<T>;
  using list = list_best_pairs<T>;
  /// The most pairs of samples whose ranks' product is at most `most_wanted`.
  static constexpr u32 most_listed = 3584;
  static constexpr u32 bins = 256;
  static constexpr u32 values_at = 16;
  static constexpr u32 offsets_at = values_at + most_listed * sizeof(image);
  static constexpr u32 bins_at = offsets_at + list::most_wanted * sizeof(u32);
  static constexpr u32 scratch_bytes = bins_at + bins * sizeof(u32);

  round_plan<T, D> plan;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    const auto known = plan.state->known();
    if (!(plan.goal > 0) || !are_finite(known)) return;
    const double tested = double{1} * most_of(plan.samples[0]) * most_of(plan.samples[1]);
    const sampled_places<T, D> where{plan.state->usual_right, plan.state->nearest, most_of(plan.samples[1])};
    const double even = share_if_even(plan.state->usual_left, where.usual, plan.reach);
    const double dense = detail::asks_nearest(tested, even)
                             ? dense_share(where.nearest, where.count, static_cast<double>(plan.squared), D)
                             : 0;
    double near_share = detail::guess_near_share(plan.state->near, tested, even, dense);
    double wanted = wanted_of(near_share);
    if (wanted == 0 && near_share * tested < few_met && plan.pairs >= many_pairs) {
      // There may be more pairs than samples met: of equal points, lattices and lines. A round that joins the best
      // points alone takes little beside a join of all.
      near_share = plan.goal / (plan.pairs * first_share);
      wanted = wanted_of(near_share);
    }
    team.once([&]() ZENITH_BODY { plan.state->near_share = near_share; });
    if (wanted == 0) return;
    const image bound = bound_of(team, wanted);
    team.once([&]() ZENITH_BODY { set(known, where, bound); });
  }

 private:
  static constexpr double few_met = 16;
  static constexpr double many_pairs = double{1} * (1 << 15) * (1 << 15);
  static constexpr double first_share = 1.0 / 64;

  /// Pairs of samples for the goal, where such a share of all pairs is near; 0: all.
  [[nodiscard]] ZENITH_FN double wanted_of(double near_share) const {
    return detail::sample_pairs(plan.goal / (plan.pairs * near_share), double{1} * plan.samples[0] * plan.samples[1]);
  }
  [[nodiscard]] ZENITH_FN static u32 most_of(u32 samples) {
    return samples < most_place_samples ? samples : most_place_samples;
  }

  template <class Team>
  ZENITH_FN image bound_of(Team& team, double wanted) const {
    constexpr u32 few = 16;  // left samples with so many pairs that a team shares out those of one
    list best{plan.images, plan.images + plan.samples[0], plan.samples[0], plan.samples[1], 1, 0, plan.scorer, {}};
    best.want(wanted);
    const u32 lefts = best.lefts();
    image* const values = team.template scratch<image>(values_at);
    u32* const offsets = team.template scratch<u32>(offsets_at);
    team.for_each(lefts, [&](u64 i) ZENITH_BODY { offsets[i] = best.partners(i); });
    const u32 listed = team.scan(offsets, lefts);
    for (u32 i = 0; i < few && i < lefts; ++i) {
      team.for_each(best.partners(i), [&](u64 j) ZENITH_BODY { values[offsets[i] + j] = best.image_of(i, j); });
    }
    team.for_each(lefts > few ? lefts - few : 0, [&](u64 item) ZENITH_BODY {
      const u64 i = few + item;
      const u32 n = best.partners(i);
      for (u32 j = 0; j < n; ++j) values[offsets[i] + j] = best.image_of(i, j);
    });
    team.barrier();
    return nth_best(team, values, listed, best.wanted < listed ? best.wanted : listed);
  }

  // The rank-th highest of n values, by where the values of a range lie in it, again and again.
  template <class Team>
  ZENITH_FN image nth_best(Team& team, const image* values, u32 n, u32 rank) const {
    image* const found = team.template scratch<image>();
    u32* const before = team.template scratch<u32>(8);
    u32* const counts = team.template scratch<u32>(bins_at);
    image low = team.reduce(
        n, static_cast<image>(~image{0}), [&](u64 i) ZENITH_BODY { return values[i]; },
        [](image a, image b) ZENITH_BODY { return b < a ? b : a; });
    image high = team.reduce(
        n, image{0}, [&](u64 i) ZENITH_BODY { return values[i]; },
        [](image a, image b) ZENITH_BODY { return a < b ? b : a; });
    while (low < high) {
      u32 shift = 0;
      while ((high - low) >> shift >= bins) ++shift;
      team.for_each(bins, [&](u64 b) ZENITH_BODY { counts[b] = 0; });
      team.barrier();
      team.for_each(n, [&](u64 i) ZENITH_BODY {
        const image value = values[i];
        if (low <= value && value <= high) {
          (void)team.add(counts + (bins - 1 - static_cast<u32>((value - low) >> shift)), 1);
        }
      });
      team.barrier();
      const u32 all = team.scan(counts, bins);  // of higher values
      team.for_each(bins, [&](u64 b) ZENITH_BODY {
        const u32 through = b + 1 < bins ? counts[b + 1] : all;
        if (counts[b] < rank && rank <= through) {
          *found = static_cast<image>(low + (static_cast<image>(bins - 1 - b) << shift));
          *before = counts[b];
        }
      });
      team.barrier();
      low = *found;
      rank -= *before;
      const image length = static_cast<image>((image{1} << shift) - 1);
      if (high - low > length) high = static_cast<image>(low + length);
      team.barrier();
    }
    return low;
  }

  ZENITH_FN void set(const column_extremes<T>& known, const sampled_places<T, D>& where, image bound) const {
    auto& to = *plan.state;
    const auto left = detail::values_of(known, false, plan.scorer.smallest);
    const auto right = detail::values_of(known, true, plan.scorer.smallest);
    to.limit[0] = detail::limit_of(plan.scorer, left, right.best, bound);
    to.limit[1] = detail::limit_of(plan.scorer, right, left.best, bound);
    const u64 expected = detail::rows_reaching(samples_reaching(to.limit[1]), plan.samples[1], plan.side[1].rows);
    // what the samples say is to be about right
    const u64 most = 2 * expected + 4096;
    to.most = {plan.capacity.left, most < plan.capacity.right ? static_cast<u32>(most) : plan.capacity.right};
    // all cells there are, which were emptied anyhow: where points crowd, each has fewer
    to.grid = make_grid_for<T, D>(double{1} * plan.most_cells / 2, right_extents<T, D>(known), plan.squared, plan.reach,
                                  plan.most_cells, [&]() ZENITH_BODY { return where; });
    to.bound = bound;
  }
  // Of the right side.
  [[nodiscard]] ZENITH_FN u32 samples_reaching(T limit) const {
    const image least = ordered::key_order<T>{plan.scorer.smallest, false}.image(limit);
    const image* const from = plan.images + plan.samples[0];
    const u32 count = plan.samples[1];
    return count - device::first_failing(count, [&](u32 i) ZENITH_BODY { return from[i] < least; });
  }
};

}  // namespace zenith::spatial_join_family

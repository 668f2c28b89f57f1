#pragma once

/// \file
/// The turns of a first round (first_round.hpp) that pick points and join them. A cell of the grid holds its points as
/// a chain, so that one pass puts them there: no counting, no scan, no second pass. Chains are read one by one, so a
/// round gives up where cells are crowded.

#include <algorithms/spatial_join/first_round.hpp>
#include <core/device/exchange.hpp>

namespace zenith::spatial_join_family {

/// Both sides' points that reach their limits, those of the right side into cells.
template <class T, unsigned D>
struct pick_points {
  static constexpr u32 part = 4096;
  static constexpr u64 item_cost = part * sizeof(T);
  static constexpr u32 rows_at = 16;
  static constexpr u32 scratch_bytes = rows_at + part * sizeof(u32);

  round_plan<T, D> plan;

  [[nodiscard]] ZENITH_FN u64 parts(u32 s) const { return (plan.side[s].rows + part - 1) / part; }
  [[nodiscard]] ZENITH_FN u64 teams() const { return parts(0) + parts(1); }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    auto& state = *plan.state;
    if (state.bound == 0) return;
    constexpr u32 together = 4;
    const u32 s = t < parts(0) ? 0 : 1;
    const u64 begin = (s == 0 ? t : t - parts(0)) * part;
    const auto& from = plan.side[s];
    const u64 n = from.rows - begin < part ? from.rows - begin : part;
    const T sign = plan.scorer.smallest ? T{-1} : T{1};
    const reaches_limit<T> reaches{from.scores + begin, sign * from.weight, sign * state.limit[s]};
    u32* const counts = team.template scratch<u32>();  // how many there are, and where the first goes
    u32* const rows = team.template scratch<u32>(rows_at);
    team.once([&]() ZENITH_BODY { counts[0] = 0; });
    team.barrier();
    team.for_each(part / together, [&](u64 i) ZENITH_BODY {
      bool is_picked[together];
      ZENITH_UNROLLED
      for (u32 j = 0; j < together; ++j) {
        const u64 row = i + j * (part / together);
        is_picked[j] = row < n && reaches(row);
      }
      ZENITH_UNROLLED
      for (u32 j = 0; j < together; ++j) {
        if (is_picked[j]) rows[team.add(counts, 1)] = static_cast<u32>(begin + i + j * (part / together));
      }
    });
    team.barrier();
    const u32 found = counts[0];
    team.once([&]() ZENITH_BODY {
      counts[1] = found == 0 ? 0 : device::atomic_add(s == 0 ? &state.picked.left : &state.picked.right, found);
    });
    team.barrier();
    const u32 first = counts[1];
    const u32 most = s == 0 ? state.most.left : state.most.right;
    team.for_each(found, [&](u64 i) ZENITH_BODY {
      const u64 place = u64{first} + i;
      if (place < most) put(s, static_cast<u32>(place), rows[i]);
    });
  }

 private:
  ZENITH_FN void put(u32 s, u32 place, u32 row) const {
    const auto& from = plan.side[s];
    chained_point<T, D> point;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) point.at[a] = from.at[a][row];
    point.value = from.value(row);
    point.next = s == 0 ? 0 : device::atomic_exchange(plan.heads + plan.state->grid.cell_at(point.at), place + 1);
    plan.points[s][place] = point;
    plan.rows[s][place] = row;
  }
};

/// The pairs of picked points that reach the bound.
template <class T, unsigned D>
struct join_chains {
  static constexpr u32 lefts = 256;  ///< of a team
  /// Of a left point. They are read one after the other: of more, whole ranges are read sooner.
  static constexpr u32 most_candidates = 96;
  static constexpr u64 item_cost = u64{lefts} * 512;

  round_plan<T, D> plan;

  [[nodiscard]] ZENITH_FN u64 teams() const { return (u64{plan.capacity.left} + lefts - 1) / lefts; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const auto& state = *plan.state;
    if (state.bound == 0 || state.picked.left > state.most.left || state.picked.right > state.most.right) return;
    const u64 begin = t * lefts;
    if (begin >= state.picked.left) return;
    const u64 left = state.picked.left - begin;
    team.for_each(left < lefts ? left : lefts, [&](u64 i) ZENITH_BODY { join(static_cast<u32>(begin + i)); });
  }

 private:
  ZENITH_FN void join(u32 place) const {
    constexpr u32 together = 4;
    auto& state = *plan.state;
    // what is missing then is known to be
    if (device::atomic_load(&state.is_crowded) != 0 || device::atomic_load(&state.found) > plan.pool.capacity) return;
    const cell_grid<T, D>& grid = state.grid;
    const chained_point<T, D> left = plan.points[0][place];
    u32 candidates = 0;
    grid.each_range(left.at, [&](u32 first, u32 end) ZENITH_BODY {
      for (u32 cell = first; cell < end && candidates <= most_candidates; cell += together) {
        u32 heads[together];
        ZENITH_UNROLLED
        for (u32 j = 0; j < together; ++j) heads[j] = cell + j < end ? plan.heads[cell + j] : 0;
        ZENITH_UNROLLED
        for (u32 j = 0; j < together; ++j) {
          for (u32 at = heads[j]; at != 0 && candidates <= most_candidates; ++candidates) {
            const chained_point<T, D> right = plan.points[1][at - 1];
            if (grid.is_near(left.at, right.at)) {
              const auto image = plan.scorer.image_of(left.value, right.value);
              if (image >= state.bound) append(image, plan.rows[0][place], plan.rows[1][at - 1]);
            }
            at = right.next;
          }
        }
      }
    });
    if (candidates > most_candidates) (void)device::atomic_max(&state.is_crowded, 1U);
  }
  ZENITH_FN void append(ordered::bits_t<T> image, u32 left, u32 right) const {
    const u32 at = device::atomic_add(&plan.state->found, 1);
    if (at >= plan.pool.capacity) return;
    plan.pool.images[at] = image;
    plan.pool.pairs[at] = pair_of(left, right);
    if constexpr (sizeof(T) == sizeof(u32)) {
      if (plan.pool.entries != nullptr) plan.pool.entries[at] = pair_entry(image, left, right);
    }
  }
};

}  // namespace zenith::spatial_join_family

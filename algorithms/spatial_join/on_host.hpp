#pragma once

/// \file
/// threshold_first on a host. The first score bound is guessed before all columns are read, so that one read finds
/// their extremes, what cannot be joined, and the points that can reach the bound. These are copied where they are
/// found. The right ones are put into cells; the left ones stay where they are.

#include <algorithm>
#include <limits>

#include <algorithms/spatial_join/collect.hpp>
#include <algorithms/spatial_join/picks.hpp>
#include <algorithms/spatial_join/samples.hpp>

namespace zenith::spatial_join_family::detail {

/// The points of both sides that can reach a bound.
template <class T, unsigned D, class Context>
class picked_points {
 public:
  using point = packed_point<T, D, true>;
  using image = ordered::bits_t<T>;

  picked_points(Context& on, const pair_scorer<T>& scorer, side_samples<T, D, Context>& samples)
      : on_(on), scorer_(scorer), samples_(samples) {}

  /// Reads both sides, of which nothing is known, and finds the call's fault; 0: no point is picked. False: there is a
  /// fault.
  [[nodiscard]] bool read(join_input<T, D>& input, const score_rules& rules, spatial_outcome& outcome, image bound) {
    left_.values = samples_.guess_values(on_, false);
    right_.values = samples_.guess_values(on_, true);
    set_limits(bound);
    input.known = scan(input, true);
    outcome = fault_of(on_, input, rules);
    if (outcome.fault != spatial_fault::none) return false;
    left_.values = values_of(input.known, false, scorer_.smallest);
    right_.values = values_of(input.known, true, scorer_.smallest);
    if (bound != 0) pick_again(input, bound);
    return true;
  }
  /// The points for another bound, which is not 0.
  void pick(const join_input<T, D>& input, image bound) {
    set_limits(bound);
    scan(input, false);
    pick_again(input, bound);
  }

  /// Joins them; the pool has space for so many pairs. Of more, the k-th best of those that it holds is a bound as
  /// well, and few reach it: they are joined once more. Where many have the same score, all are counted and taken in
  /// batches.
  [[nodiscard]] found_pairs<T> join(const join_input<T, D>& input, image bound, u64 k, u64 capacity,
                                    bool may_raise = true) {
    const auto grid = make_side_grid(input, right_.count, [&] { return samples_.places_of_right(on_, input); });
    const packed_list<T, D> right{right_.points};
    point* const spare = right_.points + right_.capacity;
    u32* const cells = reinterpret_cast<u32*>(spare + right_.capacity);
    const u32* const starts = order_by_cells(on_, right, right_.count, grid, right, {spare, cells});
    best_keeper<T, Context> keeper(on_, capacity);
    using join = join_picked<T, D>;
    on_.for_teams((left_.count + join::group - 1) / join::group,
                  join{left_.points, left_.count, right_.points, starts, grid, scorer_, bound, keeper.pool()});
    const u64 found = on_.read(static_cast<const u64*>(keeper.pool().count));
    auto* const least = make_bound<T>(on_, bound);
    if (found <= capacity) return keep_best(keeper, found, least, k);
    if (may_raise && k <= capacity / 2) {
      const image raised = keeper.kth_image(capacity, k);
      if (raised > bound) {
        pick(input, raised);
        auto best = this->join(input, raised, k, capacity, false);
        best.total = found;
        return best;
      }
    }
    const placed_sides<T, D> sides{grid, spread(left_), spread(right_), starts};
    return collect_in_batches(on_, sides, scorer_, least, k);
  }

  [[nodiscard]] u64 left_count() const { return left_.count; }
  [[nodiscard]] u64 right_count() const { return right_.count; }

 private:
  struct side {
    value_range<T> values;
    T limit;
    u64 count;
    point* points;
    u64 capacity;
  };

  void set_limits(image bound) {
    if (bound == 0) {
      left_.limit = right_.limit =
          scorer_.smallest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
      return;
    }
    left_.limit = limit_of(scorer_, left_.values, right_.values.best, bound);
    right_.limit = limit_of(scorer_, right_.values, left_.values.best, bound);
  }

  /// What reaches the limits.
  column_extremes<T> scan(const join_input<T, D>& input, bool is_first) {
    using scan = scan_sides<T, D>;
    struct facts {
      column_extremes<T> known;
      picked_counts found;
    };
    const u64 rows = std::max(input.left.rows, input.right.rows);
    const u64 parts = (rows + scan::part - 1) / scan::part;
    auto* const found = on_.template zeroed<facts>(1);
    image* const least = is_first ? on_.template buffer<image>(parts * most_all_columns) : nullptr;
    image* const greatest = is_first ? on_.template buffer<image>(parts * most_all_columns) : nullptr;
    const T sign = scorer_.smallest ? T{-1} : T{1};
    left_.capacity = std::max(left_.capacity, samples_.most_reaching(on_, false, left_.limit, input.left.rows));
    right_.capacity = std::max(right_.capacity, samples_.most_reaching(on_, true, right_.limit, input.right.rows));
    make_space();
    const auto picked = [&](const point_columns<T, D>& from, const side& of) {
      return picked_side<T, D>{from, sign * from.weight, sign * of.limit, of.points, of.capacity};
    };
    on_.for_teams(
        2 * parts,
        scan{{picked(input.left, left_), picked(input.right, right_)}, parts, &found->found, least, greatest});
    if (is_first) on_.for_teams(most_all_columns, fold_extremes<T>{parts, least, greatest, &found->known});
    const auto seen = on_.read(static_cast<const facts*>(found));
    left_.count = seen.found.left;
    right_.count = seen.found.right;
    return seen.known;
  }

  /// All memory of a round is one piece: an allocator that gave it once has it again for the next call, where it may
  /// have given several back to the system, whose fresh pages take longer than what is done with them.
  void make_space() {
    const u64 words = most_cells(right_.capacity) + 1;
    const u64 points = left_.capacity + 2 * right_.capacity + (words * sizeof(u32) + sizeof(point) - 1) / sizeof(point);
    if (points > space_) left_.points = on_.template buffer<point>(space_ = points);
    right_.points = left_.points + left_.capacity;
  }

  /// As often as the limits were too high, which were guessed, or there was too little memory.
  void pick_again(const join_input<T, D>& input, image bound) {
    const ordered::key_order<T> order{scorer_.smallest, false};
    for (;;) {
      const image left = order.image(left_.limit);
      const image right = order.image(right_.limit);
      set_limits(bound);
      const bool are_all = order.image(left_.limit) >= left && order.image(right_.limit) >= right;
      if (are_all && left_.count <= left_.capacity && right_.count <= right_.capacity) return;
      left_.capacity = left_.count;
      right_.capacity = right_.count;
      scan(input, false);
    }
  }

  [[nodiscard]] placed_points<T, D> spread(const side& of) {
    placed_points<T, D> to{};
    for (unsigned a = 0; a < D; ++a) to.at[a] = on_.template buffer<T>(of.count);
    to.values = on_.template buffer<T>(of.count);
    to.rows = on_.template buffer<u32>(of.count);
    to.count = of.count;
    on_.for_each(of.count, spread_points<T, D>{of.points, {to}});
    return to;
  }

  Context& on_;
  pair_scorer<T> scorer_;
  side_samples<T, D, Context>& samples_;
  side left_{};
  side right_{};
  u64 space_ = 0;
};

}  // namespace zenith::spatial_join_family::detail

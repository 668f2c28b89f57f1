#pragma once

/// \file
/// How many pairs there are, on a host, by all points of some cells. Rows that are drawn say nothing of pairs that are
/// much nearer than the samples are to each other: of equal points, lattices and lines. Cells that are drawn keep all
/// their pairs.

#include <algorithm>
#include <cmath>

#include <algorithms/spatial_join/drawn_cells.hpp>
#include <algorithms/spatial_join/input.hpp>

namespace zenith::spatial_join_family {

/// Cells that are drawn by their hash.
template <class T, unsigned D>
struct sampled_cells {
  T low[D];
  T inverse[D];  ///< 1 / width
  u32 limit;     ///< hashes below are drawn

  /// What a column adds to a hash that is not mixed yet.
  [[nodiscard]] ZENITH_FN u32 of_axis(unsigned a, T x) const {
    constexpr u32 odd[3] = {0x9e3779b1U, 0x85ebca6bU, 0xc2b2ae35U};
    constexpr T most = 1 << 30;
    const T at = (x - low[a]) * inverse[a];
    const T below = at < most ? at : most;  // of NaN too
    return static_cast<u32>(static_cast<i32>(below > -most ? below : -most)) * odd[a];
  }
  [[nodiscard]] ZENITH_FN static u32 mixed(u32 hash) {
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6dU;
    hash ^= hash >> 13;
    hash *= 0x297a2d39U;
    return hash ^ hash >> 16;
  }
};

/// A point of such a cell.
template <class T, unsigned D>
struct cell_member {
  u32 cell;  ///< its hash
  u32 next;  ///< of a right point in its chain: place + 1; 0: none
  T at[D];
};

/// Copies the points of a part of a side's rows that lie in drawn cells.
template <class T, unsigned D>
struct draw_members {
  static constexpr u32 part = 256;
  static constexpr u64 item_cost = part * 2;

  point_columns<T, D> from;
  sampled_cells<T, D> cells;
  cell_member<T, D>* to;
  u32 capacity;
  u32* count;  ///< counts on above the capacity

  ZENITH_FN void operator()(u64 i) const {
    const u64 begin = i * part;
    const auto n = static_cast<u32>(from.rows - begin < part ? from.rows - begin : part);
    u32 hashes[part];
    u32 drawn[part];
    // plain loops without a branch, which compilers make vectors of
    for (u32 j = 0; j < n; ++j) {
      u32 hash = 0;
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) hash += cells.of_axis(a, from.at[a][begin + j]);
      hashes[j] = cells.mixed(hash);
    }
    u32 found = 0;
    for (u32 j = 0; j < n; ++j) {
      drawn[found] = j;
      found += hashes[j] < cells.limit ? 1 : 0;
    }
    if (found == 0) return;
    const u32 first = device::atomic_add(count, found);
    for (u32 j = 0; j < found && first + j < capacity; ++j) {
      auto& one = to[first + j];
      one.cell = hashes[drawn[j]];
      for (unsigned a = 0; a < D; ++a) one.at[a] = from.at[a][begin + drawn[j]];
    }
  }
};

namespace detail {

/// Pairs of drawn points in the same cell. Where they are many to test, the first left points stand for the others.
template <class T, unsigned D, class Context>
[[nodiscard]] double pairs_of_members(Context& on, const cell_member<T, D>* left, u32 lefts, cell_member<T, D>* right,
                                      u32 rights, T squared) {
  constexpr u32 chains = 4096;
  constexpr u64 most_tests = 1 << 19;
  u32* const heads = on.template zeroed<u32>(chains);
  // the low bits: the high ones are alike, since they say what was drawn
  const auto chain = [](u32 cell) { return cell & (chains - 1); };
  for (u32 i = 0; i < rights; ++i) {
    u32& head = heads[chain(right[i].cell)];
    right[i].next = head;
    head = i + 1;
  }
  u64 tests = 0;
  u64 met = 0;
  u32 i = 0;
  for (; i < lefts && tests < most_tests; ++i) {
    for (u32 next = heads[chain(left[i].cell)]; next != 0; next = right[next - 1].next, ++tests) {
      const auto& other = right[next - 1];
      met += other.cell == left[i].cell && are_near(left[i].at, other.at, squared) ? 1 : 0;
    }
  }
  return i == 0 ? 0 : static_cast<double>(met) * lefts / i;
}

/// The number of pairs as some cells say; below 0: nothing, since these have not about as many points as others, or
/// there are too few rows. `usual`: where most points lie. Some 1 ns a row.
template <class T, unsigned D, class Context>
[[nodiscard]] double count_by_cells(Context& on, const join_input<T, D>& input, const side_extents<T, D>& usual) {
  constexpr double widths = 8;                           // a cell's width, in distances
  constexpr double kept_share = D == 2 ? 0.897 : 0.866;  // of pairs in a ball, those that no border parts
  constexpr double most_cells_of_axis = 1 << 20;         // where usual points lie
  constexpr u32 capacity = 3 * points_in_drawn_cells;    // where there are more, these cells say nothing
  if (!are_cells_worth(input.left.rows, input.right.rows)) return -1;
  const double one = cells_for_one(input.left.rows, input.right.rows);
  sampled_cells<T, D> cells{{}, {}, static_cast<u32>(0x1p32 / one)};
  for (unsigned a = 0; a < D; ++a) {
    const double extent = static_cast<double>(usual.high[a]) - static_cast<double>(usual.low[a]);
    const double width = std::max(widths * std::sqrt(static_cast<double>(input.squared)), extent / most_cells_of_axis);
    cells.low[a] = usual.low[a];
    cells.inverse[a] = width > 0 ? static_cast<T>(1 / width) : T{0};  // one place: one cell
    if (!std::isfinite(cells.inverse[a])) return -1;
  }
  auto* const members = on.template buffer<cell_member<T, D>>(2 * capacity);
  u32* const counts = on.template zeroed<u32>(2);
  const auto draw = [&](const point_columns<T, D>& from, u32 side) {
    using kernel = draw_members<T, D>;
    on.for_each((from.rows + kernel::part - 1) / kernel::part,
                kernel{from, cells, members + u64{side} * capacity, capacity, counts + side});
    const u32 count = on.read(static_cast<const u32*>(counts + side));
    const double expected = static_cast<double>(from.rows) / one;
    return count > expected / 3 && count < expected * 3 ? count : 0;
  };
  const u32 lefts = draw(input.left, 0);
  const u32 rights = lefts == 0 ? 0 : draw(input.right, 1);
  if (rights == 0) return -1;
  return pairs_of_members(on, members, lefts, members + capacity, rights, input.squared) * one / kept_share;
}

}  // namespace detail

}  // namespace zenith::spatial_join_family

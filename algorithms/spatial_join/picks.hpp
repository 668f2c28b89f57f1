#pragma once

/// \file
/// Kernels for points that can reach a guessed score, as a host runs them: these are found in the same read that finds
/// the extremes of all columns, and packed; then their pairs.

#include <algorithms/spatial_join/buckets.hpp>
#include <algorithms/spatial_join/pairs.hpp>
#include <algorithms/spatial_join/rows.hpp>

namespace zenith::spatial_join_family {

/// Where a side's points go whose scores reach the limit. More than the capacity are only counted.
template <class T, unsigned D>
struct picked_side {
  point_columns<T, D> from;
  T weight;  ///< with the sign of what is better
  T limit;   ///< with the same sign
  packed_point<T, D, true>* to;
  u64 capacity;
};

/// Both sides, read once: the extremes of a part of every column, and the points that reach a limit, in no order.
template <class T, unsigned D>
struct scan_sides {
  using image = ordered::bits_t<T>;
  static constexpr u32 part = 2048;
  static constexpr u64 item_cost = u64{part} * (D + 1) * sizeof(T);
  static constexpr u32 few = 4;
  static constexpr u32 scratch_bytes = (part + few) * sizeof(u32);

  picked_side<T, D> side[2];  ///< left and right
  u64 parts;                  ///< of each
  picked_counts* found;
  image* least;  ///< of part p of column c at [c * parts + p]; nullptr: they are not wanted
  image* greatest;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    u32* const picked = team.template scratch<u32>();
    team.once([&]() ZENITH_BODY {
      const bool is_right = t >= parts;
      scan(side[is_right ? 1 : 0], is_right ? t - parts : t, is_right ? most_side_columns : 0,
           is_right ? &found->right : &found->left, picked);
    });
  }

 private:
  static constexpr u32 lanes = 16;
  static constexpr u32 steps = 32;
  static constexpr u32 group = lanes * steps;

  ZENITH_FN void scan(const picked_side<T, D>& of, u64 p, unsigned first_column, u32* count, u32* picked) const {
    const u64 begin = p * part;
    const u64 left_over = of.from.rows > begin ? of.from.rows - begin : 0;
    const u32 n = left_over < part ? static_cast<u32>(left_over) : part;
    if (least != nullptr) {
      for (unsigned c = 0; c < most_side_columns; ++c) {
        const bool is_score = c + 1 == most_side_columns;
        const T* const column = is_score ? of.from.scores : c < D ? of.from.at[c < D ? c : 0] : nullptr;
        const bool is_there = column != nullptr && n > 0;
        const auto all =
            extremes_of_values(is_there ? column + begin : nullptr, is_score ? of.from.weight : T{1}, is_there ? n : 0);
        least[(first_column + c) * parts + p] = all.least;
        greatest[(first_column + c) * parts + p] = all.greatest;
      }
    }
    const u32 reached = n == 0 ? 0 : list(of.from.scores + begin, n, of.weight, of.limit, picked);
    if (reached == 0) return;
    const u64 first = device::atomic_add(count, reached);
    if (first + reached > of.capacity) return;
    const point_list<T, D, true> points{of.from};
    for (u32 j = 0; j < reached; ++j) of.to[first + j] = points.get(begin + picked[j]);
  }

  /// Lane l has the items of a group whose number modulo `lanes` is l, a bit each: so nothing is put together over
  /// lanes, and the words stay in registers. Then the bits of two lanes are taken, a few at a time whether there are as
  /// many or not, that hardly a branch depends on how many there are.
  ZENITH_FN u32 list(const T* scores, u32 n, T weight, T limit, u32* to) const {
    constexpr u32 half = lanes / 2;
    u32 reached = 0;
    u32 at = 0;
    for (; at + group <= n; at += group) {
      u32 words[lanes] = {};
      ZENITH_UNROLLED
      for (u32 step = 0; step < steps; ++step) {
        for (u32 l = 0; l < lanes; ++l) {
          words[l] |= scores[at + step * lanes + l] * weight >= limit ? u32{1} << step : u32{0};
        }
      }
      for (u32 l = 0; l < half; ++l) {
        u64 bits = u64{words[l + half]} << steps | words[l];
        const u32 end = reached + bits_of(words[l]) + bits_of(words[l + half]);
        for (u32 place = reached; place < end; place += few) {
          for (u32 j = 0; j < few; ++j) {
            const u32 bit = lowest_bit(bits | u64{1} << 63);
            to[place + j] = at + bit % steps * lanes + bit / steps * half + l;
            bits &= bits - 1;
          }
        }
        reached = end;
      }
    }
    for (; at < n; ++at) {
      to[reached] = at;
      reached += scores[at] * weight >= limit ? 1 : 0;
    }
    return reached;
  }
};

/// Pairs of a group of left points with scores of at least `least`. What lies anywhere in the right side is asked for
/// some points at a time before the first of it is looked at; and candidates are listed before they are tested, so that
/// hardly a branch depends on where points lie.
template <class T, unsigned D>
struct join_picked {
  using image = ordered::bits_t<T>;
  using point = packed_point<T, D, true>;
  static constexpr u32 group = 512;
  static constexpr u64 item_cost = u64{group} * 128;
  static constexpr u32 most_listed = 512;
  static constexpr u32 scratch_bytes = most_listed * (2 * sizeof(u32) + sizeof(image) + sizeof(u64));

  const point* left;
  u64 left_count;
  const point* right;
  const u32* starts;  ///< of the right side's cells; one more than there are
  cell_grid<T, D> grid;
  pair_scorer<T> scorer;
  image least;
  pair_pool<T> pool;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    u64* const pairs = team.template scratch<u64>();
    image* const images = reinterpret_cast<image*>(pairs + most_listed);
    u32* const owners = reinterpret_cast<u32*>(images + most_listed);
    candidates to{nullptr, pairs, images, owners, owners + most_listed, 0};
    team.once([&]() ZENITH_BODY {
      const u64 begin = g * group;
      const u64 end = begin + group < left_count ? begin + group : left_count;
      for (u64 first = begin; first < end; first += together) {
        to.left = left + first;
        join(to, end - first < together ? static_cast<u32>(end - first) : together);
      }
    });
  }

 private:
  static constexpr u32 together = D == 2 ? 32 : 16;
  static constexpr u32 most_ranges = together * (D == 2 ? 3 : 9);
  static constexpr u32 few = 4;  ///< points of a range that are listed at once, whether they are as many or not

  struct candidates {
    const point* left;
    u64* pairs;
    image* images;
    u32* owners;
    u32* places;
    u32 count;
  };

  ZENITH_FN void join(candidates& to, u32 n) const {
    u32 begins[most_ranges];
    u32 ends[most_ranges];
    u32 owners[most_ranges];
    u32 count = 0;
    for (u32 j = 0; j < n; ++j) {
      grid.each_range(to.left[j].at, [&](u32 first, u32 end) ZENITH_BODY {
        if (count == most_ranges) {
          list(to, j, starts[first], starts[end]);
          return;
        }
        begins[count] = first;
        ends[count] = end;
        owners[count] = j;
        ++count;
        read_soon(starts + first);
      });
    }
    for (u32 i = 0; i < count; ++i) {
      begins[i] = starts[begins[i]];
      ends[i] = starts[ends[i]];
      read_soon(right + begins[i]);
      read_soon(right + ends[i]);
    }
    for (u32 i = 0; i < count; ++i) list(to, owners[i], begins[i], ends[i]);
    test(to);
  }
  ZENITH_FN void list(candidates& to, u32 owner, u32 begin, u32 end) const {
    u32 at = begin;
    do {
      if (to.count + few > most_listed) test(to);
      const u32 n = end - at < few ? end - at : few;
      for (u32 j = 0; j < few; ++j) {
        to.owners[to.count + j] = owner;
        to.places[to.count + j] = at + j;
      }
      to.count += n;
      at += n;
    } while (at != end);
  }
  ZENITH_FN void test(candidates& to) const {
    u32 taken = 0;
    for (u32 i = 0; i < to.count; ++i) {
      const point& a = to.left[to.owners[i]];
      const point& b = right[to.places[i]];
      const image score = scorer.image_of(a.value, b.value);
      to.images[taken] = score;
      to.pairs[taken] = pair_of(a.row, b.row);
      taken += (grid.is_near(a.at, b.at) ? 1 : 0) & (score >= least ? 1 : 0);
    }
    to.count = 0;
    if (taken == 0) return;
    const u64 at = pool.reserve(taken);
    for (u32 j = 0; j < taken; ++j) pool.set(at + j, to.images[j], to.pairs[j]);
  }
};

/// Packed points to columns.
template <class T, unsigned D>
struct spread_points {
  static constexpr u64 item_cost = 64;

  const packed_point<T, D, true>* from;
  ordered_points<T, D, true> to;

  ZENITH_FN void operator()(u64 i) const { to.set(i, from[i]); }
};

template <class T, unsigned D>
using picked_kernels = device::concat<bucket_kernels<T, D, packed_list<T, D>, packed_list<T, D>>,
                                      device::list<scan_sides<T, D>, join_picked<T, D>, spread_points<T, D>>>;

}  // namespace zenith::spatial_join_family

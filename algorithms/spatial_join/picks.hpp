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
  static constexpr u32 block = 2048;  ///< rows that are read, and then picked from
  static constexpr u32 part = 4 * block;
  static constexpr u64 item_cost = u64{part} * (D + 1) * sizeof(T);
  static constexpr u32 few = 4;   ///< bits that are taken at once
  static constexpr u32 some = 8;  ///< the same where more rows seem to reach the limit
  static constexpr u32 scratch_bytes = (block + some) * sizeof(u32);

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
    const T* columns[D + 1];
    column_part parts_of[D + 1];
    value_extremes<T> all[D + 1];
    for (unsigned c = 0; c <= D; ++c) {
      columns[c] = c < D ? of.from.at[c < D ? c : 0] : of.from.scores;
      parts_of[c] = part_of(columns[c], of.from.rows, p, part);
    }
    const column_part scores = parts_of[D];
    for (u64 at = 0; at < part + lanes; at += block) {
      for (unsigned c = 0; least != nullptr && c <= D; ++c) {
        if (at >= parts_of[c].count) continue;
        const u64 left_over = parts_of[c].count - at;
        const u64 n = left_over < block ? left_over : block;
        all[c].take(columns[c] + parts_of[c].begin + at, c < D ? T{1} : of.from.weight, n, left_over - n);
      }
      // in one place, so that the code is there once: it takes long to compile
      if (at < scores.count) {
        const u64 left_over = scores.count - at;
        pick(of, scores.begin + at, left_over < block ? static_cast<u32>(left_over) : block, count, picked);
      }
    }
    if (least == nullptr) return;
    for (unsigned c = 0; c < most_side_columns; ++c) {
      const bool is_there = c < D || c + 1 == most_side_columns;
      const auto values = is_there ? all[c < D ? c : D].found() : number_extremes<T>{};
      least[(first_column + c) * parts + p] = values.least;
      greatest[(first_column + c) * parts + p] = values.greatest;
    }
  }
  ZENITH_FN void pick(const picked_side<T, D>& of, u64 begin, u32 n, u32* count, u32* picked) const {
    // of two lanes' 64 bits, more than `few` are set as a rule
    const bool are_many = of.capacity * 12 > of.from.rows;
    const u32 reached = list(of.from.scores + begin, n, of.weight, of.limit, are_many, picked);
    if (reached == 0) return;
    const u64 first = device::atomic_add(count, reached);
    if (first + reached > of.capacity) return;
    const point_list<T, D, true> points{of.from};
    for (u32 j = 0; j < reached; ++j) of.to[first + j] = points.get(begin + picked[j]);
  }

  /// Writes the places of the lowest bits, of the last one where there are no more.
  template <u32 count>
  ZENITH_FN static u32 take(u32 first, u64& bits, u32* to) {
    for (u32 j = 0; j < count; ++j) {
      to[j] = first + lowest_bit(bits | u64{1} << (2 * steps - 1));
      bits &= bits - 1;
    }
    return count;
  }
  /// Lane l has the items of a group whose number modulo `lanes` is l, a bit each: so nothing is put together over
  /// lanes, and the words stay in registers. Then the bits of two lanes are taken, a few at a time whether there are as
  /// many or not, that hardly a branch depends on how many there are. What is taken says group, lane and bit, and
  /// becomes a place afterwards, many at a time.
  ZENITH_FN u32 list(const T* scores, u32 n, T weight, T limit, bool are_many, u32* to) const {
    constexpr u32 half = lanes / 2;
    constexpr u32 bits_of_two = 2 * steps;
    u32 reached = 0;
    u32 at = 0;
    for (; at + group <= n; at += group) {
      u32 words[lanes] = {};
      const T* const here = scores + at;
      // unrolled, a unit takes the compiler up to eight times as long, and a call no less
      for (u32 step = 0; step < steps; ++step) {
        for (u32 l = 0; l < lanes; ++l) {
          words[l] |= here[step * lanes + l] * weight >= limit ? u32{1} << step : u32{0};
        }
      }
      for (u32 l = 0; l < half; ++l) {
        u64 bits = u64{words[l + half]} << steps | words[l];
        const u32 first = at + l * bits_of_two;
        const u32 end = reached + bits_of(words[l]) + bits_of(words[l + half]);
        u32 place = reached;
        do {
          place += take<few>(first, bits, to + place);
          if (are_many) place += take<some - few>(first, bits, to + place);
        } while (place < end);
        reached = end;
      }
    }
    for (u32 j = 0; j < reached; ++j) {
      const u32 in_group = to[j] % group;
      const u32 bit = in_group % bits_of_two;
      to[j] = to[j] - in_group + bit % steps * lanes + bit / steps * half + in_group / bits_of_two;
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
  static constexpr u32 together = cells_around<T, D>::together;
  static constexpr u32 usual = cells_around<T, D>::usual;
  static constexpr u32 most_ranges = together * (D == 2 ? usual : usual * usual) + 1;
  static constexpr u32 few = 4;  ///< points of a range that are listed at once, whether they are as many or not
  static constexpr u32 most_listed = few * (most_ranges + 1);
  /// So many pairs wait for their places in the pool, whose count and lines workers take from each other.
  static constexpr u32 waiting = 512;
  static constexpr u32 most_found = waiting + most_listed;
  static constexpr u32 scratch_bytes = most_found * (sizeof(image) + sizeof(u64)) + most_listed * 2 * sizeof(u32);

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
    image* const images = reinterpret_cast<image*>(pairs + most_found);
    u32* const owners = reinterpret_cast<u32*>(images + most_found);
    candidates to{nullptr, pairs, images, 0, owners, owners + most_listed, 0};
    team.once([&]() ZENITH_BODY {
      const u64 begin = g * group;
      const u64 end = begin + group < left_count ? begin + group : left_count;
      for (u64 first = begin; first < end; first += together) {
        to.left = left + first;
        join(to, end - first < together ? static_cast<u32>(end - first) : together);
      }
      append(to);
    });
  }

 private:
  struct candidates {
    const point* left;
    u64* pairs;
    image* images;
    u32 found;  ///< pairs and images
    u32* owners;
    u32* places;
    u32 count;
  };

  ZENITH_FN void join(candidates& to, u32 n) const {
    cells_around<T, D> cells;
    if (!cells.find(grid, to.left, n)) return join_wide(to, n);
    u32 begins[most_ranges];
    u32 ends[most_ranges];
    u32 owners[most_ranges];
    u32 count = 0;
    for (u32 j = 0; j < n; ++j) {
      for (u32 plane = 0; plane < (D == 3 ? usual : 1); ++plane) {
        for (u32 row = 0; row < usual; ++row) {
          const u32 first = grid.beyond(cells.first[j], plane, row);
          begins[count] = first;
          ends[count] = first + cells.count[0][j];
          owners[count] = j;
          count += (D == 2 || plane < cells.count[D - 1][j] ? 1U : 0U) & (row < cells.count[1][j] ? 1U : 0U);
        }
      }
    }
    for (u32 i = 0; i < count; ++i) {
      begins[i] = starts[begins[i]];
      ends[i] = starts[ends[i]];
    }
    for (u32 i = 0; i < count; ++i) {
      read_soon(right + begins[i]);
      read_soon(right + ends[i]);
    }
    // what few ranges have beyond `few` points is listed by itself: so there is space, and no branch
    u32 longer[most_ranges];
    u32 longer_count = 0;
    u32 listed = 0;
    for (u32 i = 0; i < count; ++i) {
      const u32 begin = begins[i];
      const u32 in_range = ends[i] - begin;
      for (u32 j = 0; j < few; ++j) {
        to.owners[listed + j] = owners[i];
        to.places[listed + j] = begin + j;
      }
      longer[longer_count] = i;
      longer_count += in_range > few ? 1 : 0;
      listed += in_range < few ? in_range : few;
    }
    to.count = listed;
    test(to);
    if (longer_count == 0) return;
    for (u32 i = 0; i < longer_count; ++i) list(to, owners[longer[i]], begins[longer[i]] + few, ends[longer[i]]);
    test(to);
  }
  /// Where rounding puts the ends of a point's reach into more cells than usual.
  ZENITH_FN void join_wide(candidates& to, u32 n) const {
    for (u32 j = 0; j < n; ++j) {
      grid.each_range(to.left[j].at, [&](u32 first, u32 end) ZENITH_BODY { list(to, j, starts[first], starts[end]); });
    }
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
    u32 near = 0;
    for (u32 i = 0; i < to.count; ++i) {
      const u32 owner = to.owners[i];
      const u32 place = to.places[i];
      to.owners[near] = owner;
      to.places[near] = place;
      near += grid.is_near(to.left[owner].at, right[place].at) ? 1 : 0;
    }
    to.count = 0;
    u32 found = to.found;
    for (u32 i = 0; i < near; ++i) {
      const point& a = to.left[to.owners[i]];
      const point& b = right[to.places[i]];
      const image score = scorer.image_of(a.value, b.value);
      to.images[found] = score;
      to.pairs[found] = pair_of(a.row, b.row);
      found += score >= least ? 1 : 0;
    }
    to.found = found;
    if (found >= waiting) append(to);
  }
  ZENITH_FN void append(candidates& to) const {
    if (to.found == 0) return;
    const u64 at = pool.reserve(to.found);
    for (u32 j = 0; j < to.found; ++j) pool.set(at + j, to.images[j], to.pairs[j]);
    to.found = 0;
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

#pragma once

/// \file
/// The order of some 10^5 rows of a device's table, by buckets: quantiles of a sample of their exact keys say which
/// bucket a row is in, and a team sorts a bucket in its scratch. A sort by digits takes longer, because each of its
/// passes is several launches with little work.

#include <algorithms/skyline/table_order.hpp>

namespace zenith::skyline_family {

inline constexpr u32 order_buckets = 1024;
inline constexpr u32 most_key_samples = 4 * order_buckets;
inline constexpr u32 most_bucket_rows = 2048;  ///< that a team sorts
inline constexpr u32 size_step = 8;            ///< from a bucket's size to the next: counters apart are counted faster
/// Of a random sample, a bucket with 8 times the rows of the average is less likely than one of 10^9.
inline constexpr u64 most_rows_in_buckets = u64{order_buckets} * most_bucket_rows / 8;

/// A row and what it is ordered by. No two are equal.
struct alignas(16) keyed_row {
  u64 key;
  u32 row;
  u32 unused;

  ZENITH_FN bool operator<(const keyed_row& other) const {
    return key != other.key ? key < other.key : row < other.row;
  }
};

template <class T>
ZENITH_FN keyed_row key_of_row(const row_source<T>& from, u32 row, const typename row_source<T>::image* cuts,
                               u32 buckets) {
  exact_sum<typename row_source<T>::image> sum;
  const u32 median = sum_and_median(from, row, cuts, buckets, sum);
  return {cell_key(row_key::all, median, sum.high, sum.low), row, 0};
}

/// Every so many-th row.
template <class T>
struct draw_key_samples {
  static constexpr u64 item_cost = 256;

  row_source<T> from;
  const u32* left;
  u64 count;
  u32 samples;
  const typename row_source<T>::image* cuts;
  u32 buckets;
  keyed_row* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = key_of_row(from, left[i * count / samples], cuts, buckets); }
};

/// First rows of the buckets: that of bucket k stands at k / order_buckets of the sorted samples, that of the first is
/// not written. A team finds how many samples are less than each of a part.
struct pick_first_of_buckets {
  static constexpr u32 part = 16;
  static constexpr u32 shares = 16;  // of the samples, each some other lanes'
  static constexpr u32 at_once = 8;
  static constexpr u32 ranks_at = most_key_samples * 8;
  static constexpr u32 scratch_bytes = ranks_at + part * 4;
  static constexpr u64 item_cost = u64{1} << 16;

  const keyed_row* sampled;  ///< by rising rows
  u32 samples;
  keyed_row* to;

  [[nodiscard]] u64 teams() const { return (samples + part - 1) / part; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u32 begin = static_cast<u32>(t) * part;
    const u32 n = samples - begin < part ? samples - begin : part;
    u64* const keys = team.template scratch<u64>();
    u32* const ranks = team.template scratch<u32>(ranks_at);
    team.for_each(part, [&](u64 i) ZENITH_BODY { ranks[i] = 0; });
    // a lane's loads are under way at once; behind the last key are the largest
    constexpr u32 step = shares * at_once;
    const u32 share = (samples + step - 1) / step * at_once;
    const u32 apart = share * shares / at_once;
    team.for_each(apart, [&](u64 i) ZENITH_BODY {
      u64 some[at_once];
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) some[k] = i + k * apart < samples ? sampled[i + k * apart].key : ~u64{0};
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) keys[i + k * apart] = some[k];
    });
    team.barrier();
    team.for_each(part * shares, [&](u64 j) ZENITH_BODY {
      const u32 own = begin + static_cast<u32>(j) % part;
      if (own - begin >= n) return;
      const u64 key = keys[own];
      const u32 first = static_cast<u32>(j) / part * share;
      const u32 end = first + share;
      // of equal keys those before it are less
      const u32 middle = own < first ? first : own < end ? own / at_once * at_once : end;
      u32 less = 0;
      for (u32 i = first; i < middle; i += at_once) {
        less += count(keys + i, [=](u64 other) ZENITH_BODY { return other <= key; });
      }
      for (u32 i = middle; i < own && i < end; ++i) less += keys[i] == key ? 1U : 0U;
      for (u32 i = middle; i < end; i += at_once) {
        less += count(keys + i, [=](u64 other) ZENITH_BODY { return other < key; });
      }
      (void)team.add(ranks + (own - begin), less);
    });
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const u32 rank = ranks[i];
      for (u32 k = (rank * order_buckets + samples - 1) / samples; k < order_buckets; ++k) {
        if (k * samples / order_buckets != rank) break;
        if (k > 0) to[k] = sampled[begin + i];
      }
    });
  }

 private:
  /// How many of `at_once` keys the test holds for.
  template <class Test>
  ZENITH_FN static u32 count(const u64* keys, const Test& test) {
    u32 found = 0;
    ZENITH_UNROLLED
    for (u32 k = 0; k < at_once; k += 4) {
      const auto four = *reinterpret_cast<const four_values<u64>*>(keys + k);
      ZENITH_UNROLLED
      for (u32 j = 0; j < 4; ++j) found += test(four.value[j]) ? 1U : 0U;
    }
    return found;
  }
};

/// Which bucket a row is in, and which of its rows it is.
template <class T>
struct find_buckets {
  static constexpr u32 team_rows = 256;
  static constexpr u32 scratch_bytes = order_buckets * sizeof(keyed_row);
  static constexpr u32 wanted_teams = 4;
  static constexpr u64 item_cost = u64{1} << 16;

  row_source<T> from;
  const u32* left;
  u64 count;
  const typename row_source<T>::image* cuts;
  u32 buckets;
  const keyed_row* first_of_buckets;
  u32* sizes;   ///< of the buckets; zero at first
  u32* places;  ///< of a row: the number in its bucket, and the bucket

  [[nodiscard]] u64 teams() const { return (count + team_rows - 1) / team_rows; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * team_rows;
    auto* const begins = team.template scratch<keyed_row>();
    constexpr u32 at_once = 4;
    constexpr u32 apart = order_buckets / at_once;
    team.for_each(apart, [&](u64 i) ZENITH_BODY {
      keyed_row some[at_once];
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) some[k] = first_of_buckets[i + k * apart > 0 ? i + k * apart : 1];
      ZENITH_UNROLLED
      for (u32 k = 0; k < at_once; ++k) begins[i + k * apart] = some[k];
    });
    team.barrier();
    team.for_each(count - first < team_rows ? count - first : team_rows, [&](u64 i) ZENITH_BODY {
      const auto own = key_of_row(from, left[first + i], cuts, buckets);
      u32 bucket = 0;
      for (u32 step = order_buckets / 2; step > 0; step /= 2) bucket += own < begins[bucket + step] ? 0U : step;
      places[first + i] = device::atomic_add(sizes + bucket * size_step, 1) * order_buckets + bucket;
    });
  }
};

/// Rows bucket by bucket.
struct move_to_buckets {
  static constexpr u32 team_rows = 1024;
  static constexpr u32 scratch_bytes = order_buckets * 4;
  static constexpr u64 item_cost = u64{1} << 15;

  const u32* left;
  u64 count;
  const u32* sizes;
  const u32* places;
  u32* begins;  ///< of the buckets, to be written
  u32* to;

  [[nodiscard]] u64 teams() const { return (count + team_rows - 1) / team_rows; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u64 first = t * team_rows;
    u32* const before = team.template scratch<u32>();
    team.for_each(order_buckets, [&](u64 k) ZENITH_BODY { before[k] = sizes[k * size_step]; });
    team.barrier();
    (void)team.scan(before, order_buckets);
    if (t == 0) team.for_each(order_buckets, [&](u64 k) ZENITH_BODY { begins[k] = before[k]; });
    team.for_each(count - first < team_rows ? count - first : team_rows, [&](u64 i) ZENITH_BODY {
      const u32 place = places[first + i];
      to[before[place % order_buckets] + place / order_buckets] = left[first + i];
    });
  }
};

/// Sorts a bucket's rows, by how many are less than each, and writes the points that they are.
template <class T>
struct sort_buckets {
  static constexpr u32 rows_at = most_bucket_rows * 8;
  static constexpr u32 scratch_bytes = rows_at + most_bucket_rows * 4;
  static constexpr u32 wanted_teams = 6;
  static constexpr u32 at_once = 4;
  static constexpr u64 item_cost = u64{1} << 16;

  place_table_rows<T> place;
  const u32* sizes;
  const u32* begins;
  const u32* rows;  ///< bucket by bucket
  u32* has_ties;    ///< set to 1 where a bucket is too large: its rows have no order

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 t) const {
    const u32 n = sizes[t * size_step];
    const u32 begin = begins[t];
    if (n > most_bucket_rows) {
      team.once([&]() ZENITH_BODY { device::atomic_store(has_ties, u32{1}); });
      return team.for_each(n, [&](u64 i) ZENITH_BODY { write(begin + static_cast<u32>(i), rows[begin + i]); });
    }
    u64* const keys = team.template scratch<u64>();
    u32* const own_rows = team.template scratch<u32>(rows_at);
    const u32 padded = (n + at_once - 1) / at_once * at_once;  // the last ones are the largest
    team.for_each(padded, [&](u64 i) ZENITH_BODY {
      const u32 row = i < n ? rows[begin + i] : ~u32{0};
      own_rows[i] = row;
      keys[i] = i < n ? key_of_row(place.from, row, place.cuts, place.buckets).key : ~u64{0};
    });
    team.barrier();
    team.for_each(n, [&](u64 i) ZENITH_BODY {
      const keyed_row own{keys[i], own_rows[i], 0};
      // equal keys are rare: their rows are asked where there are any
      u32 rank = 0;
      u32 not_behind = 0;
      for (u32 other = 0; other < padded; other += at_once) {
        const auto four = *reinterpret_cast<const four_values<u64>*>(keys + other);
        ZENITH_UNROLLED
        for (u32 k = 0; k < at_once; ++k) {
          rank += four.value[k] < own.key ? 1U : 0U;
          not_behind += four.value[k] <= own.key ? 1U : 0U;
        }
      }
      if (not_behind > rank + 1) {
        for (u32 other = 0; other < n; ++other) rank += keys[other] == own.key && own_rows[other] < own.row ? 1U : 0U;
      }
      write(begin + rank, own.row);
    });
  }

 private:
  ZENITH_FN void write(u32 at, u32 row) const {
    place.to.rows[at] = row;
    place.write(at, row);
  }
};

namespace detail {

/// Orders rows, more than are few and up to `most_rows_in_buckets`, and writes the points that they become.
template <class T, class Context>
void place_by_buckets(Context& on, const place_table_rows<T>& place, u64 count, u32* has_ties) {
  const auto& from = place.from;
  u32* const left = place.to.rows;
  const u32 samples = count < most_key_samples ? static_cast<u32>(count) : most_key_samples;
  auto* const sampled = on.template buffer<keyed_row>(samples);
  auto* const first_of_buckets = on.template buffer<keyed_row>(order_buckets);
  u32* const sizes = on.template zeroed<u32>(order_buckets * size_step);
  u32* const begins = on.template buffer<u32>(order_buckets);
  // masks are written last
  u32* const places = place.short_masks != nullptr ? place.short_masks : reinterpret_cast<u32*>(place.to.masks);
  u32* const moved = on.template buffer<u32>(count);
  on.for_each(samples, draw_key_samples<T>{from, left, count, samples, place.cuts, place.buckets, sampled});
  const pick_first_of_buckets pick{sampled, samples, first_of_buckets};
  on.for_teams(pick.teams(), pick);
  const find_buckets<T> find{from, left, count, place.cuts, place.buckets, first_of_buckets, sizes, places};
  on.for_teams(find.teams(), find);
  const move_to_buckets move{left, count, sizes, places, begins, moved};
  on.for_teams(move.teams(), move);
  on.for_teams(order_buckets, sort_buckets<T>{place, sizes, begins, moved, has_ties});
  on.release(moved);
}

}  // namespace detail

}  // namespace zenith::skyline_family

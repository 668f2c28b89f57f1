#pragma once

/// \file
/// The skyband of a host's rows that are of many groups (row_groups.hpp). Rows of a group come by their sums, so that
/// all that dominate a row are before it: they are counted, up to k. Of groups up to a size that settles their rows.
/// Rows of larger ones are out when k of the first of their group dominate them, and a strategy goes on with what is
/// left.

#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/row_copies.hpp>
#include <algorithms/skyline/row_groups.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// A row is out of the band with `most` that dominate it.
struct band_in_groups {
  static constexpr bool counts = true;

  u32 most;
  u32* dominated_by;  ///< by row of the table

  [[nodiscard]] ZENITH_FN static bool drops_twins() { return false; }
  template <class Lanes>
  [[nodiscard]] ZENITH_FN Lanes out_of(const Lanes& dominated, u32* of_lanes) const {
    return dominated.raise(of_lanes, most);
  }
  [[nodiscard]] ZENITH_FN bool is_out(u32* count) const { return ++*count >= most; }
};

/// A number that equal rows have in common, and others hardly ever.
template <class T>
[[nodiscard]] ZENITH_FN u64 hash_of_row(const row_source<T>& from, u64 row) {
  return hash_of_images(from, row, ~from.complement);
}
template <class T>
struct hash_rows {
  static constexpr u64 item_cost = 128;

  row_source<T> from;
  const u32* rows;
  u64* hashes;

  ZENITH_FN void operator()(u64 i) const { hashes[i] = hash_of_row(from, rows[i]); }
};

/// Raises the flags of rows that equal one before them, where rows are by group, then by sum, and then by hash: as a
/// rule that is the one in front.
template <class T>
struct mark_copies_in_groups {
  static constexpr u64 item_cost = 128;

  row_source<T> from;
  const u32* rows;
  const u32* groups;
  u8* flags;  ///< of rows of the table

  ZENITH_FN void operator()(u64 i) const {
    const u64 own = hash_of_row(from, rows[i]);
    for (u64 k = i; k > 0 && groups[k - 1] == groups[i] && hash_of_row(from, rows[k - 1]) == own; --k) {
      if (!are_equal(rows[k - 1], rows[i])) continue;
      flags[rows[i]] = 1;
      return;
    }
  }

 private:
  ZENITH_FN bool are_equal(u64 a, u64 b) const {
    for (u32 c = 0; c < from.columns; ++c) {
      if (from.at(a, c) != from.at(b, c)) return false;
    }
    return true;
  }
};

struct is_left_row {
  const u8* flags;
  const u32* rows;

  ZENITH_FN bool operator()(u64 i) const { return flags[rows[i]] == 0; }
};

template <class... T>
using group_band_kernels =
    device::list<hash_rows<T>..., mark_copies_in_groups<T>..., settle_groups<T, band_in_groups>...>;

namespace detail {

/// Rows of a band that have their flags before there is an order.
struct settled_band {
  u32* dominated_by = nullptr;  ///< by row of the table; nullptr: none are settled
  u64 rows = 0;
};

/// The prefilter of a band. On a host, small groups are settled first where there are many; else it is `otherwise`.
template <class Otherwise>
struct grouped_band_prefilter {
  const skyband_call& call;
  Otherwise otherwise;
  const test_counters& counters;
  settled_band& settled;

  template <class T, class Context>
  [[nodiscard]] u32* find_rows_left(Context& on, const skyline_input& input, const row_source<T>& from, u8* flags,
                                    u64& count) const {
    if constexpr (Context::runs_on_host) {
      if (has_many_groups(on, from)) return settle_groups_first(on, from, flags, count);
    }
    return otherwise.find_rows_left(on, input, from, flags, count);
  }

 private:
  template <class T, class Context>
  [[nodiscard]] u32* settle_groups_first(Context& on, const row_source<T>& from, u8* flags, u64& count) const {
    u64 all = 0;
    u32* const rows = no_prefilter{}.find_rows_left(on, call, from, flags, all);
    if (rows == nullptr) return rows;
    const bool keeps_first = call.duplicates == duplicate_rows::keep_first;
    if (keeps_first) order_by_hash(on, from, rows, all);
    u32* groups = order_by_groups(on, from, rows, all);
    const u64 asked = keeps_first ? take_copies_out(on, from, rows, groups, all, flags) : all;
    settled.dominated_by = on.template buffer<u32>(call.rows);
    const settle_groups<T, band_in_groups> settle{from,  rows,    groups, asked, {call.most, settled.dominated_by},
                                                  flags, counters};
    on.for_teams(settle.teams(), settle);
    on.release(groups);
    u32* const found = on.template buffer<u32>(1);
    on.compact(call.rows, is_left{flags}, rows, found);
    count = on.read(static_cast<const u32*>(found));
    settled.rows = all - count;
    return rows;
  }

  /// All sorts are stable: rows of one group and sum stay in this order, equal ones by their ids.
  template <class T, class Context>
  static void order_by_hash(Context& on, const row_source<T>& from, u32* rows, u64 all) {
    u64* const hashes = on.template buffer<u64>(all);
    on.for_each(all, hash_rows<T>{from, rows, hashes});
    on.sort_pairs(hashes, rows, all);
    on.release(hashes);
  }
  /// Rows that are equal do not count, but for the first of them; returns how many are left.
  template <class T, class Context>
  [[nodiscard]] static u64 take_copies_out(Context& on, const row_source<T>& from, u32* rows, u32* groups, u64 all,
                                           u8* flags) {
    on.for_each(all, mark_copies_in_groups<T>{from, rows, groups, flags});
    u32* const picked = on.template buffer<u32>(all);
    u32* const found = on.template buffer<u32>(1);
    on.compact(all, is_left_row{flags, rows}, picked, found);
    const u64 left = on.read(static_cast<const u32*>(found));
    on.for_each(left, name_rows{rows, picked});
    on.copy(rows, static_cast<const u32*>(picked), left);
    on.release(picked);
    on.for_each(left, write_groups<T>{from, rows, groups});
    return left;
  }
};

}  // namespace detail

}  // namespace zenith::skyline_family

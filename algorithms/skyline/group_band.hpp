#pragma once

/// \file
/// The skyband of a host's rows that are of many groups (row_groups.hpp). Rows of a group come by their sums, so that
/// all that dominate a row are before it: they are counted, up to k. Of groups up to a size that settles their rows.
/// Rows of larger ones are out when k of the first of their group dominate them, and a strategy goes on with what is
/// left.

#include <algorithms/skyline/distinct_rows.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
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

template <class... T>
using group_band_kernels = device::list<settle_groups<T, band_in_groups>...>;

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
    const u64 asked = keeps_first ? take_copies_out(on, from, rows, all, flags) : all;
    u32* const groups = order_by_groups(on, from, rows, asked);
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
};

}  // namespace detail

}  // namespace zenith::skyline_family

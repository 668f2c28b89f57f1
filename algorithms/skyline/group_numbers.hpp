#pragma once

/// \file
/// A point has two images of a column of preference `different`. With several of these, points and what stands beside
/// them would take more than two tables. So all of these columns together become one number, that of the row's group,
/// and a point has two images of that.

#include <algorithms/skyline/row_groups.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/device/bisect.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

/// Rows come by hashes of their groups. A group's number is that of its first row among these.
template <class T>
struct number_groups {
  static constexpr u64 item_cost = 128;

  row_source<T> from;
  const u32* hashes;
  const u32* rows;
  u32* numbers;  ///< by row of the table

  ZENITH_FN void operator()(u64 i) const {
    u64 k = device::first_failing(i, [&](u64 other) ZENITH_BODY { return hashes[other] < hashes[i]; });
    while (k < i && !is_one_group(rows[k], rows[i])) ++k;  // mostly at once
    numbers[rows[i]] = rows[k];
  }

 private:
  ZENITH_FN bool is_one_group(u64 a, u64 b) const {
    for (u32 c = 0; c < from.columns; ++c) {
      if (((from.complement >> c) & 1) != 0 && from.at(a, c) != from.at(b, c)) return false;
    }
    return true;
  }
};

template <class... T>
using group_number_kernels = device::list<number_groups<T>...>;

namespace detail {

/// The source of points of these rows, whose groups are numbered if several columns say them.
template <class T, class Context>
[[nodiscard]] row_source<T> number_groups_of(Context& on, const row_source<T>& from, const u32* rows, u64 count) {
  if (count == 0 || (from.different & (from.different - 1)) == 0) return from;
  u32* const numbers = on.template buffer<u32>(from.rows);
  u32* const hashes = on.template buffer<u32>(count);
  u32* const by_hash = on.template buffer<u32>(count);
  on.copy(by_hash, rows, count);
  on.for_each(count, write_groups<T>{from, by_hash, hashes});
  on.sort_pairs(hashes, by_hash, count);
  on.for_each(count, number_groups<T>{from, hashes, by_hash, numbers});
  on.release(by_hash);
  on.release(hashes);
  auto made = from;
  made.columns = 0;
  made.complement = 0;
  for (u32 c = 0; c < from.columns; ++c) {
    if (((from.different >> from.given[c]) & 1) == 0) made.given[made.columns++] = from.given[c];
  }
  made.numbered = made.columns;
  made.numbers = numbers;
  made.columns += 2;
  return made;
}

}  // namespace detail

}  // namespace zenith::skyline_family

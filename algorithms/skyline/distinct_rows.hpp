#pragma once

/// \file
/// Rows of a table that equal one before them. Rows are sorted by a hash of their values, and each is compared with
/// those in front of it that have the same.

#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/row_source.hpp>
#include <core/device/list.hpp>

namespace zenith::skyline_family {

template <class T>
struct hash_rows {
  static constexpr u64 item_cost = 128;

  row_source<T> from;
  const u32* rows;
  u64* hashes;

  // the second image of a column of preference `different` says what the first does
  ZENITH_FN void operator()(u64 i) const { hashes[i] = hash_of_images(from, rows[i], ~from.complement); }
};

/// Raises the flags of rows that equal one before them, where rows are by hash, and by their ids where those are equal:
/// as a rule that is the one in front.
template <class T>
struct mark_copies {
  static constexpr u64 item_cost = 128;

  row_source<T> from;
  const u64* hashes;
  const u32* rows;
  u8* flags;  ///< of rows of the table

  ZENITH_FN void operator()(u64 i) const {
    for (u64 k = i; k > 0 && hashes[k - 1] == hashes[i]; --k) {
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

template <class... T>
using distinct_row_kernels = device::list<hash_rows<T>..., mark_copies<T>...>;

namespace detail {

/// Takes rows that equal one before them out of ascending rows, which have space for those of the table; returns how
/// many are left. `flags` are 0 for the given rows alone, and become 1 for those that are taken out.
template <class T, class Context>
[[nodiscard]] u64 take_copies_out(Context& on, const row_source<T>& from, u32* rows, u64 count, u8* flags) {
  if (count < 2) return count;
  u64* const hashes = on.template buffer<u64>(count);
  on.for_each(count, hash_rows<T>{from, rows, hashes});
  on.sort_pairs(hashes, rows, count);  // stable
  on.for_each(count, mark_copies<T>{from, hashes, rows, flags});
  on.release(hashes);
  u32* const found = on.template buffer<u32>(1);
  on.compact(from.rows, is_left{flags}, rows, found);
  return on.read(static_cast<const u32*>(found));
}

}  // namespace detail

}  // namespace zenith::skyline_family

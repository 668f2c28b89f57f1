#pragma once

/// \file
/// A packed column as a source of the device context: blocks that are decoded where they are used.

#include <type_traits>

#include <core/device/source.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::packed {

/// The values of a column from block `origin` on; their indices count from there.
template <class T>
struct column_source {
  using key = T;
  using word = std::make_unsigned_t<T>;
  static constexpr unsigned block_items = packed_block_items;

  packed_layout column;
  device::u64 origin;
  device::u64 count;

  ZENITH_FN device::u64 size() const { return count; }
  ZENITH_FN key at(device::u64 i) const { return static_cast<key>(value_at<word>(column, origin * block_items + i)); }
  ZENITH_FN void decode(device::u64 block, key* to) const {
    // a word and its value differ in sign alone
    (void)unpack_block(column, origin + block, reinterpret_cast<word*>(to));
  }
};

static_assert(device::block_source<column_source<int>>);

}  // namespace zenith::packed

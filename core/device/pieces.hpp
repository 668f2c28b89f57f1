#pragma once

/// \file
/// Pieces of arrays in the host's memory, by one list of where they begin: what contexts' `fetch` copies.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <core/device/kernel.hpp>

namespace zenith::device {

/// An array of `count` items in the host's memory, and where its pieces are wanted.
struct fetched_array {
  std::byte* to;
  const std::byte* from;
  u64 count;
  u64 item_bytes;

  template <class T>
  [[nodiscard]] static fetched_array of(T* to, const T* from, u64 count) {
    return {reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), count, sizeof(T)};
  }
};

/// Pieces of `length` items that begin at begins[0 … n - 1], one behind the other at `to`; what is behind the end of
/// the array is left out.
inline void copy_pieces(std::byte* to, const fetched_array& of, const u32* begins, u64 n, u64 length) {
  for (u64 i = 0; i < n; ++i) {
    const u64 begin = begins[i];
    if (begin >= of.count) continue;
    std::memcpy(to + i * length * of.item_bytes, of.from + begin * of.item_bytes,
                std::min(length, of.count - begin) * of.item_bytes);
  }
}

/// The same of several arrays, each to where it is wanted.
inline void copy_pieces(std::span<const fetched_array> arrays, const u32* begins, u64 n, u64 length) {
  for (const auto& one : arrays) copy_pieces(one.to, one, begins, n, length);
}

}  // namespace zenith::device

#pragma once

/// \file
/// Pieces of arrays in the host's memory, by one list of where they begin: what contexts' `fetch` copies.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace zenith::device {

/// An array of `count` items in the host's memory, and where its pieces are wanted.
struct fetched_array {
  std::byte* to;
  const std::byte* from;
  std::uint64_t count;
  std::uint64_t item_bytes;

  template <class T>
  [[nodiscard]] static fetched_array of(T* to, const T* from, std::uint64_t count) {
    return {reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), count, sizeof(T)};
  }
};

/// Pieces of `length` items that begin at begins[0 … n - 1], one behind the other at `to`; what is behind the end of
/// the array is left out.
inline void copy_pieces(std::byte* to, const fetched_array& of, const std::uint32_t* begins, std::uint64_t n,
                        std::uint64_t length) {
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t begin = begins[i];
    if (begin >= of.count) continue;
    std::memcpy(to + i * length * of.item_bytes, of.from + begin * of.item_bytes,
                std::min(length, of.count - begin) * of.item_bytes);
  }
}

/// The same of several arrays, each to where it is wanted.
inline void copy_pieces(std::span<const fetched_array> arrays, const std::uint32_t* begins, std::uint64_t n,
                        std::uint64_t length) {
  for (const auto& one : arrays) copy_pieces(one.to, one, begins, n, length);
}

}  // namespace zenith::device

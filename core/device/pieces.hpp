#pragma once

/// \file
/// Pieces of an array in the host's memory, by list: what contexts' `fetch` copies.

#include <algorithm>
#include <cstring>

#include <core/device/kernel.hpp>

namespace zenith::device {

/// Pieces of `length` elements that begin at begins[0 … n - 1], one behind the other; what is not below `count` is left
/// out.
template <class T>
void copy_pieces(T* to, const T* from, u64 count, const u32* begins, u64 n, u64 length) {
  for (u64 i = 0; i < n; ++i) {
    const u64 begin = begins[i];
    if (begin < count) std::memcpy(to + i * length, from + begin, std::min(length, count - begin) * sizeof(T));
  }
}

}  // namespace zenith::device

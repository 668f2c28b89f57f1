#pragma once

/// \file
/// A merge of two sorted sequences of pairs, an item at a time, for contexts whose library has none.

#include <core/device/kernel.hpp>

namespace zenith::device {

/// Item i of both sequences, those of a first, to its place among all: behind its own that are before it, and those of
/// the other that are. Of equal keys, a's come first. O(log n) an item.
template <class Key, class Value>
struct merge_item {
  const Key* a;
  const Value* a_values;
  u64 a_count;
  const Key* b;
  const Value* b_values;
  u64 b_count;
  Key* keys;
  Value* values;

  ZENITH_FN void operator()(u64 i) const {
    const bool is_of_a = i < a_count;
    const u64 own = is_of_a ? i : i - a_count;
    const Key key = is_of_a ? a[own] : b[own];
    const Key* const other = is_of_a ? b : a;
    u64 before = 0;
    for (u64 left = is_of_a ? b_count : a_count; left > 0;) {
      const u64 half = left / 2;
      const Key seen = other[before + half];
      if (seen < key || (!is_of_a && !(key < seen))) {
        before += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    keys[own + before] = key;
    values[own + before] = is_of_a ? a_values[own] : b_values[own];
  }
};

}  // namespace zenith::device

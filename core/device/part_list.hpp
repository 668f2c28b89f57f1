#pragma once

/// \file
/// A list whose least items come first: what one lane does for `each_parted` (plain_team.hpp).

#include <cstdint>

#include <core/device/function.hpp>

namespace zenith::device {

/// The bounds of the search for the key at which a list is parted: that of the first item behind the `left` least ones.
template <class Key>
struct parting {
  Key low;        ///< it is not less
  Key high;       ///< it is not more
  u32 below = 0;  ///< items with a key less than `low`
  bool is_found = false;

  ZENITH_FN parting(Key least, Key most) : low(least), high(most) {}

  [[nodiscard]] ZENITH_FN bool is_open() const { return low < high && !is_found; }
  [[nodiscard]] ZENITH_FN Key middle() const { return static_cast<Key>(low + (high - low) / 2 + 1); }
  /// `count` items have a key less than the middle. Where these are all that go left, what is left to find is the least
  /// key that is not less.
  ZENITH_FN void narrow(Key middle, u32 count, u32 left) {
    if (count > left) {
      high = static_cast<Key>(middle - 1);
      return;
    }
    low = middle;
    below = count;
    is_found = count == left;
  }
};

template <class List>
ZENITH_FN void part_list(const List& list) {
  const u32 count = list.count;
  const u32 left = list.left;
  if (left >= count) {
    for (u32 i = 0; i < count; ++i) list.put(i, i);
    return;
  }
  using key = typename List::key_type;
  key* const keys = list.keys;
  key least = static_cast<key>(~key{0});
  key most = 0;
  for (u32 i = 0; i < count; ++i) {
    const key one = list.key(i);
    keys[i] = one;
    least = one < least ? one : least;
    most = one > most ? one : most;
  }
  parting<key> at(least, most);
  while (at.is_open()) {
    const key middle = at.middle();
    u32 less = 0;
    for (u32 i = 0; i < count; ++i) less += keys[i] < middle ? 1 : 0;
    at.narrow(middle, less, left);
  }
  if (at.is_found) {
    key next = at.high;
    for (u32 i = 0; i < count; ++i) next = keys[i] >= at.low && keys[i] < next ? keys[i] : next;
    at.low = next;
  }
  u32 to = 0;
  u32 to_right = left;
  u32 ties_left = left - at.below;
  bool has_pivot = false;
  for (u32 i = 0; i < count; ++i) {
    const bool is_tie = keys[i] == at.low;
    const bool goes_left = keys[i] < at.low || (is_tie && ties_left > 0);
    if (is_tie && goes_left) --ties_left;
    if (is_tie && !goes_left && !has_pivot) {
      has_pivot = true;
      if constexpr (List::asks_pivot) list.pivot(i);
    }
    list.put(i, goes_left ? to++ : to_right++);
  }
}

}  // namespace zenith::device

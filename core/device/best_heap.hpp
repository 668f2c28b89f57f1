#pragma once

/// \file
/// The best entries that one lane has seen.

#include <core/device/kernel.hpp>

namespace zenith::device {

/// A heap of `size` > 0 entries, the worst of them in front. Equal ones, and Entry::worst(), may be among them.
template <class Entry>
struct best_heap {
  Entry* entries;
  u32 size;

  [[nodiscard]] ZENITH_FN const Entry& worst() const { return entries[0]; }
  ZENITH_FN void replace_worst(const Entry& by) const {
    u32 at = 0;
    for (u32 child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && better(entries[child], entries[child + 1])) ++child;
      if (!better(by, entries[child])) break;
      entries[at] = entries[child];
      at = child;
    }
    entries[at] = by;
  }
};

}  // namespace zenith::device

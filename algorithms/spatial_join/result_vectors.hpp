#pragma once

/// \file
/// The vectors of a result, which are large and new. Whoever is the first to write to a page waits until the system has
/// cleared it: all workers do. Then their owner fills them with zeros, by a worker each, before pairs are written.

#include <cstdint>

#include <core/device/kernel.hpp>

namespace zenith::spatial_join_family {

using device::u32;
using device::u64;

/// Writes to each page of two arrays. A large page is one team's: several would clear it at the same time.
struct touch_pages {
  static constexpr u32 arrays = 2;
  static constexpr u64 page = 4096;
  static constexpr u64 large = u64{1} << 21;
  static constexpr u64 item_cost = large;

  char* at[arrays];
  u64 bytes;  ///< of each

  [[nodiscard]] u64 teams() const { return arrays * (bytes / large + 2); }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    team.once([&]() ZENITH_BODY {
      char* const from = at[i % arrays];
      const u64 skipped = reinterpret_cast<std::uintptr_t>(from) % large;
      const u64 first = i / arrays * large;
      const u64 last = first + large < skipped + bytes ? first + large : skipped + bytes;
      for (u64 here = first < skipped ? skipped : first; here < last; here += page) from[here - skipped] = 0;
    });
  }
};

/// Makes a side's vector as large as it will be: the left one's is item 0.
struct grow_vectors {
  void (*grow)(void* state, u64 count, bool is_right);
  void* state;
  u64 count;
  u64 bytes;

  [[nodiscard]] u64 launch_cost(u64 n) const { return n * bytes; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    team.once([&]() ZENITH_BODY { grow(state, count, i == 1); });
  }
};

}  // namespace zenith::spatial_join_family

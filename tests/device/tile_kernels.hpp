#pragma once

/// \file
/// The suite's tile kernels, and the sources that they read.

#include <core/key_order.hpp>
#include <tests/device/item_kernels.hpp>

namespace zenith::device_suite {

/// A block source that needs a word a block: key i is a number made of it and of i.
template <class T>
struct made_of_blocks {
  using key = T;
  static constexpr unsigned block_items = 128;

  const u64* seeds;
  u64 count;

  ZENITH_FN u64 size() const { return count; }
  ZENITH_FN T at(u64 i) const { return static_cast<T>(mixed(seeds[i / block_items], i) >> 40); }
  ZENITH_FN void decode(u64 block, T* to) const {
    for (unsigned i = 0; i < block_items; ++i)
      to[i] = static_cast<T>(mixed(seeds[block], block * block_items + i) >> 40);
  }
};

template <class Source>
using entry_of = ordered::entry_t<ordered::bits_t<typename Source::key>>;

template <device::key_source Source>
ZENITH_FN entry_of<Source> entry_at(const Source& source, u64 i) {
  return entry_of<Source>::make(ordered::key_order<typename Source::key>{}.image(device::key_at(source, i)),
                                static_cast<u32>(i));
}

/// Gives everything from `limit` on to the collection, whatever its bound.
template <class Source>
struct give_all {
  Source source;
  typename Source::key limit;
  device::collection<entry_of<Source>> survivors;
  u32* some;  ///< becomes 1 when a tile has a flagged item

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    auto sink = team.open(survivors);
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      const auto flags = team.flag(items, [&](const auto& keys) ZENITH_BODY {
        using lane = std::remove_cvref_t<decltype(keys)>;
        return keys >= lane(limit);
      });
      if (!team.any(flags)) return;
      (void)device::atomic_or(some, 1U);
      sink.append(team, items, flags, [&](u64 i) ZENITH_BODY { return entry_at(source, i); });
    });
    sink.close(team);
  }
};

/// Gives what reaches the collection's bound as it rises. Keys are unsigned, so they are their images.
template <class Source>
struct give_best {
  Source source;
  device::collection<entry_of<Source>> survivors;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    auto sink = team.open(survivors);
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      const typename Source::key bound = sink.bound().image();
      const auto flags = team.flag(items, [&](const auto& keys) ZENITH_BODY {
        using lane = std::remove_cvref_t<decltype(keys)>;
        return keys >= lane(bound);
      });
      if (team.any(flags)) sink.append(team, items, flags, [&](u64 i) ZENITH_BODY { return entry_at(source, i); });
    });
    sink.close(team);
  }
};

/// Every key's bits: how often each remainder of a number made of them, and the sum of these numbers.
template <class Source>
struct tally {
  static constexpr u32 bins = 61;
  static constexpr u32 scratch_bytes = 64 * sizeof(u32) + sizeof(u64);

  Source source;
  u32* to;
  u64* sum;

  ZENITH_FN static u64 number_of(typename Source::key key) {
    return mixed(ordered::key_order<typename Source::key>::bits(key), 3);
  }
  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    u32* const own = team.template scratch<u32>();
    u64* const own_sum = team.template scratch<u64>(64 * sizeof(u32));
    team.for_each(bins, [&](u64 b) ZENITH_BODY { own[b] = 0; });
    team.once([&]() ZENITH_BODY { *own_sum = 0; });
    team.barrier();
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      team.each_item(items, [&](const auto& key) ZENITH_BODY {
        const u64 number = number_of(static_cast<typename Source::key>(key));
        team.add(own + number % bins, 1);
        team.add(own_sum, number);
      });
    });
    team.barrier();
    team.for_each(bins, [&](u64 b) ZENITH_BODY {
      if (own[b] != 0) (void)device::atomic_add(to + b, own[b]);
    });
    team.once([&]() ZENITH_BODY { (void)device::atomic_add(sum, *own_sum); });
  }
};

template <class Source>
using kernels_on = device::list<give_all<Source>, tally<Source>>;

using tile_kernels = device::concat<
    kernels_on<device::plain<float>>, kernels_on<device::plain<double>>, kernels_on<device::plain<std::int32_t>>,
    kernels_on<device::plain<u32>>, kernels_on<device::plain<std::int64_t>>, kernels_on<device::plain<u64>>,
    kernels_on<device::scored<float, float>>, kernels_on<device::scored<double, double>>,
    kernels_on<device::scored<std::int32_t, double>>, kernels_on<made_of_blocks<u32>>,
    kernels_on<made_of_blocks<double>>,
    device::list<give_best<device::plain<u32>>, give_best<device::plain<u64>>, give_best<made_of_blocks<u32>>>>;

}  // namespace zenith::device_suite

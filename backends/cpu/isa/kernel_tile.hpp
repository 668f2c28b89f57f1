#pragma once

// The CPU's tile: eight SIMD registers of keys, and what becomes of those that are flagged. Included by a unit that is
// compiled for one instruction set.

#include <backends/cpu/isa/arch.hpp>

#include <cstdint>

#include <backends/cpu/isa/kernel_lane.hpp>
#include <backends/cpu/isa/lane_mask.hpp>
#include <backends/cpu/launch.hpp>
#include <core/device/plain_team.hpp>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

template <class Key>
struct key_registers {
  static constexpr unsigned vectors = 8;
  static constexpr unsigned lanes = lane_of<Key>::size;
  static constexpr unsigned size = vectors * lanes;
  static_assert(size <= most_items_of_a_tile);

  lane_of<Key> v[vectors];
  std::uint64_t first;
};

template <class Kept, unsigned Vectors>
struct register_flags {
  Kept v[Vectors];
};

template <class Source>
ZENITH_FN auto load_registers(const Source& source, std::uint64_t first) {
  using key = typename Source::key;
  key_registers<key> items;
  items.first = first;
  ZENITH_UNROLLED
  for (unsigned i = 0; i < key_registers<key>::vectors; ++i) {
    items.v[i] = source.lanes(register_load<key>{first + i * key_registers<key>::lanes});
  }
  return items;
}

/// A worker's end of a collection.
template <class Entry>
class sink {
 public:
  ZENITH_FN explicit sink(collecting_worker<Entry>& mine) : mine_(mine) {}

  ZENITH_FN Entry bound() const { return mine_.bound; }

  // Survivors are asked for again by their numbers: a tile whose registers are indexed by a running number lies in
  // memory, and is written there before anybody knows that it has survivors.
  template <class Team, class Key, class Kept, unsigned Vectors, class Make>
  ZENITH_FN void append(Team& /*team*/, const key_registers<Key>& items, const register_flags<Kept, Vectors>& flags,
                        const Make& make) {
    constexpr unsigned words = (key_registers<Key>::size + 63) / 64;
    constexpr unsigned lanes = key_registers<Key>::lanes;
    std::uint64_t word[words] = {};
    ZENITH_UNROLLED
    for (unsigned i = 0; i < Vectors; ++i) {
      word[i * lanes / 64] |= static_cast<std::uint64_t>(lane_mask(flags.v[i])) << (i * lanes % 64);
    }
    ZENITH_UNROLLED
    for (unsigned w = 0; w < words; ++w) take(items.first + w * 64, word[w], make);
    settle();
  }
  template <class Team, class Tile, class Make>
  ZENITH_FN void append(Team& /*team*/, const Tile& items, std::uint64_t flags, const Make& make) {
    take(items.first, flags, make);
    settle();
  }
  template <class Team>
  ZENITH_FN void close(Team& /*team*/) {}

 private:
  template <class Make>
  ZENITH_FN void take(std::uint64_t first, std::uint64_t flags, const Make& make) {
    std::uint32_t count = mine_.count;
    for (; flags != 0; flags &= flags - 1) {
      const Entry entry = make(first + static_cast<unsigned>(__builtin_ctzll(flags)));
      mine_.entries[count] = entry;
      count += better(mine_.bound, entry) ? 0 : 1;
    }
    mine_.count = count;
  }
  ZENITH_FN void settle() {
    if (mine_.count >= mine_.full) {
      mine_.make_space(mine_);
    } else {
      raise_to(mine_.bound, __atomic_load_n(mine_.shared, __ATOMIC_RELAXED));
    }
  }

  collecting_worker<Entry>& mine_;
};

}  // namespace
}  // namespace zenith::cpu_backend::ZENITH_ISA

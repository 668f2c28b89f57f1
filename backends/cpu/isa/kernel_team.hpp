#pragma once

// The CPU's team: one core, whose lanes are a loop. The words are those of core/device/plain_team.hpp. Included by a
// unit that is compiled for one instruction set.

#include <backends/cpu/isa/arch.hpp>

#include <cstdint>

#include <backends/cpu/isa/kernel_tile.hpp>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

class kernel_team {
 public:
  static constexpr bool is_one_lane = true;

  ZENITH_FN explicit kernel_team(const launch_worker& worker) : worker_(worker), index_(worker.id) {}

  ZENITH_FN std::uint64_t index() const { return index_; }
  /// Of a team kernel, whose teams are its items.
  ZENITH_FN void become(std::uint64_t index) { index_ = index; }

  template <class T>
  ZENITH_FN T* scratch(std::uint32_t byte_offset = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(worker_.scratch) + byte_offset);
  }
  template <class F>
  ZENITH_FN void for_each(std::uint64_t n, const F& f) const {
    for (std::uint64_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  ZENITH_FN void once(const F& f) const {
    f();
  }
  ZENITH_FN void barrier() const {}

  template <class T, class F, class Op>
  ZENITH_FN T reduce(std::uint64_t n, T none, const F& f, const Op& op) const {
    T all = none;
    for (std::uint64_t i = 0; i < n; ++i) all = op(all, f(i));
    return all;
  }
  /// In steps, each of which is a loop that compilers vectorise.
  template <class F>
  ZENITH_FN bool any(std::uint64_t n, const F& f) const {
    constexpr std::uint64_t step = 64;
    std::uint64_t at = 0;
    for (; at + step <= n; at += step) {
      int found = 0;
      for (std::uint64_t i = 0; i < step; ++i) found |= f(at + i) ? 1 : 0;
      if (found != 0) return true;
    }
    for (; at < n; ++at) {
      if (f(at)) return true;
    }
    return false;
  }
  template <class F>
  ZENITH_FN std::uint64_t count(std::uint64_t n, const F& f) const {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < n; ++i) found += f(i) ? 1 : 0;
    return found;
  }
  template <class T>
  ZENITH_FN T scan(T* values, std::uint64_t n) const {
    T sum{};
    for (std::uint64_t i = 0; i < n; ++i) {
      const T value = values[i];
      values[i] = sum;
      sum = static_cast<T>(sum + value);
    }
    return sum;
  }
  template <class T, class More>
  ZENITH_FN T add(T* at, More more) const {
    const T before = *at;
    *at = static_cast<T>(before + static_cast<T>(more));
    return before;
  }
  template <class Open>
  ZENITH_FN void each_list(std::uint64_t n, const Open& open) const {
    for (std::uint64_t i = 0; i < n; ++i) device::take_list(open(i));
  }
  template <class Open>
  ZENITH_FN void each_parted(std::uint64_t n, const Open& open) const {
    for (std::uint64_t i = 0; i < n; ++i) device::part_list(open(i));
  }
  template <class Open>
  ZENITH_FN void each_reduced(std::uint64_t n, const Open& open) const {
    for (std::uint64_t i = 0; i < n; ++i) device::reduce_list(open(i));
  }
  template <class Test>
  ZENITH_FN void wait_until(const Test& test) const {
    device::wait_until(test);
  }

  template <class Source, class Body>
  ZENITH_FN void each_tile(const Source& source, const Body& body) const {
    each_chunk(worker_, [&](std::uint64_t begin, std::uint64_t end) ZENITH_BODY {
      if constexpr (device::block_source<Source>) {
        device::each_plain_tile(source, begin, end, body);
      } else {
        constexpr std::uint64_t size = key_registers<typename Source::key>::size;
        std::uint64_t at = begin;
        for (; at + size <= end; at += size) body(load_registers(source, at));
        // a second tile in registers, with a mask, would make units several times as large
        for (; at < end; at += device::plain_tile_items) {
          const std::uint64_t rest = end - at;
          body(device::lazy_tile<Source, false>{
              source, at,
              static_cast<std::uint32_t>(rest < device::plain_tile_items ? rest : device::plain_tile_items)});
        }
      }
    });
  }

  template <class Key, class Predicate>
  ZENITH_FN auto flag(const key_registers<Key>& items, const Predicate& is) const {
    register_flags<decltype(kept(is(items.v[0]))), key_registers<Key>::vectors> flags;
    ZENITH_UNROLLED
    for (unsigned i = 0; i < key_registers<Key>::vectors; ++i) flags.v[i] = kept(is(items.v[i]));
    return flags;
  }
  template <class Source, bool Full, class Predicate>
  ZENITH_FN std::uint64_t flag(const device::lazy_tile<Source, Full>& items, const Predicate& is) const {
    return device::plain_flags(items, is);
  }
  template <class Key, bool Full, class Predicate>
  ZENITH_FN std::uint64_t flag(const device::decoded_tile<Key, Full>& items, const Predicate& is) const {
    return device::plain_flags(items, is);
  }

  ZENITH_FN bool any(std::uint64_t flags) const { return flags != 0; }
  template <class Kept, unsigned Vectors>
  ZENITH_FN bool any(const register_flags<Kept, Vectors>& flags) const {
    auto merged = flags.v[0];
    ZENITH_UNROLLED
    for (unsigned i = 1; i < Vectors; ++i) merged = merged | flags.v[i];
    return any_lane(merged);
  }

  template <class Key, class Use>
  ZENITH_FN void each_item(const key_registers<Key>& items, const Use& use) const {
    Key key[key_registers<Key>::size];
    ZENITH_UNROLLED
    for (unsigned i = 0; i < key_registers<Key>::vectors; ++i) items.v[i].store_unaligned(key + i * items.lanes);
    for (unsigned i = 0; i < key_registers<Key>::size; ++i) use(key[i]);
  }
  template <class Tile, class Use>
  ZENITH_FN void each_item(const Tile& items, const Use& use) const {
    for (std::uint32_t i = 0; i < items.count; ++i) use(items.key(i));
  }

  template <class Entry>
  ZENITH_FN sink<Entry> open(const device::collection<Entry>& to) const {
    return sink<Entry>(static_cast<collecting_worker<Entry>*>(to.workers)[worker_.id]);
  }

 private:
  const launch_worker& worker_;
  std::uint64_t index_;
};

/// A worker's share of a launch.
template <class Kernel>
void run_kernel(const void* kernel, const launch_worker& worker) {
  const auto& run = *static_cast<const Kernel*>(kernel);
  kernel_team team(worker);
  if constexpr (device::tile_kernel<Kernel>) {
    run(team);
  } else {
    each_chunk(worker, [&](std::uint64_t begin, std::uint64_t end) ZENITH_BODY {
      for (std::uint64_t i = begin; i < end; ++i) {
        if constexpr (device::item_kernel<Kernel>) {
          run(i);
        } else {
          team.become(i);
          run(team, i);
        }
      }
    });
  }
}

template <class Kernels>
struct entries_of;
template <class... Kernels>
struct entries_of<device::list<Kernels...>> {
  static constexpr kernel_entry entries[] = {run_kernel<Kernels>..., nullptr};
};

}  // namespace
}  // namespace zenith::cpu_backend::ZENITH_ISA

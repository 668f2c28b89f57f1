#pragma once

/// \file
/// What the units for single instruction sets and the CPU's device context share: plain structs, and functions that are
/// not inline.

#include <cstdint>

#include <core/device/function.hpp>
#include <core/device/shared_state.hpp>
#include <core/entry.hpp>

namespace zenith::cpu_backend {

/// A worker's share of a launch: consecutive chunks. In a line of its own, which others take only when they have no
/// chunk left.
struct alignas(64) launch_share {
  std::uint64_t next = 0;  ///< the number of the chunk to be taken next
  std::uint64_t end = 0;
};

/// What a launch tells one of its workers.
struct launch_worker {
  std::uint32_t id = 0;
  std::uint32_t workers = 1;
  std::uint64_t count = 0;  ///< of items
  std::uint64_t chunk = 0;  ///< items
  launch_share* shares = nullptr;
  void* scratch = nullptr;  ///< this worker's, as much as the kernel says
};

/// Calls take(begin, end) for each chunk that a worker gets: those of its own share by rising index, and then what is
/// left of the others'. So a worker reads neighbouring memory, in each call the same, while nobody has to wait.
template <class Take>
ZENITH_FN void each_chunk(const launch_worker& worker, const Take& take) {
  for (std::uint32_t i = 0; i < worker.workers;) {
    const std::uint32_t of = worker.id + i;
    launch_share& share = worker.shares[of < worker.workers ? of : of - worker.workers];
    const bool is_empty = i > 0 && __atomic_load_n(&share.next, __ATOMIC_RELAXED) >= share.end;
    const std::uint64_t taken =
        is_empty ? share.end : __atomic_fetch_add(&share.next, std::uint64_t{1}, __ATOMIC_RELAXED);
    if (taken >= share.end) {
      ++i;
      continue;
    }
    const std::uint64_t begin = taken * worker.chunk;
    const std::uint64_t left = worker.count - begin;
    take(begin, begin + (left < worker.chunk ? left : worker.chunk));
  }
}

/// A kernel in one instruction set's unit.
using kernel_entry = void (*)(const void* kernel, const launch_worker& worker);

/// Register tiles hold at most so many items, and a worker's buffer can hold one of them beyond `full`.
inline constexpr std::uint32_t most_items_of_a_tile = 128;

/// One worker's end of a collection.
template <class Entry>
struct collecting_worker {
  Entry* entries = nullptr;
  Entry* spare = nullptr;  ///< as many as entries, and a register
  std::uint32_t count = 0;
  std::uint32_t full = 0;  ///< with so many it selects
  std::uint32_t k = 0;
  Entry bound{};                    ///< an item must not be worse
  std::uint64_t* shared = nullptr;  ///< the best bound of all workers, as `shared_bound` has it
  const void* isa = nullptr;
  /// Keeps the k best entries and raises the bounds. A plain function of the baseline: a unit may call what it cannot
  /// inline.
  void (*make_space)(collecting_worker& of) = nullptr;
};

// A bound in one word. That of a wide entry leaves out the index, so that equal keys pass.
ZENITH_FN std::uint64_t shared_bound(const ordered::entry32& bound) { return bound.packed; }
ZENITH_FN std::uint64_t shared_bound(const ordered::entry64& bound) { return bound.high; }
ZENITH_FN void raise_to(ordered::entry32& bound, std::uint64_t shared) {
  if (shared > bound.packed) bound.packed = shared;
}
ZENITH_FN void raise_to(ordered::entry64& bound, std::uint64_t shared) {
  if (shared > bound.high) bound = {shared, 0};
}

}  // namespace zenith::cpu_backend

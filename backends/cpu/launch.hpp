#pragma once

/// \file
/// What the units for single instruction sets and the CPU's device context share: plain structs, and functions that are
/// not inline.

#include <cstdint>

#include <core/device/function.hpp>
#include <core/device/shared_state.hpp>
#include <core/entry.hpp>

namespace zenith::cpu_backend {

/// What a launch tells one of its workers. A worker takes chunk after chunk of the launch's items by rising index.
struct launch_worker {
  std::uint32_t id = 0;
  std::uint64_t count = 0;
  std::uint64_t chunk = 0;
  std::uint64_t* next = nullptr;  ///< the number of the chunk to be taken next, shared
  void* scratch = nullptr;        ///< this worker's, as much as the kernel says
};

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

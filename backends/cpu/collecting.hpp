#pragma once

/// \file
/// The CPU's collections: a buffer for each worker, which selects its k best when it is full.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include <backends/cpu/isa/table.hpp>
#include <backends/cpu/launch.hpp>
#include <backends/cpu/select.hpp>

namespace zenith::cpu_backend {

template <class Entry>
void make_space(collecting_worker<Entry>& of) {
  selector<Entry>(*static_cast<const isa_table*>(of.isa), of.spare).select({of.entries, of.count}, of.k);
  of.count = of.k;
  // an item must now be better than the worst of the k best. None equals it, so "not worse" says the same.
  const Entry least = of.entries[of.k - 1];
  if (better(least, of.bound)) of.bound = least;
  const std::uint64_t raised = shared_bound(of.bound);
  (void)device::atomic_max(of.shared, raised);
  raise_to(of.bound, __atomic_load_n(of.shared, __ATOMIC_RELAXED));
}

/// How many entries a worker's buffer holds before it selects: the last selection is then paid by as many new ones.
[[nodiscard]] inline std::uint64_t full_buffer(std::uint64_t n, std::uint64_t k) {
  return std::min(n, k + std::max<std::uint64_t>(k, 1024));
}

}  // namespace zenith::cpu_backend

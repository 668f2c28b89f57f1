#pragma once

/// \file
/// The CPU's collections: a buffer for each worker, which selects its k best when it is full. Compiled for both widths
/// of entries once, for all families.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include <backends/cpu/isa/table.hpp>
#include <backends/cpu/launch.hpp>

namespace zenith::cpu_backend {

/// Capacity that a selector's spare memory needs beyond the entries: one register.
inline constexpr std::size_t spare_slack = 8;

template <class Entry>
void make_space(collecting_worker<Entry>& of);

/// The entry of that rank, from 1. `spare` holds as many as there are entries, and `spare_slack` more.
template <class Entry>
[[nodiscard]] Entry kth_of(const isa_table& isa, std::span<Entry> entries, std::uint64_t rank, Entry* spare);

/// Moves the k best to the front, in order: of many, each of some workers orders a piece.
template <class Entry>
void order_best(const isa_table& isa, std::pmr::memory_resource& memory, int workers, std::span<Entry> entries,
                std::uint64_t k);

/// How many entries a worker's buffer holds before it selects: the last selection is then paid by as many new ones.
[[nodiscard]] inline std::uint64_t full_buffer(std::uint64_t n, std::uint64_t k) {
  return std::min(n, k + std::max<std::uint64_t>(k, 1024));
}

}  // namespace zenith::cpu_backend

#pragma once

/// \file
/// How the blocks of a packed column are shared out among workers.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <backends/cpu/parallel.hpp>
#include <zenith/packed_layout.hpp>

namespace zenith::cpu_backend {

/// What a worker takes at a time: 64 K values.
inline constexpr std::uint64_t chunk_groups = 32;
inline constexpr std::uint64_t chunk_blocks = chunk_groups * packed_group_blocks;

/// Runs work(worker, begin, end) over [first, last) in chunks of at most `chunk`, handed out by rising index to
/// whichever worker is free.
template <class Work>
void for_chunks(int workers, std::uint64_t first, std::uint64_t last, std::uint64_t chunk, const Work& work) {
  if (first >= last) return;
  if (workers == 1) {
    // calls over a few thousand values take less than handing them out does
    for (auto begin = first; begin < last; begin += chunk) work(0, begin, std::min(last, begin + chunk));
    return;
  }
  std::atomic<std::uint64_t> next{0};
  const std::uint64_t chunks = (last - first + chunk - 1) / chunk;
  run_workers(workers, [&](int worker) {
    for (auto at = next++; at < chunks; at = next++) {
      const std::uint64_t begin = first + at * chunk;
      work(worker, begin, std::min(last, begin + chunk));
    }
  });
}

/// Workers for a pass over `values` of a column's values, each of which costs its packed bytes and `written` more.
[[nodiscard]] inline int workers_for_blocks(int threads, const packed_layout& column, std::uint64_t values,
                                            std::uint64_t written = 0) {
  if (threads == 1) return 1;
  // decoding a value costs as much as reading two bytes, however few its bits are
  const double packed = static_cast<double>(column.total_bytes) / static_cast<double>(column.count) + 2;
  return workers_for(threads, static_cast<std::uint64_t>(packed * static_cast<double>(values)) + values * written);
}

}  // namespace zenith::cpu_backend

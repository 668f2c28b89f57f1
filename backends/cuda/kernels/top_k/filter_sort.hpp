#pragma once

/// \file
/// A block of 1024 threads sorts entries that lie in shared memory: the bitonic network, each thread with an entry or
/// two in registers. Neighbours within a warp exchange by shuffles; only longer distances go through shared memory.

#include <backends/cuda/kernels/top_k/block_select.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Entry i is held by thread i % 1024.
template <class Entry, unsigned Each>
class block_sort {
 public:
  static_assert(Each == 1 || Each == 2);

  /// `memory` holds at least Each * select_threads entries.
  ZENITH_DEVICE explicit block_sort(const simt::shared_span<Entry>& memory) : memory_(memory) {}

  /// Sorts the first `count` entries, best first, and reads and writes those up to the next power of two (a warp's at
  /// least), which must be `worst`. To be called by all threads.
  ZENITH_DEVICE void sort(std::uint32_t count) {
    unsigned size = simt::warp_size;
    while (size < count) size *= 2;
    // a whole warp takes part or none of it
    is_active_ = simt::thread_index() < size;
    read();
    for (unsigned run = 2; run <= size; run *= 2) {
      for (unsigned distance = run / 2; distance > 0; distance /= 2) {
        if (distance >= select_threads) {
          exchange_own(run);
        } else if (distance >= simt::warp_size) {
          exchange_through_memory(run, distance);
        } else if (is_active_) {
          exchange_in_warp(run, distance);
        }
      }
    }
    // whoever reads a partner's entry is done
    simt::block_barrier();
    write();
    simt::block_barrier();
  }

 private:
  ZENITH_DEVICE static unsigned place(unsigned j) { return j * select_threads + simt::thread_index(); }

  // Of two entries `distance` apart the one at the lower place becomes the better in a descending run.
  ZENITH_DEVICE void keep(unsigned j, const Entry& other, unsigned run, unsigned distance) {
    const bool wants_better = ((place(j) & run) == 0) == ((place(j) & distance) == 0);
    if (better(other, held_[j]) == wants_better) held_[j] = other;
  }

  ZENITH_DEVICE void exchange_own(unsigned run) {
    if constexpr (Each == 2) {
      const Entry first = held_[0];
      keep(0, held_[1], run, select_threads);
      keep(1, first, run, select_threads);
    }
  }

  ZENITH_DEVICE void exchange_in_warp(unsigned run, unsigned distance) {
    ZENITH_UNROLL
    for (unsigned j = 0; j < Each; ++j) {
      keep(j, simt::shuffle_xor(simt::full_warp, held_[j], distance), run, distance);
    }
  }

  ZENITH_DEVICE void exchange_through_memory(unsigned run, unsigned distance) {
    // whoever reads what was written before is done
    simt::block_barrier();
    write();
    simt::block_barrier();
    if (!is_active_) return;
    ZENITH_UNROLL
    for (unsigned j = 0; j < Each; ++j) keep(j, memory_.read(place(j) ^ distance), run, distance);
  }

  ZENITH_DEVICE void read() {
    ZENITH_UNROLL
    for (unsigned j = 0; j < Each; ++j) held_[j] = is_active_ ? memory_.read(place(j)) : Entry::worst();
  }

  ZENITH_DEVICE void write() const {
    if (!is_active_) return;
    ZENITH_UNROLL
    for (unsigned j = 0; j < Each; ++j) memory_.write(place(j), held_[j]);
  }

  simt::shared_span<Entry> memory_;
  Entry held_[Each];
  bool is_active_ = false;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

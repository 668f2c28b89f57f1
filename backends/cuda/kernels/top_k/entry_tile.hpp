#pragma once

/// \file
/// The ordering family of the tile vocabulary on a thread block: runs of k entries, sorted, merged and rebuilt.
///
/// The optimisations of Shanbhag et al. 2018, section 4.3, as they stand here:
///   shared memory     a tile stays in shared memory from its load to its last rebuild;
///   merging operators a kernel is one skeleton of several operators (algorithms/top_k/bitonic.hpp), and each merge
///   hands
///                     its result to the rebuild that follows in registers;
///   combined steps    a thread holds as many items as differ in some neighbouring bits of their positions (a *layout*)
///                     and does the steps over all of those distances in registers;
///   work before write the first levels of the sort happen on the registers that the load filled;
///   padding           one unused slot after each 128 bytes. With as many items a thread as a row of banks has entries,
///                     every layout is then free of conflicts, so that chunk permutation has nothing left to do;
///   reassignment      after each merge half of the threads go on, with as many items each as before.

#include <algorithms/top_k/bitonic.hpp>
#include <backends/cuda/simt/vocabulary.hpp>
#include <core/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Threads of a tile and entries a thread: 4096 entries of 8 bytes, 2048 of 16.
template <class Entry>
struct tile_tuning {
  static constexpr unsigned threads = 256;
  static constexpr unsigned items = 128 / sizeof(Entry);
  static constexpr unsigned size = threads * items;
};

template <class Entry>
class entry_tile {
 public:
  static constexpr unsigned threads = tile_tuning<Entry>::threads;
  static constexpr unsigned items = tile_tuning<Entry>::items;
  static constexpr unsigned full_size = threads * items;
  static constexpr unsigned slots = full_size + full_size / items;  // padded

  /// `memory` holds `slots` entries. The tile is the block_index-th of its launch.
  ZENITH_DEVICE explicit entry_tile(const simt::shared_span<Entry>& memory) : memory_(memory) {}

  /// Entries that the tile holds now: merges halve it.
  [[nodiscard]] ZENITH_DEVICE unsigned size() const { return size_; }

  /// Unordered entries, ready for sort_runs.
  template <class Source>
  ZENITH_DEVICE void load(const Source& from, std::uint64_t first) {
    from.load(held_, first, simt::thread_index(), threads);
  }

  /// Entries in their places; those from `count` on are `worst`.
  ZENITH_DEVICE void load_runs(const Entry* from, std::uint32_t count) {
    ZENITH_UNROLL
    for (unsigned j = 0; j < items; ++j) {
      const unsigned at = j * threads + simt::thread_index();
      memory_.write(slot(at), at < count ? simt::load(from + at) : Entry::worst());
    }
    simt::block_barrier();
  }

  /// All entries of the tile, in their places, to to[0 … size()).
  ZENITH_DEVICE void store_runs(Entry* to) const {
    for (unsigned at = simt::thread_index(); at < size_; at += threads) simt::store(to + at, memory_.read(slot(at)));
  }

  /// Local sort: loaded entries to runs of k, alternately descending and ascending. k is a power of two from `items`
  /// on.
  ZENITH_DEVICE void sort_runs(tile_index k) {
    sort_held();
    write_held(0);
    simt::block_barrier();
    for (unsigned run = 2 * items; run <= k; run *= 2) descend(run);
  }

  /// Merge: the better of each pair of entries k apart. The result stays in registers, in the layout that the rebuild
  /// of runs of k begins with.
  ZENITH_DEVICE void merge_runs(tile_index k) {
    const unsigned half = size_ / 2;
    const unsigned shift = first_shift(k);
    if (simt::thread_index() * items < half) {
      ZENITH_UNROLL
      for (unsigned j = 0; j < items; ++j) {
        const auto at = static_cast<unsigned>(top_k_detail::merge_position(position(j, shift), k));
        const Entry first = memory_.read(slot(at));
        const Entry second = memory_.read(slot(at + k));
        held_[j] = better(first, second) ? first : second;
      }
    }
    simt::block_barrier();
    size_ = half;
  }

  /// Rebuild: sorts the bitonic runs of k that a merge left, alternately descending and ascending.
  ZENITH_DEVICE void rebuild_runs(tile_index k) {
    unsigned shift = first_shift(k);
    if (is_active()) {
      run_steps(shift, k);
      write_held(shift);
    }
    simt::block_barrier();
    if (shift > 0) descend_from(shift - 1, k);
  }

  /// The steps of distances below the tile's size in the network for `run`, which may be longer than the tile.
  ZENITH_DEVICE void descend(std::uint64_t run) {
    const std::uint64_t distance = run / 2 < size_ / 2 ? run / 2 : size_ / 2;
    descend_from(log2_of(static_cast<unsigned>(distance)), run);
  }

 private:
  static constexpr unsigned item_bits = items == 16 ? 4 : 3;
  static_assert(items == 1U << item_bits);

  ZENITH_DEVICE static unsigned log2_of(unsigned power) { return 31 - simt::count_leading_zeros(power); }
  ZENITH_DEVICE static unsigned slot(unsigned at) { return at + at / items; }

  // Layout `shift`: a thread's items differ in bits shift … shift + item_bits - 1 of their positions.
  ZENITH_DEVICE static unsigned position(unsigned item, unsigned shift) {
    const unsigned thread = simt::thread_index();
    const unsigned low = thread & ((1U << shift) - 1);
    return ((thread >> shift) << (shift + item_bits)) | (item << shift) | low;
  }

  // The layout whose highest bit is that of distance k / 2.
  ZENITH_DEVICE static unsigned first_shift(unsigned k) { return log2_of(k) - item_bits; }

  [[nodiscard]] ZENITH_DEVICE bool is_active() const { return simt::thread_index() * items < size_; }

  // Position of the tile's first entry among those of all tiles: a launch's tiles all have the same size.
  [[nodiscard]] ZENITH_DEVICE std::uint64_t origin() const { return std::uint64_t{simt::block_index()} * size_; }

  ZENITH_DEVICE void exchange(unsigned lower, unsigned upper, bool descending) {
    if (better(held_[lower], held_[upper]) != descending) {
      const Entry kept = held_[lower];
      held_[lower] = held_[upper];
      held_[upper] = kept;
    }
  }

  // All levels up to runs of `items`, in layout 0. Only the last of them depends on the thread.
  ZENITH_DEVICE void sort_held() {
    ZENITH_UNROLL
    for (unsigned level = 1; level <= item_bits; ++level) {
      ZENITH_UNROLL
      for (unsigned bit = level; bit-- > 0;) {
        ZENITH_UNROLL
        for (unsigned j = 0; j < items; ++j) {
          const bool descending = level < item_bits ? (j >> level & 1) == 0 : (simt::thread_index() & 1) == 0;
          if ((j >> bit & 1) == 0) exchange(j, j | 1U << bit, descending);
        }
      }
    }
  }

  // Steps of all distances that layout `shift` holds, for runs of `run`, which is longer than all of them.
  ZENITH_DEVICE void run_steps(unsigned shift, std::uint64_t run, unsigned highest = item_bits - 1) {
    const bool descending = top_k_detail::is_descending(origin() + position(0, shift), run);
    ZENITH_UNROLL
    for (unsigned bit = item_bits; bit-- > 0;) {
      if (bit > highest) continue;
      ZENITH_UNROLL
      for (unsigned j = 0; j < items; ++j) {
        if ((j >> bit & 1) == 0) exchange(j, j | 1U << bit, descending);
      }
    }
  }

  // Steps of distances 2^bit, 2^(bit-1), … 1, a layout's worth at a time.
  ZENITH_DEVICE void descend_from(unsigned bit, std::uint64_t run) {
    while (true) {
      const unsigned shift = bit < item_bits ? 0 : bit - (item_bits - 1);
      if (is_active()) {
        read_held(shift);
        run_steps(shift, run, bit - shift);
        write_held(shift);
      }
      simt::block_barrier();
      if (shift == 0) return;
      bit = shift - 1;
    }
  }

  ZENITH_DEVICE void read_held(unsigned shift) {
    ZENITH_UNROLL
    for (unsigned j = 0; j < items; ++j) held_[j] = memory_.read(slot(position(j, shift)));
  }

  ZENITH_DEVICE void write_held(unsigned shift) const {
    ZENITH_UNROLL
    for (unsigned j = 0; j < items; ++j) memory_.write(slot(position(j, shift)), held_[j]);
  }

  simt::shared_span<Entry> memory_;
  Entry held_[items];
  unsigned size_ = full_size;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

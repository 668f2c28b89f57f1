#pragma once

/// \file
/// Strategy "filter" in one launch, for inputs that are read in less time than several launches take. Each block finds
/// a threshold of its own: the k-th best of its threads' best keys of its first tile, which at least k keys reach. It
/// keeps what reaches it; the last block selects among what all kept. No step depends on a guess, so that nothing is
/// ever repeated: where too much is kept, the block selects the k best of what it has.

#include <algorithms/top_k/filter_plan.hpp>
#include <backends/cuda/kernels/top_k/block_finish.hpp>
#include <backends/cuda/kernels/top_k/filter_state.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What the blocks of a launch share; zeros before it.
struct block_filter_state {
  std::uint32_t kept;     ///< entries of all blocks
  std::uint32_t arrived;  ///< blocks that are done
};

/// A block's tile: the images of its keys in registers, 0 where there is no key.
template <class T>
class block_tile {
 public:
  using image_t = typename top_k_detail::key_order<T>::image_t;
  using entry = top_k_detail::entry_t<image_t>;
  static constexpr unsigned items =
      top_k_detail::block_filter_plan::tile_bytes / (select_threads * sizeof(T));  ///< of a thread
  static constexpr unsigned size = items * select_threads;

  ZENITH_DEVICE block_tile(const T* keys, std::uint32_t count, const top_k_detail::key_order<T>& order)
      : keys_(keys), count_(count), order_(order), is_aligned_(reinterpret_cast<std::uintptr_t>(keys) % 16 == 0) {}

  ZENITH_DEVICE void load(std::uint32_t first) {
    first_ = first;
    if (is_aligned_ && count_ - first >= size) {
      ZENITH_UNROLL
      for (unsigned v = 0; v < items / per_vector; ++v) {
        const auto loaded = simt::load_vector_streaming<per_vector>(keys_ + position(v * per_vector));
        ZENITH_UNROLL
        for (unsigned i = 0; i < per_vector; ++i) images_.held[v * per_vector + i] = order_.image(loaded.value[i]);
      }
    } else {
      ZENITH_UNROLL
      for (unsigned j = 0; j < items; ++j) {
        const std::uint32_t at = position(j);
        images_.held[j] = at < count_ ? order_.image(simt::load_streaming(keys_ + at)) : image_t{0};
      }
    }
  }

  [[nodiscard]] ZENITH_DEVICE const held_values<items, image_t>& images() const { return images_; }
  /// Keys of the tile, of all threads.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t keys() const { return count_ - first_ < size ? count_ - first_ : size; }

  /// The best image of the calling thread.
  [[nodiscard]] ZENITH_DEVICE image_t best() const {
    image_t high = 0;
    images_.each([&](image_t image) { high = image > high ? image : high; });
    return high;
  }

  /// Calls use(entry) for the calling thread's entries that reach `least`.
  template <class Use>
  ZENITH_DEVICE void each_that_reaches(const entry& least, const Use& use) const {
    ZENITH_UNROLL
    for (unsigned j = 0; j < items; ++j) {
      // most are told by their image alone
      if (images_.held[j] < least.image()) continue;
      const std::uint32_t at = position(j);
      const entry one = entry::make(images_.held[j], at);
      if (at < count_ && !better(least, one)) use(one);
    }
  }

  /// Calls use(values) with the complemented indices of the entries that have this image.
  template <class Use>
  ZENITH_DEVICE void with_indices_at(image_t image, const Use& use) const {
    held_values<items, std::uint32_t> indices;
    ZENITH_UNROLL
    for (unsigned j = 0; j < items; ++j) {
      const std::uint32_t at = position(j);
      indices.held[j] = at < count_ && images_.held[j] == image ? ~at : 0;
    }
    use(indices);
  }

 private:
  static constexpr unsigned per_vector = 16 / sizeof(T);

  // Beyond the last key in a tile that is not whole; it does not overflow, since the keys are far fewer than 2^32.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t position(unsigned j) const {
    return first_ + (j / per_vector * select_threads + simt::thread_index()) * per_vector + j % per_vector;
  }

  const T* keys_;
  std::uint32_t count_;
  top_k_detail::key_order<T> order_;
  bool is_aligned_;
  std::uint32_t first_ = 0;
  held_values<items, image_t> images_;
};

template <class T, class Index>
struct filter_blocks {
  using image_t = typename block_tile<T>::image_t;
  using entry = typename block_tile<T>::entry;
  using finish = block_finish<entry>;
  static constexpr unsigned block_size = select_threads;

  const T* keys;
  std::uint32_t count;
  std::uint32_t k;
  top_k_detail::key_order<T> order;
  block_filter_state* state;
  entry* entries;           ///< most_kept for each block
  std::uint32_t most_kept;  ///< entries that a block hands on at most: more than k, so that it selects once
  T* out_keys;
  Index* out_indices;
  index_naming naming;
  run_report* report;  ///< or nullptr

  ZENITH_DEVICE void operator()() const {
    ZENITH_BLOCK_FINISH(entry, block);
    if (simt::thread_index() == 0) block.taken.write(0, 0);
    hand_on(block, collect(block));
    if (!is_last_block(&state->arrived)) return;
    const entry_row<entry, sizeof(entry) == 8 ? 8 : 4> row{entries, simt::atomic_load(&state->kept)};
    block.sort_best(row, image_t{0}, k);
    block.write(k, keys, out_keys, out_indices, naming);
    if (report != nullptr && simt::thread_index() == 0) {
      simt::atomic_max(&report->reads, 1U);
      simt::atomic_add(&report->survivors, row.size());
    }
  }

 private:
  // The entries that may be among the best, of all of the block's tiles; returns how many.
  ZENITH_DEVICE std::uint32_t collect(const finish& block) const {
    block_tile<T> tile(keys, count, order);
    entry least = entry::worst();
    std::uint32_t kept = 0;
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_tile<T>::size;
    for (std::uint64_t at = std::uint64_t{simt::block_index()} * block_tile<T>::size; at < count; at += stride) {
      tile.load(static_cast<std::uint32_t>(at));
      if (at < stride) least = first_least(block, tile);
      make_space(block, tile, kept, least);
      tile.each_that_reaches(least, [&](const entry& one) { block.keep(one); });
      simt::block_barrier();
      kept = block.taken.read(0);
    }
    if (kept > most_kept) kept = block.narrow(kept, block.find_least(row_of(block, kept), image_t{0}, k, most_kept));
    return kept;
  }

  ZENITH_DEVICE static shared_row<entry> row_of(const finish& block, std::uint32_t kept) { return {block.kept, kept}; }

  // An image that at least k threads' best keys reach, and hardly more of them.
  ZENITH_DEVICE entry first_least(const finish& block, const block_tile<T>& tile) const {
    const block_select<image_t> by_image(block.sums, block.ends);
    const held_values<1, image_t> best{{tile.best()}};
    const auto found = by_image.find(best, block_size, image_t{0}, by_image.highest(best), k, k + k / 8);
    return entry::make(found.least, ~std::uint32_t{0});
  }

  // Where the tile has more entries that reach `least` than fit, raises it: first by what is kept, then by the tile.
  ZENITH_DEVICE void make_space(const finish& block, const block_tile<T>& tile, std::uint32_t& kept,
                                entry& least) const {
    const block_select<image_t> by_image(block.sums, block.ends);
    const auto reaching = [&] {
      std::uint32_t own = 0;
      tile.each_that_reaches(least, [&](const entry&) { ++own; });
      return by_image.total(own);
    };
    if (kept + reaching() <= finish::capacity) return;
    if (kept > most_kept) {
      least = block.find_least(row_of(block, kept), image_t{0}, k, most_kept);
      kept = block.narrow(kept, least);
      if (kept + reaching() <= finish::capacity) return;
    }
    const entry of_tile = block.find_least(
        tile.images(), [&](image_t image, const auto& use) { tile.with_indices_at(image, use); }, tile.keys(),
        image_t{0}, k, finish::capacity - most_kept);
    if (better(of_tile, least)) least = of_tile;
  }

  ZENITH_DEVICE void hand_on(const finish& block, std::uint32_t kept) const {
    // whoever still reads the count is done
    simt::block_barrier();
    if (simt::thread_index() == 0) block.taken.write(0, simt::atomic_add(&state->kept, kept));
    simt::block_barrier();
    entry* const to = entries + block.taken.read(0);
    for (std::uint32_t i = simt::thread_index(); i < kept; i += block_size) simt::store(to + i, block.kept.read(i));
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// From a bitmap and the number of its bits in each group to the indices of the bits, rising.

#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// An exclusive scan over the threads of a block; `partials` has an element for each warp. In every thread.
template <unsigned Warps>
ZENITH_DEVICE warp_sums<std::uint64_t> block_scan(std::uint64_t own, const simt::shared_span<std::uint64_t>& partials) {
  const auto within = warp_scan(own);
  simt::block_barrier();
  if (simt::lane_index() == 0) partials.write(simt::warp_index(), within.all);
  simt::block_barrier();
  warp_sums<std::uint64_t> result{within.before, 0};
  for (unsigned warp = 0; warp < Warps; ++warp) {
    if (warp == simt::warp_index()) result.before += result.all;
    result.all += partials.read(warp);
  }
  return result;
}

/// Turns the numbers of each chunk of groups into running sums that begin at 0, and notes each chunk's total.
struct scan_group_counts {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned items = 8;
  static constexpr unsigned chunk = block_size * items;

  std::uint32_t* counts;
  std::uint64_t groups;
  std::uint64_t* totals;  ///< of chunks

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint64_t, partials, block_size / simt::warp_size);
    const std::uint64_t first = std::uint64_t{simt::block_index()} * chunk + simt::thread_index() * items;
    std::uint32_t count[items];
    std::uint32_t sum = 0;
    ZENITH_UNROLL
    for (unsigned i = 0; i < items; ++i) {
      count[i] = first + i < groups ? simt::load(counts + first + i) : 0U;
      sum += count[i];
    }
    const auto sums = block_scan<block_size / simt::warp_size>(sum, partials);
    auto before = static_cast<std::uint32_t>(sums.before);
    ZENITH_UNROLL
    for (unsigned i = 0; i < items; ++i) {
      if (first + i < groups) simt::store(counts + first + i, before);
      before += count[i];
    }
    if (simt::thread_index() == 0) simt::store(totals + simt::block_index(), sums.all);
  }
};

/// Turns the chunks' totals into running sums that begin at 0. One block.
struct scan_chunk_totals {
  static constexpr unsigned block_size = 256;

  std::uint64_t* totals;
  std::uint64_t chunks;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint64_t, partials, block_size / simt::warp_size);
    std::uint64_t before = 0;
    for (std::uint64_t first = 0; first < chunks; first += block_size) {
      const std::uint64_t at = first + simt::thread_index();
      const std::uint64_t own = at < chunks ? simt::load(totals + at) : 0;
      const auto sums = block_scan<block_size / simt::warp_size>(own, partials);
      if (at < chunks) simt::store(totals + at, before + sums.before);
      before += sums.all;
    }
  }
};

/// A bitmap, and how many of its bits stand before each group.
struct marked_values {
  static constexpr unsigned group_words = packed_group_items / 32;

  const std::uint32_t* bitmap;
  std::uint64_t words;
  std::uint64_t groups;
  const std::uint32_t* counts_before;  ///< of each group, within its chunk
  const std::uint64_t* totals_before;  ///< of each chunk

  [[nodiscard]] ZENITH_DEVICE std::uint64_t before(std::uint64_t group) const {
    return simt::load(totals_before + group / scan_group_counts::chunk) + simt::load(counts_before + group);
  }
  /// Whether the group has none, as far as that is known without its words.
  [[nodiscard]] ZENITH_DEVICE bool is_empty(std::uint64_t group) const {
    return group + 1 < groups && before(group + 1) == before(group);
  }
  [[nodiscard]] ZENITH_DEVICE std::uint32_t word(std::uint64_t group, unsigned number) const {
    const std::uint64_t at = group * group_words + number;
    return at < words ? simt::load(bitmap + at) : 0U;
  }
};

/// Writes the indices of the bitmap's bits.
template <class Index>
struct expand_bitmap {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned warps = block_size / simt::warp_size;

  marked_values marked;
  Index* out;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * warps;
    std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group >= marked.groups) return;
    // the next group's words are on their way while this one's are written: else each waits for its own
    for (group_words now = words_of(group);; group += stride) {
      const bool is_last = group + stride >= marked.groups;
      const group_words next = is_last ? group_words{} : words_of(group + stride);
      expand(group, now);
      if (is_last) return;
      now = next;
    }
  }

 private:
  struct group_words {
    std::uint32_t word[2];
    std::uint64_t before;
  };

  [[nodiscard]] ZENITH_DEVICE group_words words_of(std::uint64_t group) const {
    return {{marked.word(group, simt::lane_index()), marked.word(group, simt::warp_size + simt::lane_index())},
            marked.before(group)};
  }

  ZENITH_DEVICE void expand(std::uint64_t group, const group_words& of) const {
    const auto bits = warp_scan<std::uint32_t>(simt::popcount(of.word[0]) | simt::popcount(of.word[1]) << 16);
    if (bits.all == 0) return;
    Index* const to = out + of.before;
    const std::uint32_t in_first = bits.all & 0xffff;
    ZENITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint64_t first = group * packed_group_items + half * (packed_group_items / 2);
      const std::uint32_t before = half == 0 ? bits.before & 0xffff : (bits.before >> 16) + in_first;
      // a lane a word where they hold few, a lane a bit where some hold many
      if (simt::any(simt::full_warp, simt::popcount(of.word[half]) > most_of_a_lane)) {
        expand_words(of.word[half], first, to + (half == 0 ? 0U : in_first));
      } else {
        expand_own(of.word[half], first + simt::lane_index() * 32, to + before);
      }
    }
  }

  static constexpr unsigned most_of_a_lane = 4;

  ZENITH_DEVICE static void expand_own(std::uint32_t word, std::uint64_t first, Index* to) {
    for (std::uint32_t left = word; left != 0; left &= left - 1) {
      simt::store(to++, static_cast<Index>(first + simt::find_first_set(left) - 1));
    }
  }

  ZENITH_DEVICE static void expand_words(std::uint32_t own, std::uint64_t first, Index* to) {
    const unsigned lane = simt::lane_index();
    for (std::uint32_t left = simt::ballot(simt::full_warp, own != 0); left != 0; left &= left - 1) {
      const unsigned word = simt::find_first_set(left) - 1;
      const std::uint32_t bits = simt::shuffle(simt::full_warp, own, word);
      if ((bits >> lane & 1) != 0) {
        simt::store(to + simt::popcount(bits & ((1U << lane) - 1)), static_cast<Index>(first + word * 32 + lane));
      }
      to += simt::popcount(bits);
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// Packing on the device. A warp takes a group of frame of reference or delta: neighbouring lanes read neighbouring
/// values, then each lane packs a miniblock of its own in shared memory, and the warp stores the words side by side. Of
/// the other encodings a lane takes a group, by the plain encoder.

#include <algorithms/packed_column/encode.hpp>
#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Measures every group for what `asked` names.
template <class U>
struct measure_groups {
  static constexpr unsigned block_size = 64;

  packed::encoder<U> with;
  std::uint64_t groups;
  encoding asked;
  packed::group_sizes* sizes;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    if (group < groups) simt::store(sizes + group, with.measure(group, asked));
  }
};

template <class U>
struct write_groups {
  static constexpr unsigned block_size = 64;

  packed::encoder<U> with;
  std::uint64_t groups;
  packed_layout to;
  std::byte* out;  ///< zeros
  const packed::group_place* places;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    if (group < groups) with.write(group, to, out, simt::load(places + group));
  }
};

/// What a group takes in one encoding, without and with patches.
struct block_sizes {
  std::uint32_t words;
  std::uint32_t patched_words;
  std::uint32_t patches;
};

/// A block of 128 values on its way into bits, in the lanes of a warp: lane i has word i of each miniblock.
template <class U>
struct warp_block {
  U word[packed_miniblocks];
  U reference;
  U base;  ///< of delta

  /// Differences as packed::take_frame and packed::take_deltas take them, of values from `first` on, `items` of them.
  ZENITH_DEVICE void load(const packed::encoder<U>& with, bool is_delta, std::uint64_t first, unsigned items) {
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      word[m] = place(m) < items ? simt::load_streaming(with.values + first + place(m)) : U{0};
    }
    if (is_delta) {
      take_deltas(items);
    } else {
      take_frame(items, with.with_sign);
    }
  }

  /// Where in the block the calling lane's word of a miniblock stands.
  [[nodiscard]] ZENITH_DEVICE static unsigned place(unsigned miniblock) {
    return miniblock * packed_miniblock_items + simt::lane_index();
  }

 private:
  static constexpr U sign = U{1} << (sizeof(U) * 8 - 1);

  ZENITH_DEVICE static U least_of(U value) {
    if constexpr (sizeof(U) == 4) {
      return simt::reduce_min(simt::full_warp, value);
    } else {
      return warp_reduce(value, [](U a, U b) { return a < b ? a : b; });
    }
  }

  ZENITH_DEVICE void take_frame(unsigned items, bool with_sign) {
    // signed values are ordered by their bits with the sign turned
    const U turn = with_sign ? sign : U{0};
    U least = static_cast<U>(~U{0});
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const U one = word[m] ^ turn;
      least = place(m) < items && one < least ? one : least;
    }
    reference = least_of(least) ^ turn;
    base = 0;
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      word[m] = place(m) < items ? static_cast<U>(word[m] - reference) : U{0};
    }
  }

  ZENITH_DEVICE void take_deltas(unsigned items) {
    const U first = simt::shuffle(simt::full_warp, word[0], 0);
    U last = 0;  // of the miniblock before
    U least = static_cast<U>(~U{0});
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const U before = simt::shuffle_up(simt::full_warp, word[m], 1);
      const U next_last = simt::shuffle(simt::full_warp, word[m], simt::warp_size - 1);
      word[m] -= simt::lane_index() == 0 ? last : before;
      last = next_last;
      const U one = word[m] ^ sign;
      least = is_step(m, items) && one < least ? one : least;
    }
    reference = items > 1 ? least_of(least) ^ sign : U{0};
    base = static_cast<U>(first - reference);
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      word[m] = is_step(m, items) ? static_cast<U>(word[m] - reference) : U{0};
    }
  }

  ZENITH_DEVICE static bool is_step(unsigned miniblock, unsigned items) {
    return place(miniblock) > 0 && place(miniblock) < items;
  }
};

/// Bits of a word.
template <class U>
ZENITH_DEVICE unsigned length_of(U word) {
  return static_cast<unsigned>(sizeof(U)) * 8 - simt::count_leading_zeros(word);
}

/// packed::shape_of a miniblock whose words have these lengths, one a lane.
template <class U>
ZENITH_DEVICE packed::miniblock_shape shape_of_lengths(unsigned length, bool with_patches) {
  const unsigned width = simt::reduce_max(simt::full_warp, length);
  packed::miniblock_shape best{width, width, 0};
  if (!with_patches) return best;
  unsigned least = packed_miniblock_items * width;
  for (unsigned w = width; w-- > 0;) {
    const unsigned outside = simt::popcount(simt::ballot(simt::full_warp, length > w));
    // narrower ones have at least as many patches
    if (outside * packed::patch_bits<U> >= least) break;
    const unsigned bits = packed_miniblock_items * w + outside * packed::patch_bits<U>;
    if (bits < least) {
      least = bits;
      best.patched_width = w;
      best.patches = outside;
    }
  }
  return best;
}

template <class U>
struct measure_blocks {
  static constexpr unsigned block_size = 256;

  packed::encoder<U> with;
  std::uint64_t groups;
  bool is_delta;
  block_sizes* sizes;

  ZENITH_DEVICE void operator()() const {
    constexpr unsigned warps = block_size / simt::warp_size;
    const std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group >= groups) return;
    block_sizes found{};
    for (unsigned b = 0; b < packed_group_blocks; ++b) {
      const std::uint64_t first = group * packed_group_items + b * packed_block_items;
      const unsigned items = with.items_from(first, packed_block_items);
      if (items == 0) break;
      warp_block<U> block;
      block.load(with, is_delta, first, items);
      ZENITH_UNROLL
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        const auto shape = shape_of_lengths<U>(length_of(block.word[m]), with.patches);
        found.words += shape.width;
        found.patched_words += shape.patched_width;
        found.patches += shape.patches;
      }
    }
    if (simt::lane_index() == 0) simt::store(sizes + group, found);
  }
};

template <class U>
struct write_blocks {
  static constexpr unsigned block_size = sizeof(U) == 4 ? 256 : 128;
  static constexpr unsigned warps = block_size / simt::warp_size;
  /// Blocks that a warp packs at a time: a miniblock for each lane.
  static constexpr unsigned blocks_at_once = simt::warp_size / packed_miniblocks;
  /// Words of a lane's miniblock, and one between two lanes' so that all banks are used.
  static constexpr unsigned row = packed_miniblock_items + 1;
  static constexpr unsigned warp_bytes = row * simt::warp_size * static_cast<unsigned>(sizeof(U));
  static constexpr unsigned shared_bytes = warps * warp_bytes;

  packed::encoder<U> with;
  std::uint64_t groups;
  packed_layout to;
  std::byte* out;  ///< zeros
  const packed::group_place* places;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group >= groups) return;
    const auto place = simt::load(places + group);
    std::uint32_t offset = 0;
    std::uint64_t patch = place.patch;
    std::uint64_t start = place.payload;
    if (to.patches > 0) store_at(to.patch_index_at + group * packed::patch_index_bytes, patch);
    for (unsigned first = 0; first < packed_group_blocks; first += blocks_at_once) {
      if constexpr (sizeof(U) == 4) {
        // the mark in the middle of the group
        if (first == packed_group_blocks / 2) start |= std::uint64_t{offset} << packed::start_bits;
      }
      const unsigned width = gather(group, first, patch);
      const auto words = warp_scan<std::uint32_t>(width);
      write_places(group, first, width, offset + words.before);
      write_payload(place.payload + offset, width, words.before);
      offset += words.all;
    }
    store_at(to.groups_at + group * packed::group_bytes<U>, start);
  }

 private:
  static_assert(blocks_at_once == packed_group_blocks / 2);

  [[nodiscard]] ZENITH_DEVICE static unsigned own_shared() { return simt::warp_index() * warp_bytes; }
  [[nodiscard]] ZENITH_DEVICE static simt::shared_span<U> rows() {
    return simt::dynamic_shared<U>(own_shared(), row * simt::warp_size);
  }

  template <class Word>
  ZENITH_DEVICE void store_at(std::uint64_t at, Word word) const {
    if (simt::lane_index() == 0) simt::store(reinterpret_cast<Word*>(out + at), word);
  }

  // Blocks `first` … of the group to the rows of shared memory, their references, bases and patches to the column.
  // Returns the width of the calling lane's row.
  ZENITH_DEVICE unsigned gather(std::uint64_t group, unsigned first, std::uint64_t& patch) const {
    const auto to_rows = rows();
    unsigned own_width = 0;
    // whoever still reads the rows is done
    simt::warp_barrier(simt::full_warp);
    for (unsigned b = 0; b < blocks_at_once; ++b) {
      const std::uint64_t number = group * packed_group_blocks + first + b;
      const std::uint64_t from = number * packed_block_items;
      const unsigned items = with.items_from(from, packed_block_items);
      warp_block<U> block{};
      unsigned patched = 0;
      if (items > 0) block.load(with, to.kind == encoding::delta, from, items);
      ZENITH_UNROLL
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        const unsigned length = length_of(block.word[m]);
        const auto shape = shape_of_lengths<U>(length, to.patches > 0);
        const unsigned width = shape.patched_width;
        if (to.patches > 0) {
          const std::uint32_t outside = simt::ballot(simt::full_warp, length > width);
          if (length > width) {
            const std::uint32_t below = (std::uint32_t{1} << simt::lane_index()) - 1;
            const std::uint64_t at = patch + simt::popcount(outside & below);
            simt::store(reinterpret_cast<std::uint8_t*>(out + to.patch_positions_at + at),
                        static_cast<std::uint8_t>(warp_block<U>::place(m)));
            simt::store(reinterpret_cast<U*>(out + to.patch_values_at) + at, block.word[m]);
            block.word[m] = 0;
          }
          patch += shape.patches;
          patched += shape.patches;
        }
        const unsigned lane = b * packed_miniblocks + m;
        to_rows.write(lane * row + simt::lane_index(), block.word[m]);
        own_width = simt::lane_index() == lane ? width : own_width;
      }
      const std::uint64_t record = to.groups_at + group * packed::group_bytes<U>;
      store_at(record + 8 + (first + b) * sizeof(U), block.reference);
      if (to.kind == encoding::delta && items > 0) store_at(to.bases_at + number * sizeof(U), block.base);
      if (to.patches > 0) {
        store_at(to.patch_index_at + group * packed::patch_index_bytes + 8 + first + b,
                 static_cast<std::uint8_t>(patched));
      }
    }
    simt::warp_barrier(simt::full_warp);
    return own_width;
  }

  // The widths of the blocks, and where they begin.
  ZENITH_DEVICE void write_places(std::uint64_t group, unsigned first, unsigned width, std::uint32_t offset) const {
    const unsigned lane = simt::lane_index();
    const unsigned block = first + lane / packed_miniblocks;
    const std::uint64_t record = to.groups_at + group * packed::group_bytes<U>;
    std::uint32_t fields = width;
    constexpr unsigned field = sizeof(U) == 4 ? 6 : 8;
    ZENITH_UNROLL
    for (unsigned m = 1; m < packed_miniblocks; ++m) {
      fields |= simt::shuffle_down(simt::full_warp, width, m) << (field * m);
    }
    if (lane % packed_miniblocks != 0) return;
    if constexpr (sizeof(U) == 4) {
      ZENITH_UNROLL
      for (unsigned byte = 0; byte < 3; ++byte) {
        simt::store(reinterpret_cast<std::uint8_t*>(out + record + 72 + block * 3 + byte),
                    static_cast<std::uint8_t>(fields >> (8 * byte)));
      }
    } else {
      simt::store(reinterpret_cast<std::uint32_t*>(out + record + 136 + block * 4), fields);
      simt::store(reinterpret_cast<std::uint16_t*>(out + record + 200 + block * 2), static_cast<std::uint16_t>(offset));
    }
  }

  // Each lane packs its row in place; then the warp stores row after row.
  ZENITH_DEVICE void write_payload(std::uint64_t start, unsigned width, std::uint32_t before) const {
    constexpr unsigned words_in_row = row * static_cast<unsigned>(sizeof(U)) / 4;
    const auto values = rows();
    const auto words = simt::dynamic_shared<std::uint32_t>(own_shared(), words_in_row * simt::warp_size);
    const unsigned lane = simt::lane_index();
    std::uint64_t window = 0;
    unsigned filled = 0;
    unsigned written = 0;
    const auto append = [&](std::uint32_t word, unsigned bits) {
      window |= std::uint64_t{word} << filled;
      filled += bits;
      if (filled < 32) return;
      words.write(lane * words_in_row + written++, static_cast<std::uint32_t>(window));
      window >>= 32;
      filled -= 32;
    };
    for (unsigned i = 0; i < packed_miniblock_items; ++i) {
      const U value = values.read(lane * row + i);
      if constexpr (sizeof(U) == 4) {
        append(value, width);
      } else {
        append(static_cast<std::uint32_t>(value), width < 32 ? width : 32);
        if (width > 32) append(static_cast<std::uint32_t>(value >> 32), width - 32);
      }
    }
    simt::warp_barrier(simt::full_warp);
    auto* const payload = reinterpret_cast<std::uint32_t*>(out + to.payload_at) + start;
    for (unsigned m = 0; m < simt::warp_size; ++m) {
      const unsigned count = simt::shuffle(simt::full_warp, width, m);
      const std::uint32_t at = simt::shuffle(simt::full_warp, before, m);
      for (unsigned j = lane; j < count; j += simt::warp_size) {
        simt::store(payload + at + j, words.read(m * words_in_row + j));
      }
    }
  }
};

/// Sums of a column's checksum, over the rows of 64 bytes from `first_row` on: see packed_digest.
struct digest_sums {
  static constexpr unsigned lanes = 8;

  std::uint64_t sum[lanes];
  std::uint64_t of_rows[lanes];  ///< each word times its row's number
};

/// Adds to them, which were zeros.
struct digest_rows {
  static constexpr unsigned block_size = 256;

  const std::byte* column;
  std::uint64_t first_row;
  std::uint64_t rows;
  digest_sums* sums;

  ZENITH_DEVICE void operator()() const {
    // a thread has two lanes of every row that it reads
    constexpr unsigned threads_of_row = digest_sums::lanes / 2;
    const std::uint64_t thread = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size / threads_of_row;
    std::uint64_t sum[2] = {};
    std::uint64_t of_rows[2] = {};
    ZENITH_UNROLL_BY(4)
    for (std::uint64_t row = first_row + thread / threads_of_row; row < rows; row += stride) {
      const std::uint64_t at = row * digest_sums::lanes + thread % threads_of_row * 2;
      const auto words = packed_bytes::words_at<2, std::uint64_t>(column, at * 8);
      ZENITH_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        sum[i] += words.value[i];
        of_rows[i] += words.value[i] * row;
      }
    }
    ZENITH_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      ZENITH_UNROLL
      for (unsigned other = threads_of_row; other < simt::warp_size; other *= 2) {
        sum[i] += simt::shuffle_xor(simt::full_warp, sum[i], other);
        of_rows[i] += simt::shuffle_xor(simt::full_warp, of_rows[i], other);
      }
      if (simt::lane_index() >= threads_of_row) continue;
      const unsigned lane = simt::lane_index() * 2 + i;
      simt::atomic_add(&sums->sum[lane], sum[i]);
      simt::atomic_add(&sums->of_rows[lane], of_rows[i]);
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

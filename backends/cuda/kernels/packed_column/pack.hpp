#pragma once

/// \file
/// Writing words of bits on the device: frame of reference, delta and vertical. A warp takes a group: neighbouring
/// lanes read neighbouring values, then each lane packs a miniblock, or a lane of a span, of its own in shared memory,
/// and the warp stores the words side by side. Every byte of every section is written.

#include <backends/cuda/kernels/packed_column/group_places.hpp>
#include <backends/cuda/kernels/packed_column/pack_block.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U, bool IsVertical>
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
  std::byte* out;
  group_places places;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group >= groups) return;
    const auto place = places.of(group);
    std::uint32_t offset = 0;
    std::uint64_t patch = place.patch;
    std::uint64_t start = place.payload;
    if (to.patches > 0) store_at(to.patch_index_at + group * packed::patch_index_bytes, patch);
    for (unsigned first = 0; first < packed_group_blocks; first += blocks_at_once) {
      if constexpr (sizeof(U) == 4) {
        // the mark in the middle of the group
        if (first == packed_group_blocks / 2) start |= std::uint64_t{offset} << packed::start_bits;
      }
      unsigned width = 0;
      if constexpr (IsVertical) {
        width = gather_spans(group, first);
      } else {
        width = gather(group, first, patch);
      }
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
    each_block(with, group, first, blocks_at_once,
               [&](unsigned slot, std::uint64_t, unsigned items, warp_block<U> block) {
                 const std::uint64_t number = group * packed_group_blocks + slot;
                 unsigned patched = 0;
                 if (items > 0) block.take(to.kind == encoding::delta, with.with_sign, items);
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
                   const unsigned lane = (slot - first) * packed_miniblocks + m;
                   to_rows.write(lane * row + simt::lane_index(), block.word[m]);
                   own_width = simt::lane_index() == lane ? width : own_width;
                 }
                 const std::uint64_t record = to.groups_at + group * packed::group_bytes<U>;
                 store_at(record + 8 + slot * sizeof(U), items > 0 ? block.reference : U{0});
                 if (to.kind == encoding::delta && items > 0) store_at(to.bases_at + number * sizeof(U), block.base);
                 if (to.patches > 0) {
                   store_at(to.patch_index_at + group * packed::patch_index_bytes + 8 + slot,
                            static_cast<std::uint8_t>(patched));
                 }
               });
    simt::warp_barrier(simt::full_warp);
    return own_width;
  }

  // The spans of blocks `first` … of the group, a row for each of their lanes, and their references. Returns the width
  // of the calling lane's row.
  ZENITH_DEVICE unsigned gather_spans(std::uint64_t group, unsigned first) const {
    constexpr unsigned most_blocks = 16 / packed_miniblocks;  // of a span
    const auto to_rows = rows();
    const unsigned blocks = with.lanes / packed_miniblocks;
    const unsigned lane_bits = simt::find_first_set(std::uint32_t{with.lanes}) - 1;
    const U turn = with.with_sign ? warp_block<U>::sign : U{0};
    unsigned own_width = 0;
    // whoever still reads the rows is done
    simt::warp_barrier(simt::full_warp);
    for (unsigned b = 0; b < blocks_at_once; b += blocks) {
      const std::uint64_t from = group * packed_group_items + (first + b) * packed_block_items;
      const unsigned items = with.items_from(from, blocks * packed_block_items);
      U word[most_blocks][packed_miniblocks];
      U least = static_cast<U>(~U{0});
      ZENITH_UNROLL
      for (unsigned k = 0; k < most_blocks; ++k) {
        ZENITH_UNROLL
        for (unsigned m = 0; m < packed_miniblocks; ++m) {
          const unsigned i = k * packed_block_items + warp_block<U>::place(m);
          word[k][m] = i < items ? simt::load_streaming(with.values + from + i) : U{0};
          const U image = word[k][m] ^ turn;
          least = i < items && image < least ? image : least;
        }
      }
      const U reference = items > 0 ? static_cast<U>(warp_block<U>::least_of(least) ^ turn) : U{0};
      U greatest = 0;
      ZENITH_UNROLL
      for (unsigned k = 0; k < most_blocks; ++k) {
        ZENITH_UNROLL
        for (unsigned m = 0; m < packed_miniblocks; ++m) {
          const unsigned i = k * packed_block_items + warp_block<U>::place(m);
          word[k][m] = i < items ? static_cast<U>(word[k][m] - reference) : U{0};
          greatest = word[k][m] > greatest ? word[k][m] : greatest;
          if (k < blocks) {
            const unsigned lane = b * packed_miniblocks + i % with.lanes;
            to_rows.write(lane * row + (i >> lane_bits), word[k][m]);
          }
        }
      }
      const unsigned width = length_of(static_cast<U>(~warp_block<U>::least_of(static_cast<U>(~greatest))));
      const unsigned begin = b * packed_miniblocks;
      own_width = simt::lane_index() >= begin && simt::lane_index() < begin + with.lanes ? width : own_width;
      if (simt::lane_index() < blocks) {
        const std::uint64_t record = to.groups_at + group * packed::group_bytes<U>;
        simt::store(reinterpret_cast<U*>(out + record + 8 + (first + b + simt::lane_index()) * sizeof(U)), reference);
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
    if constexpr (IsVertical) {
      // the words of a span's lanes take turns
      const unsigned lane_bits = simt::find_first_set(std::uint32_t{with.lanes}) - 1;
      for (unsigned begin = 0; begin < simt::warp_size; begin += with.lanes) {
        const unsigned count = simt::shuffle(simt::full_warp, width, begin) << lane_bits;
        const std::uint32_t at = simt::shuffle(simt::full_warp, before, begin);
        for (unsigned j = lane; j < count; j += simt::warp_size) {
          simt::store(payload + at + j, words.read((begin + j % with.lanes) * words_in_row + (j >> lane_bits)));
        }
      }
    } else {
      for (unsigned m = 0; m < simt::warp_size; ++m) {
        const unsigned count = simt::shuffle(simt::full_warp, width, m);
        const std::uint32_t at = simt::shuffle(simt::full_warp, before, m);
        for (unsigned j = lane; j < count; j += simt::warp_size) {
          simt::store(payload + at + j, words.read(m * words_in_row + j));
        }
      }
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

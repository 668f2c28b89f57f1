#pragma once

/// \file
/// Writing values one by one on the device: null suppression and runs. Neighbouring lanes take neighbouring values.
/// Every byte of every section is written.

#include <backends/cuda/kernels/packed_column/group_places.hpp>
#include <backends/cuda/kernels/packed_column/pack_block.hpp>
#include <backends/cuda/tile/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Values of `bytes` bytes each. A thread makes some words of 4 bytes, as many as its block has threads apart; values
/// behind the last one are 0, as is what follows the section.
template <class U>
struct write_fixed {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned words_of_thread = 4;
  static constexpr unsigned words_of_block = block_size * words_of_thread;

  packed::encoder<U> with;
  unsigned bytes;
  std::byte* payload;

  [[nodiscard]] static std::uint64_t blocks(std::uint64_t count, unsigned bytes) {
    return (count * bytes + 4 * words_of_block - 1) / (4 * words_of_block);
  }

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t first = std::uint64_t{simt::block_index()} * words_of_block + simt::thread_index();
    ZENITH_UNROLL
    for (unsigned j = 0; j < words_of_thread; ++j) {
      const std::uint64_t word = first + std::uint64_t{j} * block_size;
      if (word * 4 < with.count * bytes) simt::store(reinterpret_cast<std::uint32_t*>(payload) + word, word_at(word));
    }
  }

 private:
  [[nodiscard]] ZENITH_DEVICE std::uint32_t word_at(std::uint64_t word) const {
    if (bytes == 8) return static_cast<std::uint32_t>(std::uint64_t{value_at(word / 2)} >> (word % 2 * 32));
    if (bytes == 4) return static_cast<std::uint32_t>(value_at(word));
    const unsigned values = 4 / bytes;
    const unsigned bits = 8 * bytes;
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    std::uint32_t made = 0;
    ZENITH_UNROLL
    for (unsigned v = 0; v < 4; ++v) {
      if (v < values) made |= (static_cast<std::uint32_t>(value_at(word * values + v)) & mask) << (v * bits);
    }
    return made;
  }
  [[nodiscard]] ZENITH_DEVICE U value_at(std::uint64_t i) const {
    return i < with.count ? simt::load(with.values + i) : U{0};
  }
};

/// A warp takes a group: the run of a value that begins one is the number of those before it.
template <class U>
struct write_runs {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned warps = block_size / simt::warp_size;

  packed::encoder<U> with;
  std::uint64_t groups;
  packed_layout to;
  std::byte* out;
  group_places places;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group >= groups) return;
    const std::uint32_t below = (std::uint32_t{1} << simt::lane_index()) - 1;
    std::uint64_t run = places.of(group).payload;
    run_begins<U> runs;
    each_block(with, group, 0, packed_group_blocks,
               [&](unsigned, std::uint64_t first, unsigned items, const warp_block<U>& values) {
                 if (items == 0) return;
                 runs.begin_block(with, first);
                 ZENITH_UNROLL
                 for (unsigned m = 0; m < packed_miniblocks; ++m) {
                   const bool begins = runs.begins(values, m, first, items);
                   const std::uint32_t all = simt::ballot(simt::full_warp, begins);
                   if (begins) {
                     const std::uint64_t own = run + simt::popcount(all & below);
                     simt::store(reinterpret_cast<U*>(out + to.payload_at) + own, values.word[m]);
                     if (own > 0) store_end(own - 1, first + warp_block<U>::place(m));
                   }
                   run += simt::popcount(all);
                 }
               });
    if (group + 1 == groups && simt::lane_index() == 0) store_end(run - 1, with.count);
  }

 private:
  ZENITH_DEVICE void store_end(std::uint64_t run, std::uint64_t end) const {
    if (to.parameter == 4) {
      simt::store(reinterpret_cast<std::uint32_t*>(out + to.codes_at) + run, static_cast<std::uint32_t>(end));
    } else {
      simt::store(reinterpret_cast<std::uint64_t*>(out + to.codes_at) + run, end);
    }
  }
};

/// A warp takes a group, whose bytes lie in shared memory until all are there. A lane has four neighbours of a block,
/// of which the codes are a byte.
template <class U>
struct write_variable {
  static constexpr unsigned block_size = sizeof(U) == 4 ? 128 : 64;
  static constexpr unsigned warps = block_size / simt::warp_size;
  static constexpr unsigned word_bytes = 4;
  static constexpr unsigned lane_values = packed_block_items / simt::warp_size;
  /// What all values take, and what stands before them in their first word.
  static constexpr unsigned warp_bytes = packed_group_items * static_cast<unsigned>(sizeof(U)) + 16;
  static constexpr unsigned shared_bytes = warps * warp_bytes;
  static_assert(lane_values == 4);

  packed::encoder<U> with;
  std::uint64_t groups;
  packed_layout to;
  std::byte* out;
  group_places places;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group >= groups) return;
    const std::uint64_t start = places.of(group).payload;
    const auto before = static_cast<unsigned>(start % word_bytes);
    const unsigned bytes = gather(group, start, before);
    simt::warp_barrier(simt::full_warp);
    write_payload(start - before, before, before + bytes);
  }

 private:
  [[nodiscard]] ZENITH_DEVICE static unsigned own_shared() { return simt::warp_index() * warp_bytes; }

  // The bytes of the group from `at` on in shared memory, how many they are, and all but them to the column.
  ZENITH_DEVICE unsigned gather(std::uint64_t group, std::uint64_t start, unsigned at) const {
    const auto to_bytes = simt::dynamic_shared<std::uint8_t>(own_shared(), warp_bytes);
    const unsigned lane = simt::lane_index();
    std::byte* const record = out + to.groups_at + group * packed::variable_group_bytes;
    if (lane == 0) simt::store(reinterpret_cast<std::uint64_t*>(record), start);
    std::uint32_t offset = 0;
    for (unsigned b = 0; b < packed_group_blocks; ++b) {
      const std::uint64_t first = group * packed_group_items + b * packed_block_items;
      const unsigned items = with.items_from(first, packed_block_items);
      U word[lane_values];
      unsigned length[lane_values];
      std::uint32_t all = 0;
      std::uint32_t codes = 0;
      ZENITH_UNROLL
      for (unsigned v = 0; v < lane_values; ++v) {
        const unsigned i = lane * lane_values + v;
        word[v] = i < items ? packed::variable_word(simt::load(with.values + first + i), with.with_sign) : U{0};
        const unsigned code = packed::variable_code(word[v]);
        length[v] = i < items ? packed::variable_bytes<U>(code) : 0;
        codes |= code << (2 * v);
        all += length[v];
      }
      const auto place = warp_scan(all);
      if (lane == 0) simt::store(reinterpret_cast<std::uint16_t*>(record + 8) + b, static_cast<std::uint16_t>(offset));
      if (items > 0) {
        simt::store(reinterpret_cast<std::uint8_t*>(out + to.codes_at + first / lane_values) + lane,
                    static_cast<std::uint8_t>(codes));
      }
      unsigned next = at + offset + place.before;
      ZENITH_UNROLL
      for (unsigned v = 0; v < lane_values; ++v) {
        ZENITH_UNROLL
        for (unsigned byte = 0; byte < sizeof(U); ++byte) {
          if (byte < length[v]) to_bytes.write(next + byte, static_cast<std::uint8_t>(word[v] >> (8 * byte)));
        }
        next += length[v];
      }
      offset += place.all;
    }
    return offset;
  }

  // Bytes [begin, end) of shared memory, to where they stand behind `start`. A neighbour writes to the same words as
  // the first and the last bytes.
  ZENITH_DEVICE void write_payload(std::uint64_t start, unsigned begin, unsigned end) const {
    const auto bytes = simt::dynamic_shared<std::uint8_t>(own_shared(), warp_bytes);
    const auto words = simt::dynamic_shared<std::uint32_t>(own_shared(), warp_bytes / word_bytes);
    std::byte* const to_bytes = out + to.payload_at + start;
    const unsigned lane = simt::lane_index();
    const unsigned first = (begin + word_bytes - 1) / word_bytes;
    const unsigned last = end / word_bytes;
    for (unsigned w = first + lane; w < last; w += simt::warp_size) {
      simt::store(reinterpret_cast<std::uint32_t*>(to_bytes) + w, words.read(w));
    }
    const auto store_byte = [&](unsigned i) {
      simt::store(reinterpret_cast<std::uint8_t*>(to_bytes) + i, bytes.read(i));
    };
    if (begin + lane < end && begin + lane < first * word_bytes) store_byte(begin + lane);
    if (last >= first && last * word_bytes + lane < end) store_byte(last * word_bytes + lane);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// The tile function unpack of the bit-packed encodings: frame_of_reference, delta, vertical.

#include <backends/cuda/kernels/packed_column/group_record.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The tile function unpack: `open` a group, then any of its tiles. All lanes of a warp together.
template <class U, encoding Kind>
class unpacker;

/// The packed words of frame_of_reference and delta, with their patches.
template <class U>
class difference_unpacker {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit difference_unpacker(const packed_layout& in) : in_(in) {}

  ZENITH_DEVICE void open(std::uint64_t group) {
    record_.open(in_, group);
    if (in_.patches != 0) patches_.open(in_, group);
  }

 protected:
  /// Of vector `vector` of the group.
  ZENITH_DEVICE void take(unsigned vector, U* words) const {
    // lanes of a miniblock, and miniblocks of a vector
    constexpr unsigned lanes = packed_miniblock_items / tile::per_vector;
    constexpr unsigned miniblocks = tile::vector_items / packed_miniblock_items;
    const unsigned lane = simt::lane_index();
    const auto at = record_.place(vector / (tile::vectors_in_group / 2), vector * miniblocks + lane / lanes);
    const std::uint32_t* const from = record_.payload() + at.word;
    const unsigned first = lane % lanes * tile::per_vector;
    ZENITH_UNROLL
    for (unsigned i = 0; i < tile::per_vector; ++i) {
      words[i] = at.width == 0 ? U{0} : packed_bytes::bits_at<U>(from, (first + i) * at.width, at.width);
    }
    if (in_.patches != 0) patch(vector, words);
  }

  const packed_layout& in_;
  group_record<U> record_;

 private:
  ZENITH_DEVICE void patch(unsigned vector, U* words) const {
    const auto range = patches_.of_block(vector / tile::vectors_in_block);
    const unsigned first = vector % tile::vectors_in_block * tile::vector_items + simt::lane_index() * tile::per_vector;
    for (unsigned p = 0; p < range.count; ++p) {
      const unsigned position =
          packed_bytes::word_at<std::uint8_t>(in_.bytes, in_.patch_positions_at + range.first + p);
      if (position - first >= tile::per_vector) continue;
      const U word = packed_bytes::word_at<U>(in_.bytes, in_.patch_values_at + (range.first + p) * sizeof(U));
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) words[i] = position - first == i ? word : words[i];
    }
  }

  patch_record patches_;
};

template <class U>
class unpacker<U, encoding::frame_of_reference> : public difference_unpacker<U> {
 public:
  using tile = packed_tile<U>;
  using difference_unpacker<U>::difference_unpacker;

  /// Tile `number` of the group, of which `items` values exist; what stands behind them is undefined.
  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      if (v * tile::vector_items >= items) continue;
      const unsigned vector = number * tile::vectors + v;
      U* const item = to.item + v * tile::per_vector;
      this->take(vector, item);
      const U reference = this->record_.reference(vector / tile::vectors_in_block);
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) item[i] += reference;
    }
  }
};

template <class U>
class unpacker<U, encoding::delta> : public difference_unpacker<U> {
 public:
  using tile = packed_tile<U>;
  using difference_unpacker<U>::difference_unpacker;

  ZENITH_DEVICE void open(std::uint64_t group) {
    difference_unpacker<U>::open(group);
    const std::uint64_t block = group * packed_group_blocks + simt::lane_index() % packed_group_blocks;
    base_ = block < this->in_.blocks()
                ? packed_bytes::word_at<U>(this->in_.bytes, this->in_.bases_at + block * sizeof(U))
                : U{0};
  }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    U carry = 0;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      if (v * tile::vector_items >= items) continue;
      const unsigned vector = number * tile::vectors + v;
      const unsigned block = vector / tile::vectors_in_block;
      U* const item = to.item + v * tile::per_vector;
      this->take(vector, item);
      const U reference = this->record_.reference(block);
      // a lane's steps, then those of the lanes before it
      item[0] += reference;
      ZENITH_UNROLL
      for (unsigned i = 1; i < tile::per_vector; ++i) item[i] += item[i - 1] + reference;
      const auto steps = warp_scan(item[tile::per_vector - 1]);
      if (v % tile::vectors_in_block == 0) carry = simt::shuffle(simt::full_warp, base_, block);
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) item[i] += carry + steps.before;
      carry += steps.all;
    }
  }

 private:
  U base_;  // of block lane % 16
};

template <class U>
class unpacker<U, encoding::vertical> {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit unpacker(const packed_layout& in) : in_(in) {}

  ZENITH_DEVICE void open(std::uint64_t group) { record_.open(in_, group); }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    const unsigned lanes = in_.parameter;
    const unsigned span = packed_miniblock_items * lanes;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      if (v * tile::vector_items >= items) continue;
      const unsigned first = (number * tile::vectors + v) * tile::vector_items;  // in the group
      const unsigned miniblock = first / span * lanes;
      const auto at = record_.place(miniblock / simt::warp_size, miniblock);
      const U reference = record_.reference(miniblock / packed_miniblocks);
      const unsigned slot = first % span + simt::lane_index() * tile::per_vector;
      // a vector's values stand in the same row, side by side
      const unsigned bit = slot / lanes * at.width;
      const std::uint32_t* const from = record_.payload() + at.word + bit / 32 * lanes + slot % lanes;
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        to.item[v * tile::per_vector + i] = static_cast<U>(reference + bits_of(from + i, bit % 32, at.width, lanes));
      }
    }
  }

 private:
  // `width` bits of words that stand `lanes` apart, from bit `shift` of the first on.
  ZENITH_DEVICE static U bits_of(const std::uint32_t* words, unsigned shift, unsigned width, unsigned lanes) {
    if (width == 0) return 0;
    const std::uint32_t w0 = simt::load(words);
    const std::uint32_t w1 = shift + width > 32 ? simt::load(words + lanes) : 0U;
    const std::uint32_t low = simt::funnel_shift_right(w0, w1, shift);
    if constexpr (sizeof(U) == 4) {
      return low & packed::low_mask<U>(width);
    } else {
      const std::uint32_t w2 = shift + width > 64 ? simt::load(words + 2 * lanes) : 0U;
      const std::uint32_t high = simt::funnel_shift_right(w1, w2, shift);
      return (static_cast<U>(high) << 32 | low) & packed::low_mask<U>(width);
    }
  }

  const packed_layout& in_;
  group_record<U> record_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

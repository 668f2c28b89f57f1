#pragma once

/// \file
/// A group's metadata in the registers of a warp: read once for 2048 values, handed out by shuffles.

#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Where a miniblock stands.
struct miniblock_place {
  std::uint32_t word;  ///< behind the group's first
  std::uint32_t width;
  std::uint32_t widest;  ///< of the tile's miniblocks
};

/// A group's record where it stands in the column.
class record_in_place {
 public:
  ZENITH_DEVICE explicit record_in_place(const std::byte* at) : at_(at) {}

  template <class Word>
  [[nodiscard]] ZENITH_DEVICE Word read(unsigned offset) const {
    return packed_bytes::word_at<Word>(at_, offset);
  }

 private:
  const std::byte* at_;
};

/// A copy of it in dynamic shared memory.
class record_copy {
 public:
  ZENITH_DEVICE explicit record_copy(unsigned at) : at_(at) {}

  template <class Word>
  [[nodiscard]] ZENITH_DEVICE Word read(unsigned offset) const {
    return simt::dynamic_shared<Word>(at_ + offset, 1).read(0);
  }

 private:
  unsigned at_;
};

/// The record of a group of frame_of_reference, delta or vertical.
template <class U>
class group_record {
 public:
  /// Loads what `open` needs, and waits for nothing. All lanes together, here and below.
  ZENITH_DEVICE void fetch(const packed_layout& in, std::uint64_t group) {
    fetch(record_in_place(in.bytes + in.groups_at + group * packed::group_bytes<U>));
  }
  template <class Record>
  ZENITH_DEVICE void fetch(const Record& record) {
    const unsigned lane = simt::lane_index();
    fetched_.start = record.template read<std::uint64_t>(0);
    fetched_.reference = record.template read<U>(8 + lane % packed_group_blocks * static_cast<unsigned>(sizeof(U)));
    ZENITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      if constexpr (sizeof(U) == 8) {
        fetched_.width[half] = record.template read<std::uint8_t>(136 + half * simt::warp_size + lane);
      } else {
        // six bits, of which the last may stand in the next byte
        const unsigned bit = 6 * (half * simt::warp_size + lane);
        fetched_.width[half] = record.template read<std::uint8_t>(72 + bit / 8);
        fetched_.high[half] = bit % 8 > 2 ? record.template read<std::uint8_t>(73 + bit / 8) : 0U;
      }
    }
  }

  /// From a copy, in place of `fetch` and `open`: shorter where all widths are the same.
  ZENITH_DEVICE void open(const packed_layout& in, const record_copy& record, U bias) {
    constexpr unsigned widths_at = 8 + packed_group_blocks * static_cast<unsigned>(sizeof(U));
    const unsigned lane = simt::lane_index();
    const std::uint32_t first = record.read<std::uint32_t>(widths_at);
    bool is_same = false;
    if constexpr (sizeof(U) == 8) {
      even_width_ = first & 0xff;
      is_same = record.read<std::uint32_t>(widths_at + lane % 16 * 4) == even_width_ * 0x01010101;
    } else {
      // sixes of bits: words 0 to 11 begin with all six, the last four, the last two, all six …
      even_width_ = first & 63;
      const unsigned word = lane < 12 ? lane : 0;
      const unsigned cut = word % 3 * 2;
      is_same =
          record.read<std::uint32_t>(widths_at + word * 4) == (even_width_ >> cut) + even_width_ * (0x41041040U >> cut);
    }
    is_even_ = simt::all(simt::full_warp, is_same);
    if (is_even_) {
      payload_ = payload_of(in, record.read<std::uint64_t>(0));
      reference_ = record.read<U>(8 + lane % packed_group_blocks * static_cast<unsigned>(sizeof(U))) + bias;
    } else {
      fetch(record);
      open(in, bias);
    }
  }

  /// Of the group that was fetched. `bias` is added to every reference.
  ZENITH_DEVICE void open(const packed_layout& in, U bias) {
    const unsigned lane = simt::lane_index();
    std::uint32_t width[2];
    ZENITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      width[half] = fetched_.width[half];
      // 6 * 32 is a multiple of 8: both halves are shifted alike
      if constexpr (sizeof(U) == 4) {
        width[half] = (fetched_.high[half] << 8 | width[half]) >> (6 * lane % 8) & 63;
      }
    }
    payload_ = payload_of(in, fetched_.start);
    reference_ = fetched_.reference + bias;
    even_width_ = simt::shuffle(simt::full_warp, width[0], 0);
    is_even_ = simt::all(simt::full_warp, width[0] == even_width_ && width[1] == even_width_);
    if (!is_even_) find_places(width);
  }

  /// Whether all of the group's miniblocks have the same width: then its words are one sequence of bits.
  [[nodiscard]] ZENITH_DEVICE bool is_even() const { return is_even_; }
  [[nodiscard]] ZENITH_DEVICE std::uint32_t even_width() const { return even_width_; }

  /// Of miniblock `number` < 64 of the group, which is not even, each lane another if it likes; `half` is number / 32,
  /// the same for all.
  [[nodiscard]] ZENITH_DEVICE miniblock_place place(unsigned half, unsigned number) const {
    const std::uint32_t place =
        simt::shuffle(simt::full_warp, half == 0 ? places_[0] : places_[1], number % simt::warp_size);
    return {place >> 16, place & 0xff, place >> 8 & 0xff};
  }

  /// Of block `slot` of the group.
  [[nodiscard]] ZENITH_DEVICE U reference(unsigned slot) const {
    return simt::shuffle(simt::full_warp, reference_, slot);
  }

  /// Of block lane % 16.
  [[nodiscard]] ZENITH_DEVICE U own_reference() const { return reference_; }

  /// The group's first word.
  [[nodiscard]] ZENITH_DEVICE const std::uint32_t* payload() const { return payload_; }

  /// For a lane of its own: the width of one miniblock, and the group's first word by what its record begins with.
  [[nodiscard]] ZENITH_DEVICE static std::uint32_t width_in(const record_in_place& record, unsigned miniblock) {
    if constexpr (sizeof(U) == 8) {
      return record.read<std::uint8_t>(136 + miniblock);
    } else {
      const unsigned bit = 6 * miniblock;
      const std::uint32_t low = record.read<std::uint8_t>(72 + bit / 8);
      const std::uint32_t high = bit % 8 > 2 ? record.read<std::uint8_t>(73 + bit / 8) : 0U;
      return (high << 8 | low) >> (bit % 8) & 63;
    }
  }
  [[nodiscard]] ZENITH_DEVICE static const std::uint32_t* payload_of(const packed_layout& in, std::uint64_t start) {
    if constexpr (sizeof(U) == 4) start &= (std::uint64_t{1} << packed::start_bits) - 1;
    return reinterpret_cast<const std::uint32_t*>(in.bytes + in.payload_at) + start;
  }

 private:
  ZENITH_DEVICE void find_places(const std::uint32_t (&width)[2]) {
    // both halves' running sums in one word: neither half has more than 2^11 words
    const auto words = warp_scan<std::uint32_t>(width[0] | width[1] << 16);
    places_[0] = (words.before & 0xffff) << 16 | width[0];
    places_[1] = ((words.before >> 16) + (words.all & 0xffff)) << 16 | width[1];
    // the widest of a tile decides how all of it is read
    constexpr unsigned miniblocks = packed_tile<U>::size / packed_miniblock_items;
    std::uint32_t widest[2] = {width[0], width[1]};
    ZENITH_UNROLL
    for (unsigned other = 1; other < miniblocks; other *= 2) {
      ZENITH_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const std::uint32_t width_there = simt::shuffle_xor(simt::full_warp, widest[half], other);
        widest[half] = width_there > widest[half] ? width_there : widest[half];
      }
    }
    places_[0] |= widest[0] << 8;
    places_[1] |= widest[1] << 8;
  }

  struct raw {
    std::uint64_t start;
    U reference;
    std::uint32_t width[2];
    std::uint32_t high[2];  // of 32-bit values: the byte behind `width`
  };

  raw fetched_;
  const std::uint32_t* payload_;
  std::uint32_t places_[2];  // of miniblocks lane and lane + 32: word, the tile's widest, width
  std::uint32_t even_width_;
  bool is_even_;
  U reference_;  // of block lane % 16
};

/// Which of a group's patches belong to which block.
class patch_record {
 public:
  /// All lanes together; only where the column has patches.
  ZENITH_DEVICE void open(const packed_layout& in, std::uint64_t group) {
    const std::byte* record = in.bytes + in.patch_index_at + group * packed::patch_index_bytes;
    first_ = packed_bytes::word_at<std::uint64_t>(record, 0);
    const unsigned lane = simt::lane_index();
    const std::uint32_t count = lane < packed_group_blocks ? packed_bytes::word_at<std::uint8_t>(record, 8 + lane) : 0U;
    ranges_ = warp_scan(count).before << 8 | count;
  }

  /// Whether the group has one.
  [[nodiscard]] ZENITH_DEVICE bool any() const { return simt::any(simt::full_warp, (ranges_ & 0xff) != 0); }
  [[nodiscard]] ZENITH_DEVICE packed::patch_range of_block(unsigned slot) const {
    const std::uint32_t range = simt::shuffle(simt::full_warp, ranges_, slot);
    return {first_ + (range >> 8), range & 0xff};
  }

 private:
  std::uint64_t first_;
  std::uint32_t ranges_;  // of block lane: how many before it, how many
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// A group's metadata in the registers of a warp: read once for 2048 values, handed out by shuffles.

#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Where a miniblock stands.
struct miniblock_place {
  std::uint32_t word;  ///< behind the group's first
  std::uint32_t width;
};

/// The record of a group of frame_of_reference, delta or vertical.
template <class U>
class group_record {
 public:
  /// All lanes together.
  ZENITH_DEVICE void open(const packed_layout& in, std::uint64_t group) {
    const std::byte* record = in.bytes + in.groups_at + group * packed::group_bytes<U>;
    const unsigned lane = simt::lane_index();
    auto start = packed_bytes::word_at<std::uint64_t>(record, 0);
    std::uint32_t width[2];
    ZENITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) width[half] = width_of(record, half * simt::warp_size + lane);
    // both halves' running sums in one word: neither half has more than 2^11 words
    const auto words = warp_scan<std::uint32_t>(width[0] | width[1] << 16);
    places_[0] = (words.before & 0xffff) << 8 | width[0];
    places_[1] = ((words.before >> 16) + (words.all & 0xffff)) << 8 | width[1];
    if constexpr (sizeof(U) == 4) start &= (std::uint64_t{1} << packed::start_bits) - 1;
    payload_ = reinterpret_cast<const std::uint32_t*>(in.bytes + in.payload_at) + start;
    reference_ = packed_bytes::word_at<U>(record, 8 + lane % packed_group_blocks * sizeof(U));
  }

  /// Of miniblock `number` < 64 of the group, each lane another if it likes; `half` is number / 32, the same for all.
  [[nodiscard]] ZENITH_DEVICE miniblock_place place(unsigned half, unsigned number) const {
    const std::uint32_t place =
        simt::shuffle(simt::full_warp, half == 0 ? places_[0] : places_[1], number % simt::warp_size);
    return {place >> 8, place & 0xff};
  }

  /// Of block `slot` of the group.
  [[nodiscard]] ZENITH_DEVICE U reference(unsigned slot) const {
    return simt::shuffle(simt::full_warp, reference_, slot);
  }

  /// The group's first word.
  [[nodiscard]] ZENITH_DEVICE const std::uint32_t* payload() const { return payload_; }

 private:
  ZENITH_DEVICE static std::uint32_t width_of(const std::byte* record, unsigned number) {
    if constexpr (sizeof(U) == 8) {
      return packed_bytes::word_at<std::uint8_t>(record, 136 + number);
    } else {
      // six bits, of which the last may stand in the next byte
      const unsigned bit = 6 * number;
      const std::uint32_t low = packed_bytes::word_at<std::uint8_t>(record, 72 + bit / 8);
      const std::uint32_t high = bit % 8 > 2 ? packed_bytes::word_at<std::uint8_t>(record, 73 + bit / 8) : 0U;
      return (high << 8 | low) >> (bit % 8) & 63;
    }
  }

  const std::uint32_t* payload_;
  std::uint32_t places_[2];  // of miniblocks lane and lane + 32: word and width
  U reference_;              // of block lane % 16
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

  [[nodiscard]] ZENITH_DEVICE packed::patch_range of_block(unsigned slot) const {
    const std::uint32_t range = simt::shuffle(simt::full_warp, ranges_, slot);
    return {first_ + (range >> 8), range & 0xff};
  }

 private:
  std::uint64_t first_;
  std::uint32_t ranges_;  // of block lane: how many before it, how many
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

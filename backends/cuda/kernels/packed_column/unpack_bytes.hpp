#pragma once

/// \file
/// The tile function unpack of the encodings that count in bytes or values: plain, null_suppression_fixed,
/// null_suppression_variable, run_length.

#include <backends/cuda/kernels/packed_column/unpack_bits.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template <class U>
class unpacker<U, encoding::plain> {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit unpacker(const packed_layout& in, U bias = 0) : in_(in), bias_(bias) {}

  ZENITH_DEVICE void fetch(std::uint64_t /*group*/) const {}
  ZENITH_DEVICE void open(std::uint64_t group) {
    from_ = reinterpret_cast<const U*>(in_.bytes + in_.payload_at) + group * packed_group_items;
  }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    const U* const from = from_ + number * tile::size;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const unsigned at = tile::position_of(v * tile::per_vector);
      if (at >= items) continue;
      // up to 12 bytes of padding behind the last value
      const auto loaded = simt::load_vector_streaming<tile::per_vector>(from + at);
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) to.item[v * tile::per_vector + i] = loaded.value[i] + bias_;
    }
  }

 private:
  const packed_layout& in_;
  U bias_;
  const U* from_;
};

template <class U>
class unpacker<U, encoding::null_suppression_fixed> {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit unpacker(const packed_layout& in, U bias = 0) : in_(in), bias_(bias) {}

  ZENITH_DEVICE void fetch(std::uint64_t /*group*/) const {}
  ZENITH_DEVICE void open(std::uint64_t group) {
    from_ = in_.bytes + in_.payload_at + group * packed_group_items * in_.parameter;
  }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    switch (in_.parameter) {
      case 1: take<std::uint8_t>(number, items, to); break;
      case 2: take<std::uint16_t>(number, items, to); break;
      case 4: take<std::uint32_t>(number, items, to); break;
      default: take<std::uint64_t>(number, items, to); break;
    }
  }

 private:
  template <class Word>
  ZENITH_DEVICE void take(unsigned number, unsigned items, tile& to) const {
    if constexpr (sizeof(Word) <= sizeof(U)) {
      const bool with_sign = packed::is_signed(in_.type);
      const Word* const from = reinterpret_cast<const Word*>(from_) + number * tile::size;
      ZENITH_UNROLL
      for (unsigned v = 0; v < tile::vectors; ++v) {
        const unsigned at = tile::position_of(v * tile::per_vector);
        if (at >= items) continue;
        const auto loaded = simt::load_vector<tile::per_vector>(from + at);
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::per_vector; ++i) {
          const auto word = static_cast<U>(loaded.value[i]);
          constexpr U sign = U{1} << (sizeof(Word) * 8 - 1);
          to.item[v * tile::per_vector + i] = (with_sign ? static_cast<U>((word ^ sign) - sign) : word) + bias_;
        }
      }
    }
  }

  const packed_layout& in_;
  U bias_;
  const std::byte* from_;
};

template <class U>
class unpacker<U, encoding::null_suppression_variable> {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit unpacker(const packed_layout& in, U bias = 0) : in_(in), bias_(bias) {}

  ZENITH_DEVICE void fetch(std::uint64_t /*group*/) const {}
  ZENITH_DEVICE void open(std::uint64_t group) {
    const std::uint64_t record = in_.groups_at + group * packed::variable_group_bytes;
    payload_ = in_.payload_at + packed_bytes::word_at<std::uint64_t>(in_.bytes, record);
    offset_ =
        packed_bytes::word_at<std::uint16_t>(in_.bytes, record + 8 + simt::lane_index() % packed_group_blocks * 2);
    codes_ = in_.bytes + in_.codes_at + group * (packed_group_items / 4);
  }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    const bool with_sign = packed::is_signed(in_.type);
    std::uint32_t start = 0;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      if (v * tile::vector_items >= items) continue;
      const unsigned at = tile::position_of(v * tile::per_vector);
      const unsigned value = number * tile::size + at;  // in the group
      const std::uint32_t codes = packed_bytes::word_at<std::uint8_t>(codes_, value / 4) >> (2 * (value % 4));
      std::uint32_t bytes = 0;
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) bytes += bytes_of(codes, i);
      if (v % tile::vectors_in_block == 0) {
        const unsigned block = (number * tile::vectors + v) / tile::vectors_in_block;
        start = simt::shuffle(simt::full_warp, offset_, block);
      }
      const auto before = warp_scan(bytes);
      std::uint64_t from = payload_ + start + before.before;
      start += before.all;
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        // behind the last value codes mean nothing, and the padding may end
        if (at + i >= items) continue;
        const std::uint32_t* const words = reinterpret_cast<const std::uint32_t*>(in_.bytes + from / 4 * 4);
        const U word =
            packed_bytes::bits_at<U>(words, static_cast<std::uint32_t>(from % 4 * 8), 8 * bytes_of(codes, i));
        to.item[v * tile::per_vector + i] = (with_sign ? packed::from_zigzag(word) : word) + bias_;
        from += bytes_of(codes, i);
      }
    }
  }

 private:
  ZENITH_DEVICE static unsigned bytes_of(std::uint32_t codes, unsigned item) {
    return packed::variable_bytes<U>(codes >> (2 * item) & 3);
  }

  const packed_layout& in_;
  U bias_;
  std::uint64_t payload_;   // of the group
  std::uint32_t offset_;    // of block lane % 16
  const std::byte* codes_;  // of the group
};

template <class U>
class unpacker<U, encoding::run_length> {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit unpacker(const packed_layout& in, U bias = 0) : in_(in), bias_(bias) {}

  ZENITH_DEVICE void fetch(std::uint64_t /*group*/) const {}
  ZENITH_DEVICE void open(std::uint64_t group) {
    first_ = group * packed_group_items;
    const std::uint64_t left = in_.count - first_;
    const std::uint64_t last = first_ + (left < packed_group_items ? left : packed_group_items) - 1;
    low_ = find(first_, 0, in_.payload_units - 1);
    // every run holds a value
    const std::uint64_t most = low_ + (last - first_);
    high_ = find(last, low_, most < in_.payload_units - 1 ? most : in_.payload_units - 1);
  }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    std::uint64_t run = low_;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const unsigned at = tile::position_of(v * tile::per_vector);
      if (at >= items) continue;
      const std::uint64_t index = first_ + number * tile::size + at;
      run = find_alone(index, run, high_);
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        if (at + i >= items) continue;
        if (end_of(run) <= index + i) ++run;
        to.item[v * tile::per_vector + i] =
            packed_bytes::word_at<U>(in_.bytes, in_.payload_at + run * sizeof(U)) + bias_;
      }
    }
  }

 private:
  [[nodiscard]] ZENITH_DEVICE std::uint64_t end_of(std::uint64_t run) const {
    return in_.parameter == 4 ? packed_bytes::word_at<std::uint32_t>(in_.bytes, in_.codes_at + run * 4)
                              : packed_bytes::word_at<std::uint64_t>(in_.bytes, in_.codes_at + run * 8);
  }

  // The run of value `index`, which is one of [low, high]: all lanes together, each step divides by 32.
  [[nodiscard]] ZENITH_DEVICE std::uint64_t find(std::uint64_t index, std::uint64_t low, std::uint64_t high) const {
    while (low < high) {
      const std::uint64_t step = (high - low + simt::warp_size - 1) / simt::warp_size;
      const std::uint64_t probe = low + (simt::lane_index() + 1) * step - 1;
      // a probe behind the range is as good as its end
      const bool is_before = probe < high && end_of(probe) <= index;
      const unsigned steps = simt::popcount(simt::ballot(simt::full_warp, is_before));
      const std::uint64_t next = low + (steps + 1) * step - 1;
      low += steps * step;
      high = next < high ? next : high;
    }
    return low;
  }

  // The same, a lane on its own.
  [[nodiscard]] ZENITH_DEVICE std::uint64_t find_alone(std::uint64_t index, std::uint64_t low,
                                                       std::uint64_t high) const {
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (end_of(middle) <= index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const packed_layout& in_;
  U bias_;
  std::uint64_t first_;  // value of the group
  std::uint64_t low_;    // the runs of the group's first and last value
  std::uint64_t high_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

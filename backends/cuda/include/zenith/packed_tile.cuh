#pragma once

/// \file
/// For CUDA kernels of one's own: a block of a packed column, decoded into the registers of a warp, to go on with
/// there.
///
///   __global__ void kernel(zenith::packed_layout column, …) {      // packed_device_column::layout()
///     for (auto block = warp; block < column.blocks(); block += warps) {
///       const auto tile = zenith::unpack_tile<std::int32_t>(column, block);
///       for (unsigned i = 0; i < tile.lane_items; ++i) {
///         if (tile.holds(i)) use(block * zenith::packed_block_items + tile.position(i), tile.item[i]);
///       }
///     }
///   }

#if !defined(__CUDACC__)
#error "zenith/packed_tile.cuh is for files that nvcc compiles"
#endif

#include <cstdint>
#include <type_traits>

#include <zenith/packed_block.hpp>

namespace zenith {

/// A block of 128 values in the registers of a warp: lane l holds values 4 * l to 4 * l + 3.
template <class T>
struct packed_tile {
  static constexpr unsigned lane_items = 4;

  T item[lane_items];
  unsigned items;  ///< values of the block: 128, or fewer in the last

  /// Where in the block this lane's `item[i]` stands.
  [[nodiscard]] __device__ static unsigned position(unsigned i) { return threadIdx.x % 32 * lane_items + i; }
  /// Whether item[i] is a value: what stands behind the last one means nothing.
  [[nodiscard]] __device__ bool holds(unsigned i) const { return position(i) < items; }
};

/// Decodes block `block` < column.blocks(), all lanes of a warp together. Lanes are counted by threadIdx.x, so that a
/// thread block has one dimension, of a multiple of 32 threads. `column` lies in device memory, holds values of type T,
/// and is one that `packed_view::parse` or `pack` made: nothing is checked here.
template <class T>
__device__ packed_tile<T> unpack_tile(const packed_layout& column, std::uint64_t block);

namespace packed_device {

inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr unsigned lane_items = 4;
inline constexpr unsigned miniblock_lanes = packed_miniblock_items / lane_items;

__device__ inline unsigned lane() { return threadIdx.x % 32; }

template <class Word>
__device__ Word word_at(const packed_layout& in, std::uint64_t offset) {
  return *reinterpret_cast<const Word*>(in.bytes + offset);
}

// The sum over the lower lanes.
template <class U>
__device__ U sum_before(U own) {
  U sum = own;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const U below = __shfl_up_sync(all_lanes, sum, distance);
    if (lane() >= distance) sum += below;
  }
  return sum - own;
}

// `width` bits from bit `at` of words on that stand `stride` apart.
template <class U>
__device__ U bits_at(const std::uint32_t* words, unsigned at, unsigned width, unsigned stride = 1) {
  if (width == 0) return 0;
  words += at / 32 * stride;
  const unsigned shift = at % 32;
  const std::uint32_t w0 = words[0];
  const std::uint32_t w1 = shift + width > 32 ? words[stride] : 0;
  U bits = __funnelshift_r(w0, w1, shift);
  if constexpr (sizeof(U) == 8) {
    const std::uint32_t w2 = shift + width > 64 ? words[2 * stride] : 0;
    bits |= static_cast<U>(__funnelshift_r(w1, w2, shift)) << 32;
  }
  return bits & packed::low_mask<U>(width);
}

template <class U>
struct place {
  U reference;
  const std::uint32_t* words;
  unsigned width;
};

// Of each lane's miniblock `mini` of a block that is the same for all lanes.
template <class U>
__device__ place<U> place_of(const packed_layout& in, std::uint64_t block, unsigned mini) {
  const std::uint64_t record = in.groups_at + block / packed_group_blocks * packed::group_bytes<U>;
  const auto slot = static_cast<unsigned>(block % packed_group_blocks);
  const auto start = word_at<std::uint64_t>(in, record);
  const auto* payload = reinterpret_cast<const std::uint32_t*>(in.bytes + in.payload_at);
  if constexpr (sizeof(U) == 4) {
    // a lane a width: those of the eight blocks of a half
    const std::uint64_t fields = record + 72 + slot / 8 * 24;
    const unsigned bit = 6 * lane();
    const std::uint32_t w0 = word_at<std::uint32_t>(in, fields + bit / 32 * 4);
    const std::uint32_t w1 = bit < 160 ? word_at<std::uint32_t>(in, fields + bit / 32 * 4 + 4) : 0;
    const std::uint32_t width = __funnelshift_r(w0, w1, bit % 32) & 63;
    const std::uint32_t before = sum_before(width);
    const unsigned own = slot % 8 * packed_miniblocks + mini;
    payload += start & ((std::uint64_t{1} << packed::start_bits) - 1);
    if (slot >= 8) payload += start >> packed::start_bits;
    payload += __shfl_sync(all_lanes, before, own);
    return {word_at<std::uint32_t>(in, record + 8 + slot * 4), payload, __shfl_sync(all_lanes, width, own)};
  } else {
    const auto widths = word_at<std::uint32_t>(in, record + 136 + slot * 4);
    payload += start + word_at<std::uint16_t>(in, record + 200 + slot * 2);
    for (unsigned m = 0; m < mini; ++m) payload += widths >> (8 * m) & 255;
    return {word_at<std::uint64_t>(in, record + 8 + slot * 8), payload, widths >> (8 * mini) & 255};
  }
}

// The packed words of frame_of_reference and delta, with their patches; returns the block's reference.
template <class U>
__device__ U take_words(const packed_layout& in, std::uint64_t block, U (&word)[lane_items]) {
  const auto from = place_of<U>(in, block, lane() / miniblock_lanes);
  const unsigned row = lane() % miniblock_lanes * lane_items;
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) word[i] = bits_at<U>(from.words, (row + i) * from.width, from.width);
  if (in.patches != 0) {
    const auto patches = packed::patches_of(in, block);
    for (unsigned p = 0; p < patches.count; ++p) {
      const unsigned at = packed::patch_position(in, patches.first + p) - lane() * lane_items;
#pragma unroll
      for (unsigned i = 0; i < lane_items; ++i) {
        if (at == i) word[i] = word_at<U>(in, in.patch_values_at + (patches.first + p) * sizeof(U));
      }
    }
  }
  return from.reference;
}

template <class U>
__device__ void unpack_delta(const packed_layout& in, std::uint64_t block, U (&item)[lane_items]) {
  const U reference = take_words(in, block, item);
  item[0] += reference;
#pragma unroll
  for (unsigned i = 1; i < lane_items; ++i) item[i] += item[i - 1] + reference;
  const U before = word_at<U>(in, in.bases_at + block * sizeof(U)) + sum_before(item[lane_items - 1]);
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) item[i] += before;
}

template <class U>
__device__ void unpack_vertical(const packed_layout& in, std::uint64_t block, U (&item)[lane_items]) {
  const unsigned lanes = in.parameter;
  const unsigned blocks = lanes * packed_miniblock_items / packed_block_items;  // of a span
  const auto from = place_of<U>(in, block / blocks * blocks, 0);
  // four values stand side by side in one row
  const unsigned slot = static_cast<unsigned>(block % blocks) * packed_block_items + lane() * lane_items;
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) {
    item[i] = from.reference + bits_at<U>(from.words + slot % lanes + i, slot / lanes * from.width, from.width, lanes);
  }
}

template <class U>
__device__ void unpack_variable(const packed_layout& in, std::uint64_t block, unsigned items, U (&item)[lane_items]) {
  const std::uint64_t record = in.groups_at + block / packed_group_blocks * packed::variable_group_bytes;
  const unsigned codes = word_at<std::uint8_t>(in, in.codes_at + block * (packed_block_items / 4) + lane());
  unsigned bytes = 0;
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) bytes += packed::variable_bytes<U>(codes >> (2 * i) & 3);
  std::uint64_t at = in.payload_at + word_at<std::uint64_t>(in, record) +
                     word_at<std::uint16_t>(in, record + 8 + block % packed_group_blocks * 2) + sum_before(bytes);
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) {
    if (lane() * lane_items + i >= items) continue;
    const unsigned taken = packed::variable_bytes<U>(codes >> (2 * i) & 3);
    const auto* words = reinterpret_cast<const std::uint32_t*>(in.bytes + at / 4 * 4);
    const U word = bits_at<U>(words, static_cast<unsigned>(at % 4) * 8, taken * 8);
    item[i] = packed::is_signed(in.type) ? packed::from_zigzag(word) : word;
    at += taken;
  }
}

template <class U>
__device__ void unpack_runs(const packed_layout& in, std::uint64_t first, unsigned items, U (&item)[lane_items]) {
  const auto end_of = [&](std::uint64_t run) -> std::uint64_t {
    return in.parameter == 4 ? word_at<std::uint32_t>(in, in.codes_at + run * 4)
                             : word_at<std::uint64_t>(in, in.codes_at + run * 8);
  };
  const std::uint64_t index = first + lane() * lane_items;
  if (lane() * lane_items >= items) return;
  std::uint64_t run = 0;
  for (std::uint64_t high = in.payload_units - 1; run < high;) {
    const std::uint64_t middle = run + (high - run) / 2;
    if (end_of(middle) <= index) {
      run = middle + 1;
    } else {
      high = middle;
    }
  }
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) {
    if (lane() * lane_items + i >= items) continue;
    if (end_of(run) <= index + i) ++run;
    item[i] = word_at<U>(in, in.payload_at + run * sizeof(U));
  }
}

// plain, and null_suppression_fixed.
template <class U>
__device__ void unpack_whole(const packed_layout& in, std::uint64_t first, unsigned items, U (&item)[lane_items]) {
  const unsigned bytes = in.kind == encoding::plain ? sizeof(U) : in.parameter;
  const std::uint64_t at = in.payload_at + (first + lane() * lane_items) * bytes;
#pragma unroll
  for (unsigned i = 0; i < lane_items; ++i) {
    if (lane() * lane_items + i >= items) continue;
    std::uint64_t word = 0;
    switch (bytes) {
      case 1: word = word_at<std::uint8_t>(in, at + i); break;
      case 2: word = word_at<std::uint16_t>(in, at + i * 2); break;
      case 4: word = word_at<std::uint32_t>(in, at + i * 4); break;
      default: word = word_at<std::uint64_t>(in, at + i * 8); break;
    }
    item[i] = packed::widen_fixed<U>(word, bytes, packed::is_signed(in.type));
  }
}

}  // namespace packed_device

template <class T>
__device__ packed_tile<T> unpack_tile(const packed_layout& column, std::uint64_t block) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  using word = std::make_unsigned_t<T>;
  const std::uint64_t first = block * packed_block_items;
  packed_tile<T> tile;
  tile.items = column.items_of(block);
  word item[packed_tile<T>::lane_items] = {};
  switch (column.kind) {
    case encoding::frame_of_reference: {
      const word reference = packed_device::take_words(column, block, item);
      for (auto& one : item) one += reference;
      break;
    }
    case encoding::delta: packed_device::unpack_delta(column, block, item); break;
    case encoding::vertical: packed_device::unpack_vertical(column, block, item); break;
    case encoding::null_suppression_variable: packed_device::unpack_variable(column, block, tile.items, item); break;
    case encoding::run_length: packed_device::unpack_runs(column, first, tile.items, item); break;
    default: packed_device::unpack_whole(column, first, tile.items, item); break;
  }
#pragma unroll
  for (unsigned i = 0; i < tile.lane_items; ++i) tile.item[i] = static_cast<T>(item[i]);
  return tile;
}

}  // namespace zenith

#pragma once

/// \file
/// Decoding a block, or one value, on one lane of any processor: the plainest statement of every encoding, and what a
/// loop of your own may call. Values are handled as the unsigned words of their width: the bits are the value's own.
///
/// All of this trusts its layout, as `packed_view::parse` checked it.

#include <zenith/packed_layout.hpp>

namespace zenith::packed {

/// From null_suppression_variable's word: small magnitudes of either sign are small words.
template <class U>
ZENITH_FN U from_zigzag(U word) {
  return static_cast<U>((word >> 1) ^ (U{0} - (word & 1)));
}
template <class U>
ZENITH_FN U to_zigzag(U bits) {
  return static_cast<U>((bits << 1) ^ (U{0} - (bits >> (sizeof(U) * 8 - 1))));
}

ZENITH_FN bool is_signed(key_type type) { return type == key_type::int32 || type == key_type::int64; }

/// A value of null_suppression_fixed from its low `bytes` bytes.
template <class U>
ZENITH_FN U widen_fixed(std::uint64_t word, unsigned bytes, bool with_sign) {
  if (bytes == 8) return static_cast<U>(word);
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<U>(with_sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(word << unused) >> unused)
                                  : word << unused >> unused);
}

template <class U>
ZENITH_FN U fixed_at(const packed_layout& in, std::uint64_t index) {
  const std::byte* at = in.bytes + in.payload_at + index * in.parameter;
  std::uint64_t word = 0;
  switch (in.parameter) {
    case 1: word = load<std::uint8_t>(at); break;
    case 2: word = load<std::uint16_t>(at); break;
    case 4: word = load<std::uint32_t>(at); break;
    default: word = load<std::uint64_t>(at); break;
  }
  return widen_fixed<U>(word, in.parameter, is_signed(in.type));
}

/// The `bytes` low bytes of a word at any address, on a device too.
template <class U>
ZENITH_FN U bytes_at(const std::byte* at, unsigned bytes) {
  U word = 0;
  for (unsigned i = 0; i < bytes; ++i) word |= static_cast<U>(static_cast<U>(at[i]) << (8 * i));
  return word;
}

ZENITH_FN unsigned code_of(const packed_layout& in, std::uint64_t index) {
  return static_cast<unsigned>(in.bytes[in.codes_at + index / 4]) >> (2 * (index % 4)) & 3;
}

/// Where value `slot` of a vertical block's lane sequence stands: the block of 32 rows of `lanes` values that contains
/// `block`, its bits dealt out in words over the lanes.
template <class U>
ZENITH_FN U vertical_at(const packed_layout& in, std::uint64_t index) {
  const unsigned lanes = in.parameter;
  const std::uint64_t span = packed_miniblock_items * lanes;
  const auto place = place_of<U>(in, index / span * (span / packed_block_items));
  const auto slot = static_cast<unsigned>(index % span);
  const unsigned lane = slot % lanes;
  const unsigned width = place.width[0];
  const unsigned bit = slot / lanes * width;
  const std::byte* words = in.bytes + in.payload_at + (place.word + bit / 32 * lanes + lane) * 4;
  // the lane's words stand `lanes` apart; behind the last there is padding
  const unsigned shift = bit % 32;
  const std::uint64_t low = load<std::uint32_t>(words);
  std::uint64_t window = low >> shift;
  if (shift + width > 32) window |= std::uint64_t{load<std::uint32_t>(words + lanes * 4)} << 32 >> shift;
  if (sizeof(U) == 8 && shift + width > 64) {
    window |= std::uint64_t{load<std::uint32_t>(words + lanes * 8)} << 32 << (32 - shift);
  }
  return static_cast<U>(place.reference + (static_cast<U>(window) & low_mask<U>(width)));
}

/// The 32-bit word of `width` bits from bit `at` of a payload on: one load, at any byte.
ZENITH_FN std::uint32_t word_at(const std::byte* payload, std::uint64_t at, unsigned width) {
  return static_cast<std::uint32_t>(load<std::uint64_t>(payload + at / 8) >> (at % 8) &
                                    ((std::uint64_t{1} << width) - 1));
}

/// Where a value of frame_of_reference has its word, and what is added to it.
template <class U>
struct framed_place {
  U reference;
  unsigned width;
  const std::byte* words;
  std::uint64_t bit;  ///< from `words` on
};

/// Reads the value's record alone, and in a column of one width only the reference. Of 32-bit values no branch depends
/// on where the value stands.
template <class U>
ZENITH_FN framed_place<U> framed_place_of(const packed_layout& in, std::uint64_t index) {
  const std::uint64_t block = index / packed_block_items;
  const std::byte* record = record_of<U>(in, block);
  const auto row = static_cast<std::uint64_t>(index % packed_miniblock_items);
  const std::byte* payload = in.bytes + in.payload_at;
  const U reference = load<U>(record + 8 + block % packed_group_blocks * sizeof(U));
  if (in.one_width != mixed_widths) return {reference, in.one_width, payload, index * in.one_width};
  if constexpr (sizeof(U) == 4) {
    const auto mini = static_cast<unsigned>(index / packed_miniblock_items % (packed_group_blocks * packed_miniblocks));
    // may read a byte behind the record, which is the column's own
    const unsigned width = load<std::uint16_t>(record + 72 + mini * 6 / 8) >> (mini * 6 % 8) & 63;
    return {reference, width, payload + miniblock_word(record, mini) * 4, row * width};
  } else {
    const auto mini = static_cast<unsigned>(index % packed_block_items / packed_miniblock_items);
    const auto place = place_of<U>(in, block);
    std::uint64_t word = place.word;
    for (unsigned m = 0; m < mini; ++m) word += place.width[m];
    return {reference, place.width[mini], payload + word * 4, row * place.width[mini]};
  }
}

/// The value there: one or two words of the payload, and the block's outliers where the column has any.
template <class U>
ZENITH_FN U framed_value(const packed_layout& in, std::uint64_t index, const framed_place<U>& place) {
  U word;
  if constexpr (sizeof(U) == 4) {
    word = word_at(place.words, place.bit, place.width);
  } else {
    word = bits_at<U>(place.words, place.bit, place.width);
  }
  if (in.patches != 0) {
    const auto patches = patches_of(in, index / packed_block_items);
    for (unsigned p = 0; p < patches.count; ++p) {
      if (patch_position(in, patches.first + p) == index % packed_block_items) {
        word = patch_value<U>(in, patches.first + p);
      }
    }
  }
  return static_cast<U>(place.reference + word);
}

/// The base of a delta block, to which its differences are added.
template <class U>
ZENITH_FN U base_of(const packed_layout& in, std::uint64_t block) {
  return load<U>(in.bytes + in.bases_at + block * sizeof(U));
}

/// Value `index` < count of an encoding that is not frame_of_reference.
template <class U>
ZENITH_FN U unframed_at(const packed_layout& in, std::uint64_t index) {
  const std::uint64_t block = index / packed_block_items;
  const auto slot = static_cast<unsigned>(index % packed_block_items);
  switch (in.kind) {
    case encoding::delta: {
      const auto place = place_of<U>(in, block);
      U value = static_cast<U>(base_of<U>(in, block) + place.reference * static_cast<U>(slot + 1));
      std::uint64_t word = place.word;
      for (unsigned s = 0; s <= slot; ++s) {
        const unsigned width = place.width[s / packed_miniblock_items];
        const unsigned row = s % packed_miniblock_items;
        if (width > 0) {
          value += bits_at<U>(in.bytes + in.payload_at + word * 4, std::uint64_t{row} * width, width);
        }
        if (row == packed_miniblock_items - 1) word += width;
      }
      const auto patches = patches_of(in, block);
      for (unsigned p = 0; p < patches.count; ++p) {
        if (patch_position(in, patches.first + p) <= slot) value += patch_value<U>(in, patches.first + p);
      }
      return value;
    }
    case encoding::null_suppression_fixed: return fixed_at<U>(in, index);
    case encoding::null_suppression_variable: {
      std::uint64_t at = variable_start(in, block);
      for (std::uint64_t i = block * packed_block_items; i < index; ++i) at += variable_bytes<U>(code_of(in, i));
      const U word = bytes_at<U>(in.bytes + in.payload_at + at, variable_bytes<U>(code_of(in, index)));
      return is_signed(in.type) ? from_zigzag(word) : word;
    }
    case encoding::run_length: return load<U>(in.bytes + in.payload_at + run_of(in, index) * sizeof(U));
    case encoding::vertical: return vertical_at<U>(in, index);
    default: return load<U>(in.bytes + in.payload_at + index * sizeof(U));
  }
}

/// Value `index` < count.
template <class U>
ZENITH_FN U value_at(const packed_layout& in, std::uint64_t index) {
  // by itself, so that loops keep what they need of the layout in registers
  if (in.kind == encoding::frame_of_reference) return framed_value(in, index, framed_place_of<U>(in, index));
  return unframed_at<U>(in, index);
}

// A device's compiler would unroll all 128 steps of a block, and take minutes for what calls that.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define ZENITH_PACKED_ROLLED _Pragma("unroll 1")
#else
#define ZENITH_PACKED_ROLLED
#endif

/// The packed words of a block of frame_of_reference or delta, 128 of them, with their patches.
template <class U>
ZENITH_FN void unpack_differences(const packed_layout& in, const block_place<U>& place, std::uint64_t block, U* out) {
  const std::byte* words = in.bytes + in.payload_at + place.word * 4;
  ZENITH_PACKED_ROLLED
  for (unsigned m = 0; m < packed_miniblocks; ++m) {
    const unsigned width = place.width[m];
    ZENITH_PACKED_ROLLED
    for (unsigned row = 0; row < packed_miniblock_items; ++row) {
      out[m * packed_miniblock_items + row] = width == 0 ? U{0} : bits_at<U>(words, std::uint64_t{row} * width, width);
    }
    words += width * 4;
  }
  const auto patches = patches_of(in, block);
  for (unsigned p = 0; p < patches.count; ++p) {
    out[patch_position(in, patches.first + p)] = patch_value<U>(in, patches.first + p);
  }
}

/// Decodes the values of one block into `out`, which has at least 128 elements; returns how many there are. Beyond them
/// `out` may be written, and means nothing.
template <class U>
ZENITH_FN unsigned unpack_block(const packed_layout& in, std::uint64_t block, U* out) {
  const unsigned items = in.items_of(block);
  const std::uint64_t first = block * packed_block_items;
  switch (in.kind) {
    case encoding::frame_of_reference: {
      const auto place = place_of<U>(in, block);
      unpack_differences(in, place, block, out);
      ZENITH_PACKED_ROLLED
      for (unsigned i = 0; i < items; ++i) out[i] = static_cast<U>(out[i] + place.reference);
      break;
    }
    case encoding::delta: {
      const auto place = place_of<U>(in, block);
      unpack_differences(in, place, block, out);
      U value = base_of<U>(in, block);
      ZENITH_PACKED_ROLLED
      for (unsigned i = 0; i < items; ++i) out[i] = value = static_cast<U>(value + place.reference + out[i]);
      break;
    }
    case encoding::null_suppression_variable: {
      const std::byte* at = in.bytes + in.payload_at + variable_start(in, block);
      ZENITH_PACKED_ROLLED
      for (unsigned i = 0; i < items; ++i) {
        const unsigned bytes = variable_bytes<U>(code_of(in, first + i));
        const U word = bytes_at<U>(at, bytes);
        out[i] = is_signed(in.type) ? from_zigzag(word) : word;
        at += bytes;
      }
      break;
    }
    case encoding::run_length: {
      std::uint64_t run = run_of(in, first);
      std::uint64_t end = run_end(in, run);
      ZENITH_PACKED_ROLLED
      for (unsigned i = 0; i < items; ++i) {
        if (first + i >= end) end = run_end(in, ++run);
        out[i] = load<U>(in.bytes + in.payload_at + run * sizeof(U));
      }
      break;
    }
    default:
      ZENITH_PACKED_ROLLED
      for (unsigned i = 0; i < items; ++i) out[i] = value_at<U>(in, first + i);
  }
  return items;
}

}  // namespace zenith::packed

#undef ZENITH_PACKED_ROLLED

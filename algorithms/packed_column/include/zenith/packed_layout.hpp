#pragma once

/// \file
/// Where everything stands in the bytes of a packed column. algorithms/packed_column/FORMAT.md specifies the bytes;
/// this header is that page in code, for every processor.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <zenith/function.hpp>
#include <zenith/types.hpp>

namespace zenith {

/// How the values of a packed column are encoded. The numbers are those in the bytes.
enum class encoding : std::uint8_t {
  plain = 0,                      ///< the values themselves
  frame_of_reference = 1,         ///< bit-packed differences from the least value of a block (GPU-FOR)
  delta = 2,                      ///< the same over the differences of neighbours (GPU-DFOR)
  null_suppression_fixed = 3,     ///< each value in as few bytes as the widest needs: 1, 2, 4 or 8 (NSF)
  null_suppression_variable = 4,  ///< each value in as few bytes as it needs (NSV)
  run_length = 5,                 ///< a value and where its run ends (RLE)
  vertical = 6,                   ///< frame of reference, values dealt out over 4, 8 or 16 lanes (SIMD-BP128)
  automatic = 7,                  ///< whichever takes the fewest bytes; never in the bytes
};

/// Every encoding that a column can have, in order of their numbers.
inline constexpr encoding packed_encodings[] = {encoding::plain,
                                                encoding::frame_of_reference,
                                                encoding::delta,
                                                encoding::null_suppression_fixed,
                                                encoding::null_suppression_variable,
                                                encoding::run_length,
                                                encoding::vertical};

/// The name of `which` as it is spelled in the enumeration.
[[nodiscard]] std::string_view to_string(encoding which) noexcept;

/// Values of a block: one reference, four miniblocks with a bit width each.
inline constexpr unsigned packed_block_items = 128;
inline constexpr unsigned packed_miniblock_items = 32;
inline constexpr unsigned packed_miniblocks = packed_block_items / packed_miniblock_items;
/// Blocks of a group: one record of metadata.
inline constexpr unsigned packed_group_blocks = 16;
inline constexpr unsigned packed_group_items = packed_block_items * packed_group_blocks;

/// The first 64 bytes.
struct packed_header {
  char magic[4];            ///< "ZPCK"
  std::uint16_t version;    ///< 1
  std::uint8_t kind;        ///< `encoding`
  std::uint8_t type;        ///< `key_type`
  std::uint64_t count;      ///< values
  std::uint64_t bytes;      ///< of everything, the header and the padding included
  std::uint64_t checksum;   ///< of everything, this field taken as 0
  std::uint64_t payload;    ///< 32-bit words, bytes or runs, as the encoding counts
  std::uint64_t patches;    ///< values that stand outside the payload
  std::uint32_t parameter;  ///< bytes of a value, lanes, or bytes of a run's end
  std::uint32_t zero_a;
  std::uint64_t zero_b;
};
static_assert(sizeof(packed_header) == 64);

inline constexpr std::uint16_t packed_version = 1;
/// The most values of a column. A run may say any number: with this bound no index or size of a plain value's bytes
/// wraps around 64 bits, wherever it is rounded up.
inline constexpr std::uint64_t packed_most_items = std::uint64_t{1} << 56;
/// Every section begins at a multiple of this, and this many bytes of padding end the column: wide loads may read past
/// the payload, and stay inside.
inline constexpr std::uint64_t packed_alignment = 64;

/// What `packed_layout::one_width` says of a column whose miniblocks have different widths, or none.
inline constexpr std::uint8_t mixed_widths = 255;

/// Where everything stands: what kernels get. `bytes` may lie in a device's memory; all else are offsets from it.
struct packed_layout {
  const std::byte* bytes = nullptr;
  std::uint64_t count = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t payload_units = 0;
  std::uint64_t patches = 0;
  std::uint64_t groups_at = 0;           ///< a record a group, or the starts of null_suppression_variable
  std::uint64_t bases_at = 0;            ///< delta: a value a block
  std::uint64_t patch_index_at = 0;      ///< a record a group, when there are patches
  std::uint64_t patch_positions_at = 0;  ///< a byte a patch
  std::uint64_t patch_values_at = 0;     ///< a word as wide as a value, a patch
  std::uint64_t codes_at = 0;            ///< null_suppression_variable: 32 bytes a block; run_length: the ends of runs
  std::uint64_t payload_at = 0;
  key_type type = key_type::int32;
  encoding kind = encoding::plain;
  /// The width of all miniblocks of frame_of_reference that hold a value, when it is the same: value i then has its
  /// word at bit i * one_width of the payload. Not in the bytes: whoever packs or parses a column finds it out.
  std::uint8_t one_width = mixed_widths;
  std::uint32_t parameter = 0;

  [[nodiscard]] ZENITH_FN std::uint64_t blocks() const {
    return count / packed_block_items + (count % packed_block_items != 0 ? 1 : 0);
  }
  [[nodiscard]] ZENITH_FN std::uint64_t groups() const {
    return count / packed_group_items + (count % packed_group_items != 0 ? 1 : 0);
  }
  /// The values of a block: 128, or fewer in the last.
  [[nodiscard]] ZENITH_FN unsigned items_of(std::uint64_t block) const {
    const std::uint64_t left = count - block * packed_block_items;
    return left < packed_block_items ? static_cast<unsigned>(left) : packed_block_items;
  }
};

namespace packed {

/// A word at any address.
template <class Word>
ZENITH_FN Word load(const std::byte* at) {
  Word word;
  __builtin_memcpy(&word, at, sizeof word);
  return word;
}

/// The record of a group of 32-bit values, less than half a bit a value. Where a block begins follows from the widths
/// before it, with a mark in the middle so that few must be added up.
struct group32 {
  std::uint64_t start;          ///< bits 0 to 47: the group's first word of payload; 48 to 58: words of blocks 0 to 7
  std::uint32_t reference[16];  ///< what the differences are added to
  std::uint8_t widths[48];      ///< 6 bits a miniblock, miniblock m of block b from bit 6 * (4 * b + m) on
};
static_assert(sizeof(group32) == 120);

/// The record of a group of 64-bit values.
struct group64 {
  std::uint64_t start;  ///< the group's first word of payload
  std::uint64_t reference[16];
  std::uint8_t width[16][4];
  std::uint16_t offset[16];  ///< of each block, in words
};
static_assert(sizeof(group64) == 232);

template <class U>
inline constexpr std::uint64_t group_bytes = sizeof(U) == 4 ? sizeof(group32) : sizeof(group64);

inline constexpr unsigned start_bits = 48;

/// A block of frame_of_reference, delta or vertical.
template <class U>
struct block_place {
  U reference;
  std::uint64_t word;  ///< of the payload
  std::uint32_t width[packed_miniblocks];
};

/// Bits 12 j to 12 j + 5 of eight widths in 48 bits: every other one.
inline constexpr std::uint64_t every_other_width = 0x03f03f03f03fULL;

#if defined(__GNUC__) && !defined(__CUDACC__)
/// For each count < 32 four words, each with the bits of eight widths that come before it.
struct widths_before {
  std::uint64_t of[32][4];
};
constexpr widths_before make_widths_before() {
  widths_before made{};
  for (unsigned count = 0; count < 32; ++count) {
    for (unsigned i = 0; i < count; ++i) made.of[count][i / 8] |= std::uint64_t{63} << (i % 8 * 6);
  }
  return made;
}
// not inline: a variable that translation units for different instruction sets would share
alignas(64) constexpr widths_before width_masks = make_widths_before();

/// The sum of the first `count` < 32 of the widths in a half of a group of 32-bit values, 24 bytes. All 32 widths are
/// read and the others masked: a branch on the count would be mispredicted half of the time in random accesses, and
/// the fewer instructions wait for the widths, the more accesses wait for memory at the same time.
ZENITH_FN std::uint32_t words_before(const std::byte* widths, unsigned count) {
  using two_words = std::uint64_t __attribute__((vector_size(16)));
  two_words mask[2];
  __builtin_memcpy(mask, width_masks.of[count], sizeof mask);
  const two_words low = two_words{load<std::uint64_t>(widths), load<std::uint64_t>(widths + 6)} & mask[0];
  // reads two bytes behind the half, which are the column's own
  const two_words high = two_words{load<std::uint64_t>(widths + 12), load<std::uint64_t>(widths + 18)} & mask[1];
  const two_words sums = (low & every_other_width) + (low >> 6 & every_other_width) + (high & every_other_width) +
                         (high >> 6 & every_other_width);
  return static_cast<std::uint32_t>((sums[0] + sums[1]) * 0x001001001001ULL >> 36) & 0xfff;
}
#else
/// The sum of the first `count` < 32 of the widths in a half of a group of 32-bit values, 24 bytes.
ZENITH_FN std::uint32_t words_before(const std::byte* widths, unsigned count) {
  const auto pairs_of = [](std::uint64_t fields) {
    return (fields & every_other_width) + (fields >> 6 & every_other_width);
  };
  std::uint64_t pairs = 0;
  for (; count >= 8; count -= 8, widths += 6) pairs += pairs_of(load<std::uint64_t>(widths));
  // two bytes earlier, so as not to read behind the half
  pairs += pairs_of(load<std::uint64_t>(widths - 2) >> 16 & ((std::uint64_t{1} << (6 * count)) - 1));
  return static_cast<std::uint32_t>(pairs * 0x001001001001ULL >> 36) & 0xfff;
}
#endif

/// Where the payload of miniblock `mini` < 64 of a group of 32-bit values begins.
ZENITH_FN std::uint64_t miniblock_word(const std::byte* record, unsigned mini) {
  const auto start = load<std::uint64_t>(record);
  const unsigned half = mini / 32;
  return (start & ((std::uint64_t{1} << start_bits) - 1)) + ((start >> start_bits) & (0 - std::uint64_t{half})) +
         words_before(record + 72 + half * 24, mini % 32);
}

template <class U>
ZENITH_FN const std::byte* record_of(const packed_layout& in, std::uint64_t block) {
  return in.bytes + in.groups_at + block / packed_group_blocks * group_bytes<U>;
}

template <class U>
ZENITH_FN block_place<U> place_of(const packed_layout& in, std::uint64_t block) {
  const std::byte* group = record_of<U>(in, block);
  const auto slot = static_cast<unsigned>(block % packed_group_blocks);
  block_place<U> found;
  if constexpr (sizeof(U) == 4) {
    const std::byte* widths = group + 72;
    found.reference = load<std::uint32_t>(group + 8 + slot * 4);
    found.word = miniblock_word(group, slot * packed_miniblocks);
    const std::uint32_t own = load<std::uint32_t>(widths + slot * 3 - 1) >> 8;  // not past the record
    for (unsigned m = 0; m < packed_miniblocks; ++m) found.width[m] = own >> (6 * m) & 63;
  } else {
    const auto own = load<std::uint32_t>(group + 136 + slot * 4);
    found.reference = load<std::uint64_t>(group + 8 + slot * 8);
    found.word = load<std::uint64_t>(group) + load<std::uint16_t>(group + 200 + slot * 2);
    for (unsigned m = 0; m < packed_miniblocks; ++m) found.width[m] = own >> (8 * m) & 255;
  }
  return found;
}

template <class U>
ZENITH_FN U low_mask(unsigned width) {
  return width == 0 ? U{0} : static_cast<U>(~U{0} >> (sizeof(U) * 8 - width));
}

/// `width` bits from bit `at` of a sequence of 32-bit words on. Reads up to two words behind them.
template <class U>
ZENITH_FN U bits_at(const std::byte* words, std::uint64_t at, unsigned width) {
  const std::byte* from = words + at / 32 * 4;
  const auto shift = static_cast<unsigned>(at % 32);
  const std::uint64_t low = load<std::uint32_t>(from);
  const std::uint64_t middle = load<std::uint32_t>(from + 4);
  std::uint64_t window = (middle << 32 | low) >> shift;
  if constexpr (sizeof(U) == 8) {
    // a shift by 64 is undefined, so the third word comes in two steps
    window |= std::uint64_t{load<std::uint32_t>(from + 8)} << 32 << (31 - shift) << 1;
  }
  return static_cast<U>(window) & low_mask<U>(width);
}

/// A group's record of patches: 64 bits with the number of its first, then a byte a block with how many it has.
inline constexpr std::uint64_t patch_index_bytes = 8 + packed_group_blocks;

/// The patches of a block, a range of all patches.
struct patch_range {
  std::uint64_t first;
  unsigned count;
};

ZENITH_FN patch_range patches_of(const packed_layout& in, std::uint64_t block) {
  if (in.patches == 0) return {0, 0};
  const std::byte* record = in.bytes + in.patch_index_at + block / packed_group_blocks * patch_index_bytes;
  const auto slot = static_cast<unsigned>(block % packed_group_blocks);
  patch_range found{load<std::uint64_t>(record), static_cast<unsigned>(record[8 + slot])};
  for (unsigned s = 0; s < slot; ++s) found.first += static_cast<unsigned>(record[8 + s]);
  return found;
}

template <class U>
ZENITH_FN U patch_value(const packed_layout& in, std::uint64_t patch) {
  return load<U>(in.bytes + in.patch_values_at + patch * sizeof(U));
}
ZENITH_FN unsigned patch_position(const packed_layout& in, std::uint64_t patch) {
  return static_cast<unsigned>(in.bytes[in.patch_positions_at + patch]);
}

/// A group's record of null_suppression_variable: 64 bits with its first byte of payload, then 16 bits a block with the
/// block's offset from there.
inline constexpr std::uint64_t variable_group_bytes = 8 + 2 * packed_group_blocks;

/// Where a block of null_suppression_variable begins, a byte of the payload.
ZENITH_FN std::uint64_t variable_start(const packed_layout& in, std::uint64_t block) {
  const std::byte* record = in.bytes + in.groups_at + block / packed_group_blocks * variable_group_bytes;
  return load<std::uint64_t>(record) + load<std::uint16_t>(record + 8 + block % packed_group_blocks * 2);
}

/// Bytes of a value with this code.
template <class U>
ZENITH_FN unsigned variable_bytes(unsigned code) {
  return sizeof(U) == 4 ? code + 1 : 1U << code;
}

/// The end of a run: the index of the first value behind it.
ZENITH_FN std::uint64_t run_end(const packed_layout& in, std::uint64_t run) {
  const std::byte* ends = in.bytes + in.codes_at;
  return in.parameter == 4 ? load<std::uint32_t>(ends + run * 4) : load<std::uint64_t>(ends + run * 8);
}

/// The run in which value `index` stands.
ZENITH_FN std::uint64_t run_of(const packed_layout& in, std::uint64_t index) {
  std::uint64_t low = 0;
  std::uint64_t high = in.payload_units;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (run_end(in, middle) <= index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace packed
}  // namespace zenith

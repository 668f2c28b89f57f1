#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include <algorithms/packed_column/layout.hpp>
#include <core/untrusted_bytes.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace zenith {
namespace packed {
namespace {

void require(bool holds, const char* why) {
  if (!holds) throw error(error_code::corrupt_data, std::string("packed column: ") + why);
}

bool has_known_parameter(const packed_header& header) {
  const std::size_t width = size_of(static_cast<key_type>(header.type));
  const auto is_one_of = [&](std::initializer_list<std::uint32_t> those) {
    return std::ranges::find(those, header.parameter) != those.end();
  };
  switch (static_cast<encoding>(header.kind)) {
    case encoding::null_suppression_fixed: return is_one_of({1, 2, 4, 8}) && header.parameter <= width;
    case encoding::run_length:
      return is_one_of({4, 8}) && (header.parameter == 8 || header.count <= std::numeric_limits<std::uint32_t>::max());
    case encoding::vertical: return is_one_of({4, 8, 16});
    default: return header.parameter == 0;
  }
}

packed_layout parse_header(std::span<const std::byte> bytes) {
  const detail::untrusted_bytes from(bytes, "packed column");
  const auto header = from.header<packed_header>("ZPCK", packed_version);
  require(header.kind < static_cast<std::uint8_t>(encoding::automatic), "its encoding is not one of the known ones");
  require(header.type >= static_cast<std::uint8_t>(key_type::int32) &&
              header.type <= static_cast<std::uint8_t>(key_type::uint64),
          "its type is not an integer of 32 or 64 bits");
  require(header.count <= packed_most_items, "it has more than 2^56 values");
  require(header.zero_a == 0 && header.zero_b == 0, "reserved fields of the header are not zero");
  require(has_known_parameter(header), "its parameter does not fit its encoding");
  const auto kind = static_cast<encoding>(header.kind);
  const bool may_have_patches = kind == encoding::frame_of_reference || kind == encoding::delta;
  require(header.patches <= (may_have_patches ? header.count : 0), "it has more patches than it can have");
  const auto layout = lay_out(
      {static_cast<key_type>(header.type), kind, header.count, header.payload, header.patches, header.parameter});
  require(layout && layout->total_bytes == header.bytes, "its sizes contradict each other");
  from.require_size(header.bytes);
  require(checksum(bytes) == header.checksum, "its checksum does not match its bytes");
  auto found = *layout;
  found.bytes = bytes.data();
  return found;
}

// The words of a whole group, all of whose blocks are full: what check_blocks finds out block by block, at the speed of
// memory. `fits` is cleared when the record contradicts itself or `word`, the words before it.
template <class U>
std::uint64_t words_of_group(const std::byte* record, std::uint64_t word, bool& fits) {
  const auto start = load<std::uint64_t>(record);
  std::uint64_t sum = 0;
  if constexpr (sizeof(U) == 4) {
    fits &= (start & ((std::uint64_t{1} << start_bits) - 1)) == word;
    std::uint64_t beyond = 0;
    for (unsigned eighth = 0; eighth < 8; ++eighth) {
      // two blocks; the bits above their 48 are cut off by the masks
      const std::byte* at = record + 72 + eighth * 6;
      const auto fields = eighth < 7 ? load<std::uint64_t>(at) : load<std::uint64_t>(at - 2) >> 16;
      constexpr std::uint64_t every_other = 0x03f03f03f03fULL;
      constexpr std::uint64_t lowest = 0x041041041041ULL;
      const auto any_low = fields | fields >> 1 | fields >> 2 | fields >> 3 | fields >> 4;
      beyond |= fields >> 5 & any_low & lowest;
      const auto pairs = (fields & every_other) + (fields >> 6 & every_other);
      sum += pairs * 0x001001001001ULL >> 36 & 0xfff;
      if (eighth == 3) fits &= start >> start_bits == sum;
    }
    fits &= beyond == 0;
  } else {
    fits &= start == word;
    for (unsigned block = 0; block < packed_group_blocks; ++block) {
      fits &= load<std::uint16_t>(record + 200 + block * 2) == sum;
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        const auto width = load<std::uint8_t>(record + 136 + block * 4 + m);
        fits &= width <= 64;
        sum += width;
      }
    }
  }
  return sum;
}

// Starts and offsets are what the widths before them add up to, and widths are what a value can have.
template <class U>
void check_blocks(const packed_layout& in) {
  constexpr unsigned most = sizeof(U) * 8;
  const unsigned span_blocks =
      in.kind == encoding::vertical ? in.parameter * packed_miniblock_items / packed_block_items : 1;
  std::uint64_t word = 0;
  bool fits = true;
  std::uint64_t whole = 0;
  if (in.kind != encoding::vertical) {
    for (; whole < in.count / packed_group_items && word <= in.payload_units; ++whole) {
      word += words_of_group<U>(in.bytes + in.groups_at + whole * group_bytes<U>, word, fits);
    }
  }
  for (auto block = whole * packed_group_blocks; block < in.groups() * packed_group_blocks; ++block) {
    const auto place = place_of<U>(in, block);
    const std::uint64_t first = block / span_blocks * span_blocks;
    const std::uint64_t left = block < in.blocks() ? in.items_of(block) : 0;
    fits &= place.word == word;
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      fits &= place.width[m] <= most;
      word += place.width[m];
    }
    if (in.kind == encoding::vertical) {
      // the blocks of a span are one, and there are no others
      const auto head = place_of<U>(in, first);
      fits &= place.reference == head.reference;
      for (const auto width : place.width) fits &= width == head.width[0];
      if (first >= in.blocks()) fits &= place.width[0] == 0;
    } else {
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        fits &= m * packed_miniblock_items < left || place.width[m] == 0;
      }
    }
    fits &= first < in.blocks() || place.reference == 0;
    // bits of a record that mean nothing; of the 64-bit record there are none
    if (sizeof(U) == 4 && block % packed_group_blocks == 0) {
      const auto start = load<std::uint64_t>(in.bytes + in.groups_at + block / packed_group_blocks * group_bytes<U>);
      fits &= start >> (start_bits + 11) == 0;
    }
    if (word > in.payload_units) break;
  }
  require(fits && word == in.payload_units, "its blocks' widths do not add up to its payload");
}

// Decoders may replace a patched word, or add to it: it is 0. Behind check_blocks, which made its place sure.
template <class U>
bool is_zero(const packed_layout& in, const block_place<U>& place, unsigned position) {
  std::uint64_t word = place.word;
  for (unsigned m = 0; m < position / packed_miniblock_items; ++m) word += place.width[m];
  const unsigned width = place.width[position / packed_miniblock_items];
  const std::uint64_t bit = std::uint64_t{position % packed_miniblock_items} * width;
  return width == 0 || bits_at<U>(in.bytes + in.payload_at + word * 4, bit, width) == 0;
}

template <class U>
void check_patches(const packed_layout& in) {
  if (in.patches == 0) return;
  std::uint64_t patch = 0;
  for (std::uint64_t group = 0; group < in.groups(); ++group) {
    const std::byte* record = in.bytes + in.patch_index_at + group * patch_index_bytes;
    require(load<std::uint64_t>(record) == patch, "its patches are not in order");
    for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
      const std::uint64_t block = group * packed_group_blocks + slot;
      const unsigned items = block < in.blocks() ? in.items_of(block) : 0;
      const auto count = static_cast<unsigned>(record[8 + slot]);
      require(count <= items && count <= in.patches - patch, "a block has more patches than values");
      const auto place = place_of<U>(in, block);
      int before = -1;
      for (unsigned p = 0; p < count; ++p, ++patch) {
        const auto position = static_cast<int>(patch_position(in, patch));
        require(position > before && position < static_cast<int>(items), "a patch does not stand in its block");
        require(is_zero(in, place, static_cast<unsigned>(position)), "there are bits under a patch");
        before = position;
      }
    }
  }
  require(patch == in.patches, "its patches are not all of some block");
}

// The sum of the byte counts that 32 bytes of codes stand for.
template <class U>
unsigned code_bytes(const std::byte* codes) {
  unsigned sum = 0;
  for (unsigned i = 0; i < packed_block_items / 4; i += 8) {
    const auto word = load<std::uint64_t>(codes + i);
    constexpr std::uint64_t low = 0x5555555555555555ULL;
    const auto ones = static_cast<unsigned>(__builtin_popcountll(word & low));
    const auto twos = static_cast<unsigned>(__builtin_popcountll(word >> 1 & low));
    if constexpr (sizeof(U) == 4) {
      sum += 32 + ones + 2 * twos;
    } else {
      // 1, 2, 4, 8: one, one more for code 1, three more for code 2, seven for code 3, of which 4 were counted
      const auto both = static_cast<unsigned>(__builtin_popcountll(word & word >> 1 & low));
      sum += 32 + ones + 3 * twos + 3 * both;
    }
  }
  return sum;
}

template <class U>
void check_variable(const packed_layout& in) {
  std::uint64_t byte = 0;
  for (std::uint64_t group = 0; group < in.groups(); ++group) {
    const std::byte* record = in.bytes + in.groups_at + group * variable_group_bytes;
    const std::uint64_t start = byte;
    require(load<std::uint64_t>(record) == start, "its blocks do not follow each other");
    for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
      const std::uint64_t block = group * packed_group_blocks + slot;
      require(load<std::uint16_t>(record + 8 + slot * 2) == byte - start, "its blocks do not follow each other");
      if (block >= in.blocks()) continue;
      const std::byte* codes = in.bytes + in.codes_at + block * (packed_block_items / 4);
      const unsigned items = in.items_of(block);
      byte += code_bytes<U>(codes);
      // what stands behind the last value was counted as one byte each, and must be code 0
      if (items < packed_block_items) {
        for (unsigned i = items; i < packed_block_items; ++i) {
          require(code_of(in, block * packed_block_items + i) == 0, "there are codes behind its last value");
        }
        byte -= packed_block_items - items;
      }
    }
  }
  require(byte == in.payload_units, "its codes do not add up to its payload");
}

template <class End>
void check_runs(const packed_layout& in) {
  std::uint64_t before = 0;
  bool rises = true;
  for (std::uint64_t run = 0; run < in.payload_units; ++run) {
    const std::uint64_t end = load<End>(in.bytes + in.codes_at + run * sizeof(End));
    rises &= end > before;
    before = end;
  }
  require(rises && before == in.count, "its runs do not rise to its number of values");
}

template <class U>
void check(const packed_layout& in) {
  switch (in.kind) {
    case encoding::frame_of_reference:
    case encoding::delta:
    case encoding::vertical:
      check_blocks<U>(in);
      check_patches<U>(in);
      break;
    case encoding::null_suppression_variable: check_variable<U>(in); break;
    case encoding::run_length: in.parameter == 4 ? check_runs<std::uint32_t>(in) : check_runs<std::uint64_t>(in); break;
    default: require(in.payload_units == 0, "its sizes contradict each other"); break;
  }
}

}  // namespace
}  // namespace packed

namespace detail {

packed_layout parse_packed(std::span<const std::byte> bytes) {
  auto layout = packed::parse_header(bytes);
  size_of(layout.type) == 4 ? packed::check<std::uint32_t>(layout) : packed::check<std::uint64_t>(layout);
  layout.one_width = packed::find_one_width(layout);
  return layout;
}

packed_layout parse_packed(std::span<const std::byte> bytes, key_type type) {
  auto layout = parse_packed(bytes);
  if (layout.type != type) {
    throw error(error_code::invalid_argument, "packed_view: bytes hold a column of " +
                                                  std::string{to_string(layout.type)} + ", not of " +
                                                  std::string{to_string(type)});
  }
  return layout;
}

}  // namespace detail
}  // namespace zenith

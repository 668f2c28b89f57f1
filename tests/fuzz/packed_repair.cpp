#include <tests/fuzz/packed_repair.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include <algorithms/packed_column/layout.hpp>

namespace zenith_fuzz {
namespace {

using zenith::encoding;
using zenith::packed_layout;
using namespace zenith::packed;

constexpr std::uint64_t most_bytes = 1 << 16;

template <class Word>
void store(std::vector<std::byte>& to, std::uint64_t at, Word word) {
  std::memcpy(to.data() + at, &word, sizeof word);
}

void repair_header(zenith::packed_header& header) {
  std::memcpy(header.magic, "ZPCK", 4);
  header.version = zenith::packed_version;
  header.kind %= static_cast<std::uint8_t>(encoding::automatic);
  header.type = static_cast<std::uint8_t>(2 + header.type % 4);
  header.zero_a = 0;
  header.zero_b = 0;
  const std::uint32_t drawn = header.parameter;
  const bool narrow = header.type < static_cast<std::uint8_t>(zenith::key_type::int64);
  switch (static_cast<encoding>(header.kind)) {
    case encoding::null_suppression_fixed: header.parameter = 1U << drawn % (narrow ? 3 : 4); break;
    case encoding::run_length: header.parameter = drawn % 8 < 4 && header.count >> 32 == 0 ? 4 : 8; break;
    case encoding::vertical: header.parameter = 4U << drawn % 3; break;
    default: header.parameter = 0;
  }
}

std::optional<packed_layout> layout_of(const zenith::packed_header& header) {
  return lay_out({static_cast<zenith::key_type>(header.type), static_cast<encoding>(header.kind), header.count,
                  header.payload, header.patches, header.parameter});
}

std::optional<packed_layout> sensible_layout_of(const zenith::packed_header& header) {
  auto found = layout_of(header);
  if (found && found->total_bytes > most_bytes) found.reset();
  return found;
}

// Widths within their type, none for what has no value; starts and offsets that follow from them. The words of payload.
template <class U>
std::uint64_t repair_blocks(std::vector<std::byte>& bytes, const packed_layout& in) {
  const unsigned span_blocks = in.kind == encoding::vertical ? in.parameter / 4 : 1;
  std::uint64_t word = 0;
  for (std::uint64_t group = 0; group < in.groups(); ++group) {
    const std::uint64_t record = in.groups_at + group * group_bytes<U>;
    const std::uint64_t start = word;
    for (unsigned slot = 0; slot < zenith::packed_group_blocks; ++slot) {
      const std::uint64_t block = group * zenith::packed_group_blocks + slot;
      const std::uint64_t head = block / span_blocks * span_blocks;
      const unsigned items = head >= in.blocks()   ? 0
                             : span_blocks > 1     ? zenith::packed_block_items
                             : block < in.blocks() ? in.items_of(block)
                                                   : 0;
      auto place = place_of<U>(in, span_blocks > 1 ? head : block);
      std::uint64_t fields = 0;
      for (unsigned m = 0; m < zenith::packed_miniblocks; ++m) {
        unsigned width = std::min<unsigned>(place.width[in.kind == encoding::vertical ? 0 : m], sizeof(U) * 8);
        if (in.kind != encoding::vertical && m * zenith::packed_miniblock_items >= items) width = 0;
        if (items == 0) width = 0;
        fields |= std::uint64_t{width} << ((sizeof(U) == 4 ? 6 : 8) * m);
        place.width[m] = width;
      }
      if (head >= in.blocks()) place.reference = 0;
      if constexpr (sizeof(U) == 4) {
        store(bytes, record + 8 + slot * 4, place.reference);
        for (unsigned b = 0; b < 3; ++b) bytes[record + 72 + slot * 3 + b] = static_cast<std::byte>(fields >> (8 * b));
        if (slot == 8) store(bytes, record, start | (word - start) << start_bits);
      } else {
        store(bytes, record + 8 + slot * 8, place.reference);
        store(bytes, record + 136 + slot * 4, static_cast<std::uint32_t>(fields));
        store(bytes, record + 200 + slot * 2, static_cast<std::uint16_t>(word - start));
        if (slot == 0) store(bytes, record, start);
      }
      for (const auto width : place.width) word += width;
    }
  }
  return word;
}

// Patches that rise within their blocks; how many there are.
std::uint64_t repair_patches(std::vector<std::byte>& bytes, const packed_layout& in) {
  std::uint64_t patch = 0;
  for (std::uint64_t group = 0; group < in.groups(); ++group) {
    const std::uint64_t record = in.patch_index_at + group * patch_index_bytes;
    store(bytes, record, patch);
    for (unsigned slot = 0; slot < zenith::packed_group_blocks; ++slot) {
      const std::uint64_t block = group * zenith::packed_group_blocks + slot;
      const unsigned items = block < in.blocks() ? in.items_of(block) : 0;
      const auto wanted = std::to_integer<unsigned>(bytes[record + 8 + slot]) % 5;
      unsigned count = 0;
      int before = -1;
      while (count < wanted && patch < in.patches) {
        auto& position = bytes[in.patch_positions_at + patch];
        const int next = std::max(before + 1, std::to_integer<int>(position) % 128);
        if (next >= static_cast<int>(items)) break;
        position = static_cast<std::byte>(next);
        before = next;
        ++count;
        ++patch;
      }
      bytes[record + 8 + slot] = static_cast<std::byte>(count);
    }
  }
  return patch;
}

template <class U>
std::uint64_t repair_variable(std::vector<std::byte>& bytes, const packed_layout& in) {
  std::uint64_t byte = 0;
  for (std::uint64_t group = 0; group < in.groups(); ++group) {
    const std::uint64_t record = in.groups_at + group * variable_group_bytes;
    const std::uint64_t start = byte;
    store(bytes, record, start);
    for (unsigned slot = 0; slot < zenith::packed_group_blocks; ++slot) {
      store(bytes, record + 8 + slot * 2, static_cast<std::uint16_t>(byte - start));
      const std::uint64_t block = group * zenith::packed_group_blocks + slot;
      if (block >= in.blocks()) continue;
      const std::uint64_t first = block * zenith::packed_block_items;
      for (unsigned i = 0; i < zenith::packed_block_items; ++i) {
        if (i < in.items_of(block)) {
          byte += variable_bytes<U>(code_of(in, first + i));
        } else {
          bytes[in.codes_at + (first + i) / 4] &= ~(std::byte{3} << (2 * (i % 4)));
        }
      }
    }
  }
  return byte;
}

void repair_runs(std::vector<std::byte>& bytes, const packed_layout& in) {
  std::uint64_t before = 0;
  for (std::uint64_t run = 0; run < in.payload_units; ++run) {
    const std::uint64_t left = in.payload_units - run - 1;  // runs to come, each of one value at least
    std::uint64_t end = std::max(run_end(in, run), before + 1);
    if (left == 0 || end > in.count - left) end = in.count - left;
    before = end;
    if (in.parameter == 4) {
      store(bytes, in.codes_at + run * 4, static_cast<std::uint32_t>(end));
    } else {
      store(bytes, in.codes_at + run * 8, end);
    }
  }
}

// No bits where patches stand instead.
template <class U>
void clear_under_patches(std::vector<std::byte>& bytes, const packed_layout& in) {
  for (std::uint64_t block = 0; in.patches > 0 && block < in.blocks(); ++block) {
    const auto place = place_of<U>(in, block);
    const auto patches = patches_of(in, block);
    for (unsigned p = 0; p < patches.count; ++p) {
      const unsigned position = patch_position(in, patches.first + p);
      const unsigned mini = position / zenith::packed_miniblock_items;
      std::uint64_t bit =
          std::uint64_t{position % zenith::packed_miniblock_items} * place.width[mini] + place.word * 32;
      for (unsigned m = 0; m < mini; ++m) bit += place.width[m] * 32;
      for (unsigned i = 0; i < place.width[mini]; ++i, ++bit) {
        bytes[in.payload_at + bit / 8] &= ~(std::byte{1} << (bit % 8));
      }
    }
  }
}

// Grows or cuts the bytes to the layout, which is their own then.
void fit(std::vector<std::byte>& bytes, packed_layout& to) {
  bytes.resize(to.total_bytes);
  to.bytes = bytes.data();
}

template <class U>
void repair_structure(std::vector<std::byte>& bytes, zenith::packed_header& header) {
  auto layout = sensible_layout_of(header);
  if (!layout) return;
  fit(bytes, *layout);
  switch (layout->kind) {
    case encoding::frame_of_reference:
    case encoding::delta:
      if (layout->patches > 0) header.patches = repair_patches(bytes, *layout);
      [[fallthrough]];
    case encoding::vertical: header.payload = repair_blocks<U>(bytes, *layout); break;
    case encoding::null_suppression_variable: header.payload = repair_variable<U>(bytes, *layout); break;
    case encoding::run_length: repair_runs(bytes, *layout); break;
    default: header.payload = 0;
  }
  layout = sensible_layout_of(header);
  if (!layout) return;
  fit(bytes, *layout);
  clear_under_patches<U>(bytes, *layout);
}

// Sizes that small inputs can fill, but for what a run may say.
void limit_sizes(zenith::packed_header& header) {
  const auto kind = static_cast<encoding>(header.kind);
  header.payload %= 4096;
  if (kind == encoding::run_length) {
    header.payload = std::min(std::max<std::uint64_t>(header.payload, 1), header.count);
  } else {
    header.count %= 2600;
  }
  const bool may_have_patches = kind == encoding::frame_of_reference || kind == encoding::delta;
  header.patches = may_have_patches ? std::min(header.patches % 64, header.count) : 0;
}

}  // namespace

std::vector<std::byte> repaired(std::span<const std::byte> given, repair how) {
  std::vector<std::byte> bytes(given.begin(), given.end());
  zenith::packed_header header;
  if (how == repair::nothing || bytes.size() < sizeof header) return bytes;
  std::memcpy(&header, bytes.data(), sizeof header);
  repair_header(header);
  if (how == repair::structure) {
    limit_sizes(header);
    const bool narrow = header.type < static_cast<std::uint8_t>(zenith::key_type::int64);
    narrow ? repair_structure<std::uint32_t>(bytes, header) : repair_structure<std::uint64_t>(bytes, header);
  }
  if (auto layout = sensible_layout_of(header)) fit(bytes, *layout);
  bytes.resize((bytes.size() + 63) / 64 * 64);
  header.bytes = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = checksum(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace zenith_fuzz

#include <algorithms/packed_column/layout.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include <zenith/error.hpp>

static_assert(std::endian::native == std::endian::little,
              "packed columns are little-endian, as all of Zenith's targets");

namespace zenith {

std::string_view to_string(encoding which) noexcept {
  constexpr std::string_view names[] = {
      "plain",      "frame_of_reference", "delta",    "null_suppression_fixed", "null_suppression_variable",
      "run_length", "vertical",           "automatic"};
  const auto index = static_cast<std::size_t>(which);
  return index < std::size(names) ? names[index] : "unknown";
}

namespace packed {
namespace {

// More bytes than there can be, and a multiple of the alignment: rounding up never passes it.
constexpr std::uint64_t too_many = std::uint64_t{1} << 58;
static_assert(too_many % packed_alignment == 0);

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + packed_alignment - 1) / packed_alignment * packed_alignment;
}

// Adds sections one after another, each aligned; remembers when they grew beyond counting.
class sections {
 public:
  std::uint64_t add(std::uint64_t count, std::uint64_t size) {
    const std::uint64_t at = end_;
    if (size > 0 && count > (too_many - end_) / size) {
      overflow_ = true;
      return 0;
    }
    end_ = aligned(at + count * size);
    return at;
  }
  [[nodiscard]] bool overflow() const { return overflow_; }
  [[nodiscard]] std::uint64_t end() const { return end_ + packed_alignment; }

 private:
  std::uint64_t end_ = sizeof(packed_header);
  bool overflow_ = false;
};

// Calls visit(where it begins, count, bytes each) for every section of a column, in their order.
template <class Layout, class Visit>
void for_sections(Layout& of, const Visit& visit) {
  const std::uint64_t width = size_of(of.type);
  const std::uint64_t record = width == 4 ? sizeof(group32) : sizeof(group64);
  switch (of.kind) {
    case encoding::frame_of_reference:
    case encoding::delta:
    case encoding::vertical:
      visit(of.groups_at, of.groups(), record);
      if (of.kind == encoding::delta) visit(of.bases_at, of.blocks(), width);
      if (of.patches > 0) {
        visit(of.patch_index_at, of.groups(), patch_index_bytes);
        visit(of.patch_positions_at, of.patches, 1);
        visit(of.patch_values_at, of.patches, width);
      }
      visit(of.payload_at, of.payload_units, 4);
      break;
    case encoding::null_suppression_variable:
      visit(of.groups_at, of.groups(), variable_group_bytes);
      visit(of.codes_at, of.blocks(), packed_block_items / 4);
      visit(of.payload_at, of.payload_units, 1);
      break;
    case encoding::run_length:
      visit(of.codes_at, of.payload_units, of.parameter);
      visit(of.payload_at, of.payload_units, width);
      break;
    case encoding::null_suppression_fixed: visit(of.payload_at, of.count, of.parameter); break;
    default: visit(of.payload_at, of.count, width); break;
  }
}

}  // namespace

std::optional<packed_layout> lay_out(const dimensions& of) {
  packed_layout found;
  found.type = of.type;
  found.kind = of.kind;
  found.count = of.count;
  found.payload_units = of.payload;
  found.patches = of.patches;
  found.parameter = of.parameter;
  sections all;
  for_sections(found, [&](std::uint64_t& at, std::uint64_t count, std::uint64_t size) { at = all.add(count, size); });
  if (all.overflow()) return std::nullopt;
  found.total_bytes = all.end();
  return found;
}

namespace {

/// Where the widths of a group's miniblocks stand in its record, and how many bytes they are.
struct width_bytes {
  std::size_t at;
  std::size_t size;
};
template <class U>
inline constexpr width_bytes group_widths = sizeof(U) == 4
                                                ? width_bytes{offsetof(group32, widths), sizeof(group32::widths)}
                                                : width_bytes{offsetof(group64, width), sizeof(group64::width)};

template <class U>
std::uint8_t one_width_of(const packed_layout& of) {
  const unsigned width = place_of<U>(of, 0).width[0];
  if (of.payload_units != ((of.count - 1) / packed_miniblock_items + 1) * width) return mixed_widths;
  const auto are_as_wide = [&](std::uint64_t begin, std::uint64_t end) {
    for (auto block = begin; block < end; ++block) {
      const auto place = place_of<U>(of, block);
      for (unsigned m = 0; m * packed_miniblock_items < of.items_of(block); ++m) {
        if (place.width[m] != width) return false;
      }
    }
    return true;
  };
  const std::uint64_t whole_groups = of.count / packed_group_items;
  const auto first_group_end = std::min<std::uint64_t>(packed_group_blocks, of.blocks());
  const auto last_group_begin = std::max(first_group_end, whole_groups * packed_group_blocks);
  if (!are_as_wide(0, first_group_end) || !are_as_wide(last_group_begin, of.blocks())) return mixed_widths;
  // the groups between are compared with the first, at the speed of memory
  const auto widths_of = [&](std::uint64_t group) {
    return record_of<U>(of, group * packed_group_blocks) + group_widths<U>.at;
  };
  for (std::uint64_t group = 1; group < whole_groups; ++group) {
    if (std::memcmp(widths_of(group), widths_of(0), group_widths<U>.size) != 0) return mixed_widths;
  }
  return static_cast<std::uint8_t>(width);
}

}  // namespace

std::uint8_t find_one_width(const packed_layout& of) {
  if (of.kind != encoding::frame_of_reference || of.count == 0) return mixed_widths;
  return size_of(of.type) == 4 ? one_width_of<std::uint32_t>(of) : one_width_of<std::uint64_t>(of);
}

namespace {

std::uint32_t parameter_of(encoding kind, std::uint64_t count, std::uint32_t lanes, const group_sizes& total) {
  switch (kind) {
    case encoding::null_suppression_fixed: return static_cast<std::uint32_t>(total.fixed_bytes);
    case encoding::run_length: return count <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
    case encoding::vertical: return lanes;
    default: return 0;
  }
}

struct choice {
  dimensions of;
  std::uint64_t bytes;
};

// One encoding, with patches if they make it smaller.
choice best_of(key_type type, std::uint64_t count, encoding kind, bool patches, std::uint32_t lanes,
               const group_sizes& total) {
  choice best{{}, std::numeric_limits<std::uint64_t>::max()};
  for (const bool patched : {false, true}) {
    const auto place = place_in(total, kind, patched);
    if (patched && (!patches || place.patch == 0)) continue;
    const dimensions of{type, kind, count, place.payload, place.patch, parameter_of(kind, count, lanes, total)};
    const auto layout = lay_out(of);
    if (layout && layout->total_bytes < best.bytes) best = {of, layout->total_bytes};
  }
  if (best.bytes == std::numeric_limits<std::uint64_t>::max()) {
    throw error(error_code::out_of_memory, "pack: values has more items than 64-bit sizes can hold");
  }
  return best;
}

}  // namespace

dimensions choose(key_type type, std::uint64_t count, encoding kind, bool patches, std::uint32_t lanes,
                  const group_sizes& total) {
  if (kind != encoding::automatic) return best_of(type, count, kind, patches, lanes, total).of;
  auto best = best_of(type, count, packed_encodings[0], patches, lanes, total);
  for (const auto one : packed_encodings) {
    if (auto found = best_of(type, count, one, patches, lanes, total); found.bytes < best.bytes) best = found;
  }
  return best.of;
}

namespace {

constexpr unsigned row_lanes = 8;
constexpr std::uint64_t row_bytes = 8 * row_lanes;

}  // namespace

void add_rows(packed_digest& to, std::uint64_t first, std::uint64_t rows, const std::uint64_t (&sum)[8],
              const std::uint64_t (&weighted)[8]) {
  // each row behind these adds their sum once more
  for (unsigned i = 0; i < row_lanes; ++i) {
    to.sum[i] += sum[i];
    to.weighted[i] += weighted[i] - sum[i] * (first + rows);
  }
}

void add_bytes(packed_digest& to, const std::byte* column, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t sum[row_lanes] = {};
  std::uint64_t weighted[row_lanes] = {};
  const std::uint64_t first = begin / row_bytes;
  std::uint64_t rows = 0;
  const auto add = [&](const std::byte* row) {
    std::uint64_t word[row_lanes];
    std::memcpy(word, row, sizeof word);
    for (unsigned i = 0; i < row_lanes; ++i) {
      sum[i] += word[i];
      weighted[i] += sum[i];
    }
    ++rows;
  };
  const auto add_part = [&](std::uint64_t from, std::uint64_t to_byte) {
    std::byte row[row_bytes] = {};
    std::memcpy(row + from % row_bytes, column + from, to_byte - from);
    add(row);
  };
  std::uint64_t at = begin;
  if (at % row_bytes != 0 && at < end) {
    const std::uint64_t stop = std::min(end, aligned(at));
    add_part(at, stop);
    at = stop;
  }
  for (; end - at >= row_bytes; at += row_bytes) add(column + at);
  if (at < end) add_part(at, end);
  add_rows(to, first, rows, sum, weighted);
}

std::uint64_t checksum(std::span<const std::byte> column) {
  constexpr std::uint64_t field = offsetof(packed_header, checksum);
  packed_digest all;
  add_bytes(all, column.data(), 0, field);
  add_bytes(all, column.data(), field + 8, row_bytes);
  add_bytes(all, column.data(), row_bytes, column.size());
  return finish(all, column.size() / row_bytes);
}

packed_header header_of(const packed_layout& of) {
  packed_header header{};
  std::memcpy(header.magic, "ZPCK", 4);
  header.version = packed_version;
  header.kind = static_cast<std::uint8_t>(of.kind);
  header.type = static_cast<std::uint8_t>(of.type);
  header.count = of.count;
  header.bytes = of.total_bytes;
  header.payload = of.payload_units;
  header.patches = of.patches;
  header.parameter = of.parameter;
  return header;
}

padding padding_of(const packed_layout& of) {
  padding found;
  for_sections(of, [&](std::uint64_t at, std::uint64_t count, std::uint64_t size) {
    const std::uint64_t end = at + count * size;
    found.begin[found.count] = end;
    found.end[found.count++] = aligned(end);
  });
  found.end[found.count - 1] = of.total_bytes;
  return found;
}

void clear_padding(const packed_layout& of, std::byte* column) {
  const auto gaps = padding_of(of);
  for (unsigned i = 0; i < gaps.count; ++i) std::memset(column + gaps.begin[i], 0, gaps.end[i] - gaps.begin[i]);
}

}  // namespace packed
}  // namespace zenith

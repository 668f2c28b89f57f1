#pragma once

/// \file
/// Whole groups of frame of reference or delta, measured and written by an instruction set's unit: what packing in one
/// pass and in two have in common.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <algorithms/packed_column/encode.hpp>
#include <backends/cpu/isa/packed_table.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::cpu_backend {

[[nodiscard]] constexpr bool is_by_unit(encoding kind) {
  return kind == encoding::frame_of_reference || kind == encoding::delta;
}

/// Rows of a column's payload from word `word` on.
inline void begin_rows(packed_rows& rows, const packed_layout& to, std::byte* out, std::uint64_t word,
                       bool past_caches) {
  const std::uint64_t at = to.payload_at + word * 4;
  rows.row = out + at / packed_alignment * packed_alignment;
  rows.skipped = rows.held = static_cast<std::uint32_t>(at % packed_alignment);
  rows.past_caches = past_caches;
  rows.rows = 0;
  std::ranges::fill(rows.sum, 0);
  std::ranges::fill(rows.weighted, 0);
  std::memset(rows.buffer, 0, rows.skipped);
}

template <class U>
class unit_groups {
 public:
  unit_groups(const pack_call& call, const packed_table& isa)
      : values_(static_cast<const U*>(call.values)), type_(call.type), isa_(isa) {}

  [[nodiscard]] const U* values(std::uint64_t group) const { return values_ + group * packed_group_items; }

  /// What a group takes by `kind`; `shape` is what writing it asks for.
  [[nodiscard]] packed::group_sizes measure(std::uint64_t group, encoding kind, packed_group_shape& shape) const {
    packed::group_sizes found;
    if (kind == encoding::delta) {
      isa_.write.measure_deltas[sizeof(U) / 8](values(group), &shape);
      found.delta_words = shape.words;
      found.delta_patched_words = shape.patched_words;
      found.delta_patches = shape.patches;
    } else {
      isa_.write.measure_frames[value_index(type_)](values(group), &shape);
      found.words = shape.words;
      found.patched_words = shape.patched_words;
      found.patches = shape.patches;
    }
    return found;
  }

  void write(std::uint64_t group, const packed_layout& to, std::byte* out, const packed_group_shape& shape,
             packed_rows& rows, packed::group_place at) const {
    isa_.write.write_group[sizeof(U) / 8]({&to, out, group, values(group), &shape, &rows, at.payload, at.patch});
  }

  void finish(packed_rows& rows) const { isa_.write.finish_rows(rows); }

 private:
  const U* values_;
  key_type type_;
  const packed_table& isa_;
};

}  // namespace zenith::cpu_backend

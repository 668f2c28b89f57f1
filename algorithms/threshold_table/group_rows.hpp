#pragma once

/// \file
/// What the kernels of a walk through groups have in common: the bounds of groups as words, blocks and their rows.

#include <algorithms/threshold_table/class_threshold.hpp>
#include <algorithms/threshold_table/finish.hpp>

namespace zenith::threshold_table_family {

/// The bounds of groups as words, in lists: those of a list are read together, and it has each `lists`-th group.
struct listed_groups {
  u64* words;
  u32 groups;
  u32 lists;

  [[nodiscard]] ZENITH_FN u32 length() const { return (groups + lists - 1) / lists; }
  [[nodiscard]] ZENITH_FN u64* place_of(u32 group) const {
    return words + u64{group % lists} * length() + group / lists;
  }
};

/// What both kernels do with blocks.
template <class T>
struct group_rows {
  using score = score_of<T>;
  using entry = entry_of<T>;
  static constexpr u32 together = 256;  ///< rows, or bounds, at a time: one a lane

  rows_of<T> rows;
  bounds_of<T> of_blocks;
  listed_groups groups;
  u32 block_rows;  ///< at most
  class_threshold threshold;
  open_counters counters;

  /// A block's bound and its rows, whose loads overlap.
  struct block {
    entry bound;
    u32 first;
    u32 count;
  };
  [[nodiscard]] ZENITH_FN block block_at(u64 i) const {
    const u32 first = rows.begins[i];
    const u32 end = rows.begins[i + 1];
    return {of_blocks.bound(i), first, end - first};
  }
  /// The same of a row: its id is read with its values, though few rows need it.
  [[nodiscard]] ZENITH_FN entry row_at(u64 at) const {
    const u32 id = rows.ids[at];
    return entry::make(rows.order().image(score_at(rows.scored, at)), id);
  }
  /// Blocks whose rows are evaluated at a time.
  [[nodiscard]] ZENITH_FN u32 blocks_together() const { return block_rows < together ? together / block_rows : 1; }
};

}  // namespace zenith::threshold_table_family

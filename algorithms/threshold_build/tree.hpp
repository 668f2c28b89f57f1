#pragma once

/// \file
/// The cuts of a k-d tree over a sample of the rows.

#include <algorithms/threshold_build/rows.hpp>
#include <algorithms/threshold_build/split.hpp>
#include <core/device/list.hpp>

namespace zenith::threshold_build_family {

/// A cut of the tree. Rows of a smaller value go left; of equal ones those with a smaller number do, so that columns of
/// few values are cut too.
template <class T>
struct cell_cut {
  static constexpr u32 column_mask = most_table_columns - 1;

  ordered::bits_t<T> image;
  u32 row_and_column;  ///< the row's number without its last bits, and the column in their place

  [[nodiscard]] ZENITH_FN static cell_cut make(T value, u32 row, u32 column) {
    return {split_image(value), (row & ~column_mask) | column};
  }
  [[nodiscard]] ZENITH_FN u32 column() const { return row_and_column & column_mask; }
  [[nodiscard]] ZENITH_FN bool goes_right(T value, u32 row) const { return has_right(split_image(value), row); }
  [[nodiscard]] ZENITH_FN bool has_right(ordered::bits_t<T> own, u32 row) const {
    return own > image || (own == image && row >= (row_and_column & ~column_mask));
  }

  /// The upper bits of an image, which tell nearly all values from the cut's; the cut's column stands in the others.
  [[nodiscard]] ZENITH_FN static u32 upper_bits(ordered::bits_t<T> of) {
    return static_cast<u32>(of >> (8 * sizeof(T) - 32));
  }
  [[nodiscard]] ZENITH_FN u32 word() const { return (upper_bits(image) & ~column_mask) | column(); }
};

/// Rows of the sample: one of each of `count` equal parts of the rows, at a place that no period of the data meets.
template <class T>
struct draw_rows {
  input_columns<T> from;
  u64 rows;
  u64 count;
  row_list<T> to;
  u32* numbers;
  u32* cells;

  ZENITH_FN void operator()(u64 s) const {
    const u64 begin = s * rows / count;
    const u64 end = (s + 1) * rows / count;
    u64 mixed = (s + 1) * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ULL;
    const u64 row = begin + (mixed >> 32) % (end - begin);
    to.write(s, from, row);
    numbers[s] = static_cast<u32>(row);
    cells[s] = 0;
  }
};

/// The cuts of some levels below each cell, from at most as many of its sampled rows as a team can split.
template <class T>
struct cut_cells {
  using splitter = row_splitter<T, most_table_columns>;
  static constexpr u32 rows_at = (splitter::scratch_bytes + 15) / 16 * 16;
  static constexpr u32 kept_bytes = u32{1} << 15;
  static constexpr u32 scratch_bytes = rows_at + kept_bytes;
  static constexpr u64 item_cost = u64{1} << 17;
  static constexpr u32 samples_of_a_leaf = 8;

  row_list<T> samples;
  u32 columns;
  const u32* numbers;
  const u32* order;   ///< samples cell by cell
  const u32* begins;  ///< of the cells in the order, and the end
  u32 levels_above;
  u32 levels;
  cell_cut<T>* nodes;  ///< node n has the children 2 n and 2 n + 1; the root is 1
  double* extents;     ///< of columns; written by the cell of all rows

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 cell) const {
    const u32 begin = begins[cell];
    const u32 count = begins[cell + 1] - begin;
    const u32 rows = count < splitter::most_rows ? count : splitter::most_rows;
    if (rows == 0) return;
    const u64 step = (u64{count} << 20) / rows;
    const auto sample = [&](u32 r) ZENITH_BODY { return order[begin + static_cast<u32>((r * step) >> 20)]; };
    const bool fits = u64{rows} * samples.stride * sizeof(T) <= kept_bytes;
    using piece = typename row_list<T>::piece;
    const team_rows<T, decltype(sample)> own{samples, sample, fits ? team.template scratch<piece>(rows_at) : nullptr};
    own.fetch(team, rows);
    splitter split(team, rows, columns);
    if (levels_above == 0) split.measure(team, own, extents);
    split.compare_by(team, extents);
    split.begin(team);
    const u64 root = (u64{1} << levels_above) + cell;
    for (u32 level = 0; level < levels; ++level) {
      const u64 first = root << level;
      split.split(
          team, own, [](u32 all) ZENITH_BODY { return all / 2; },
          [&](u32 segment, u32 column, u32 row) ZENITH_BODY {
            nodes[first + segment] = cell_cut<T>::make(own(row, column), numbers[sample(row)], column);
          });
    }
  }
};

/// The cells of sampled rows, some levels further down.
template <class T>
struct route_samples {
  row_list<T> samples;
  const u32* numbers;
  const cell_cut<T>* nodes;
  u32 levels_above;
  u32 levels;
  u32* cells;

  ZENITH_FN void operator()(u64 s) const {
    u32 at = (u32{1} << levels_above) + cells[s];
    for (u32 level = 0; level < levels; ++level) {
      const auto cut = nodes[at];
      at = 2 * at + (cut.goes_right(samples.at(s, cut.column()), numbers[s]) ? 1 : 0);
    }
    cells[s] = at - (u32{1} << (levels_above + levels));
  }
};

struct number_samples {
  const u32* cells;
  u32* keys;
  u32* order;

  ZENITH_FN void operator()(u64 i) const {
    keys[i] = cells[i];
    order[i] = static_cast<u32>(i);
  }
};

template <class... T>
using tree_kernels = device::list<draw_rows<T>..., cut_cells<T>..., route_samples<T>..., number_samples>;

}  // namespace zenith::threshold_build_family

#pragma once

/// \file
/// Cells of some hundred rows that are near one another: the cuts of a k-d tree over a sample, and the rows that go
/// down them.

#include <algorithms/threshold_build/split.hpp>
#include <core/device/list.hpp>
#include <core/key_order.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_build_family {

/// Columns where kernels can read them.
template <class T>
struct input_columns {
  const T* column[most_table_columns];
  u32 columns;
};

/// Rows one behind the other, each at a multiple of 16 bytes.
template <class T>
struct row_list {
  struct alignas(16) piece {
    T values[16 / sizeof(T)];
  };
  static constexpr u32 piece_values = 16 / sizeof(T);

  T* values;
  u32 stride;  ///< values from a row to the next

  [[nodiscard]] static constexpr u32 padded(u32 columns) {
    return (columns + piece_values - 1) / piece_values * piece_values;
  }
  [[nodiscard]] ZENITH_FN T at(u64 row, u32 j) const { return values[row * stride + j]; }
  [[nodiscard]] ZENITH_FN const piece& piece_at(u64 row, u32 j) const {
    return *reinterpret_cast<const piece*>(values + row * stride + j);
  }
  ZENITH_FN void write(u64 to, const input_columns<T>& from, u64 row) const {
    for (u32 j = 0; j < from.columns; j += piece_values) {
      piece some;
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) some.values[v] = j + v < from.columns ? from.column[j + v][row] : T{};
      *reinterpret_cast<piece*>(values + to * stride + j) = some;
    }
  }
};

/// A cut of the tree. Rows of a smaller value go left; of equal ones those with a smaller number do, so that columns of
/// few values are cut too.
template <class T>
struct cell_cut {
  static constexpr u32 column_mask = most_table_columns - 1;

  ordered::bits_t<T> image;
  u32 row_and_column;  ///< the row's number without its last bits, and the column in their place

  [[nodiscard]] ZENITH_FN static cell_cut make(T value, u32 row, u32 column) {
    return {ordered::key_order<T>{}.image(value), (row & ~column_mask) | column};
  }
  [[nodiscard]] ZENITH_FN u32 column() const { return row_and_column & column_mask; }
  [[nodiscard]] ZENITH_FN bool goes_right(T value, u32 row) const {
    const auto own = ordered::key_order<T>{}.image(value);
    return own > image || (own == image && row >= (row_and_column & ~column_mask));
  }
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
  using splitter = row_splitter<T, 40960, most_table_columns>;
  static constexpr u32 scratch_bytes = splitter::scratch_bytes;
  static constexpr u64 item_cost = u64{1} << 17;
  static constexpr u32 samples_of_a_leaf = 16;

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
    const u32 most = splitter::most_rows(columns);
    const u32 rows = count < most ? count : most;
    if (rows == 0) return;
    const u64 step = (u64{count} << 20) / rows;
    const auto sample = [&](u32 r) ZENITH_BODY { return order[begin + static_cast<u32>((r * step) >> 20)]; };
    splitter rows_of(team, rows, columns);
    rows_of.code(team, levels_above == 0 ? nullptr : extents,
                 [&](u32 r, u32 j) ZENITH_BODY { return samples.piece_at(sample(r), j); });
    if (levels_above == 0) {
      team.for_each(columns, [&](u64 j) ZENITH_BODY { extents[j] = rows_of.extent(team, static_cast<u32>(j)); });
    }
    const u64 root = (u64{1} << levels_above) + cell;
    for (u32 level = 0; level < levels; ++level) {
      const u64 first = root << level;
      rows_of.split(
          team, [](u32 all) ZENITH_BODY { return all / 2; },
          [&](u32 segment, u32 column, u32 row) ZENITH_BODY {
            const u32 pivot = sample(row);
            nodes[first + segment] = cell_cut<T>::make(samples.at(pivot, column), numbers[pivot], column);
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

template <class T>
struct list_columns {
  input_columns<T> from;
  const T** to;

  ZENITH_FN void operator()(u64 j) const { to[j] = from.column[j]; }
};

/// The cells of all rows, and the rows one behind the other.
template <class T>
struct route_rows {
  static constexpr u64 item_cost = 256;

  input_columns<T> from;
  const T* const* columns;  ///< the same in memory: lanes read different ones
  const cell_cut<T>* nodes;
  u32 levels;
  row_list<T> to;
  u32* cells;
  u32* numbers;

  ZENITH_FN void operator()(u64 i) const {
    const auto row = static_cast<u32>(i);
    to.write(i, from, i);
    u32 at = 1;
    for (u32 level = 0; level < levels; ++level) {
      const auto cut = nodes[at];
      at = 2 * at + (cut.goes_right(columns[cut.column()][i], row) ? 1 : 0);
    }
    cells[i] = at - (u32{1} << levels);
    numbers[i] = row;
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

/// Where cell c begins among sorted cells; behind the last one: their end.
struct find_cells {
  const u32* sorted;
  u32 count;
  u32* to;

  ZENITH_FN void operator()(u64 c) const {
    u32 begin = 0;
    u32 end = count;
    while (begin < end) {
      const u32 middle = begin + (end - begin) / 2;
      if (sorted[middle] < c) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    to[c] = begin;
  }
};

/// How a cell's rows are shared out to teams: parts of at most so many rows, and blocks that begin with them.
struct part_sizes {
  u32 rows;        ///< of a part, a multiple of those of a block
  u32 block_rows;  ///< of a full block
};

struct count_parts {
  const u32* begins;
  part_sizes sizes;
  u32* parts;
  u32* blocks;

  ZENITH_FN void operator()(u64 c) const {
    const u32 rows = begins[c + 1] - begins[c];
    parts[c] = rows / sizes.rows + (rows % sizes.rows != 0 ? 1 : 0);
    blocks[c] = rows / sizes.block_rows + (rows % sizes.block_rows != 0 ? 1 : 0);
  }
};

/// A part's first row, and its first block.
struct table_part {
  u32 begin;
  u32 block;
};

/// Part p; behind the last one: the end.
struct find_parts {
  const u32* begins;  ///< of cells
  const u32* parts;   ///< before each cell
  const u32* blocks;
  part_sizes sizes;
  u32 cells;
  table_part* to;

  ZENITH_FN void operator()(u64 p) const {
    // the last cell that begins with this part or before it; an empty cell has the parts of the next one
    u32 begin = 0;
    u32 end = cells;
    while (begin < end) {
      const u32 middle = begin + (end - begin) / 2;
      if (parts[middle + 1] <= p) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    const u32 inside = begin == cells ? 0 : static_cast<u32>(p) - parts[begin];
    to[p] = {begins[begin] + inside * sizes.rows, blocks[begin] + inside * (sizes.rows / sizes.block_rows)};
  }
};

template <class... T>
using cell_kernels = device::list<draw_rows<T>..., cut_cells<T>..., route_samples<T>..., route_rows<T>...,
                                  list_columns<T>..., number_samples, find_cells, count_parts, find_parts>;

}  // namespace zenith::threshold_build_family

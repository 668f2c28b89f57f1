#pragma once

/// \file
/// Cells of some hundred rows that are near one another: the cuts of a k-d tree over a sample, and the rows that go
/// down them.

#include <algorithms/threshold_build/split.hpp>
#include <core/device/list.hpp>
#include <core/key_order.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_build_family {

/// Kernels have a variant for so many columns, and one for more.
inline constexpr u32 few_columns = 8;

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
  /// From an array that is known when it is compiled.
  template <u32 Count>
  ZENITH_FN void write_values(u64 to, u32 columns, const T (&from)[Count]) const {
    static_assert(Count % piece_values == 0);
    ZENITH_UNROLLED
    for (u32 j = 0; j < Count; j += piece_values) {
      if (j >= columns) continue;
      piece some;
      ZENITH_UNROLLED
      for (u32 v = 0; v < piece_values; ++v) some.values[v] = from[j + v];
      *reinterpret_cast<piece*>(values + to * stride + j) = some;
    }
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
    return has_right(ordered::key_order<T>{}.image(value), row);
  }
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

/// Rows that a team splits, kept in its scratch where they fit: they lie anywhere in the device's memory, and what a
/// team has read has left the caches when it asks again. `number(r)` is that of row r. `AlwaysFit`: they do.
template <class T, class Number, bool AlwaysFit = false>
struct team_rows {
  using piece = typename row_list<T>::piece;

  const row_list<T>& of;
  const Number& number;
  piece* kept;  ///< nullptr: they are not

  [[nodiscard]] ZENITH_FN bool are_kept() const { return AlwaysFit || kept != nullptr; }

  /// A barrier behind.
  template <class Team>
  ZENITH_FN void fetch(Team& team, u32 rows) const {
    if (!are_kept()) return;
    const u32 pieces = of.stride / row_list<T>::piece_values;
    const u32 all = rows * pieces;
    // some loads of a lane at a time
    constexpr u32 in_flight = 4;
    const u32 step = (all + in_flight - 1) / in_flight;
    team.for_each(step, [&](u64 i) ZENITH_BODY {
      piece some[in_flight];
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        const u32 known = at < all ? at : 0;
        some[f] = of.piece_at(number(known / pieces), known % pieces * row_list<T>::piece_values);
      }
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        if (at < all) kept[at] = some[f];
      }
    });
    team.barrier();
  }
  [[nodiscard]] ZENITH_FN T operator()(u32 r, u32 j) const {
    return are_kept() ? reinterpret_cast<const T*>(kept)[r * of.stride + j] : of.at(number(r), j);
  }
  [[nodiscard]] ZENITH_FN piece piece_at(u32 r, u32 j) const {
    return are_kept() ? kept[(r * of.stride + j) / row_list<T>::piece_values] : of.piece_at(number(r), j);
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
    split.begin(team, rows);
    const u64 root = (u64{1} << levels_above) + cell;
    for (u32 level = 0; level < levels; ++level) {
      const u64 first = root << level;
      split.split(
          team, extents, own, [](u32 all) ZENITH_BODY { return all / 2; },
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

template <class T>
struct list_columns {
  input_columns<T> from;
  const T** to;

  ZENITH_FN void operator()(u64 j) const { to[j] = from.column[j]; }
};

/// A tree's cuts in one word each.
template <class T>
struct shorten_cuts {
  const cell_cut<T>* nodes;
  u32* words;

  ZENITH_FN void operator()(u64 at) const { words[at] = nodes[at].word(); }
};

/// The cells of all rows, and the rows one behind the other. Item p: the rows of a part. A team has the upper levels of
/// the tree in its scratch: where each lane is at another node, a read of device memory is one a lane.
template <class T, u32 MostColumns>
struct route_rows {
  static constexpr u32 rows_of_a_part = u32{1} << 14;
  static constexpr u32 near_levels = 14;
  static constexpr u32 scratch_bytes = sizeof(u32) << near_levels;
  static constexpr u32 wanted_teams = 3;
  static constexpr u64 item_cost = u64{256} * rows_of_a_part;
  static constexpr bool is_narrow = MostColumns <= few_columns;

  input_columns<T> from;
  const T* const* columns;  ///< the same in memory: lanes read different ones
  const cell_cut<T>* nodes;
  const u32* words;  ///< of the nodes
  u32 levels;
  u64 rows;
  row_list<T> to;
  u32* cells;
  u32* numbers;

  [[nodiscard]] static u64 parts(u64 rows) { return (rows + rows_of_a_part - 1) / rows_of_a_part; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 p) const {
    auto* const near = team.template scratch<u32>();
    const u32 top = levels < near_levels ? levels : near_levels;
    if (levels > 0) team.for_each(u64{1} << top, [&](u64 at) ZENITH_BODY { near[at] = words[at]; });
    team.barrier();
    const u64 first = p * rows_of_a_part;
    const u64 count = rows - first < rows_of_a_part ? rows - first : rows_of_a_part;
    team.for_each(count, [&](u64 r) ZENITH_BODY {
      const u64 i = first + r;
      const auto row = static_cast<u32>(i);
      const row_images own(*this, i);
      u32 at = 1;
      const auto go = [&](u32 word) ZENITH_BODY {
        const auto image = own.of(*this, i, word & cell_cut<T>::column_mask);
        const u32 upper = cell_cut<T>::upper_bits(image);
        // where the bits above the column's differ, the others do not matter
        bool is_right = upper > word;
        if ((upper ^ word) <= cell_cut<T>::column_mask) is_right = nodes[at].has_right(image, row);
        at = 2 * at + (is_right ? 1 : 0);
      };
      for (u32 level = 0; level < top; ++level) go(near[at]);
      for (u32 level = top; level < levels; ++level) go(words[at]);
      cells[i] = at - (u32{1} << levels);
      numbers[i] = row;
    });
  }

 private:
  using bits = ordered::bits_t<T>;

  /// Of few columns a lane keeps the images of its row.
  struct row_images {
    static constexpr u32 kept = is_narrow ? MostColumns : 1;
    bits images[kept];

    ZENITH_FN row_images(const route_rows& of, u64 i) {
      if constexpr (is_narrow) {
        T values[kept];
        ZENITH_UNROLLED
        for (u32 j = 0; j < kept; ++j) {
          values[j] = j < of.from.columns ? of.from.column[j][i] : T{};
          images[j] = ordered::key_order<T>{}.image(values[j]);
        }
        of.to.write_values(i, of.from.columns, values);
      } else {
        of.to.write(i, of.from, i);
      }
    }
    [[nodiscard]] ZENITH_FN bits of(const route_rows& in, u64 i, u32 column) const {
      if constexpr (is_narrow) {
        // a running number would put them into memory
        bits halves[kept / 2];
        ZENITH_UNROLLED
        for (u32 j = 0; j < kept / 2; ++j) halves[j] = (column & 1) != 0 ? images[2 * j + 1] : images[2 * j];
        const bits low = (column & 2) != 0 ? halves[1] : halves[0];
        const bits high = (column & 2) != 0 ? halves[3] : halves[2];
        return (column & 4) != 0 ? high : low;
      } else {
        return ordered::key_order<T>{}.image(in.columns[column][i]);
      }
    }
  };
};

/// Of few columns, and of all others.
template <class T>
using route_short_rows = route_rows<T, few_columns>;
template <class T>
using route_long_rows = route_rows<T, most_table_columns>;

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

/// How cells are shared out to teams: a cell and the next one together where these have few rows, and parts of at most
/// so many rows of one that has more; blocks begin with them.
struct part_sizes {
  u32 rows;        ///< of a part, a multiple of those of a block
  u32 joined;      ///< of two cells together
  u32 block_rows;  ///< of a full block

  [[nodiscard]] ZENITH_FN u32 parts(u32 count) const { return count / rows + (count % rows != 0 ? 1 : 0); }
  [[nodiscard]] ZENITH_FN u32 blocks(u32 count) const { return count / block_rows + (count % block_rows != 0 ? 1 : 0); }
};

/// Cells 2 p and 2 p + 1.
struct cell_pair {
  u32 begin;
  u32 second;
  u32 end;

  [[nodiscard]] ZENITH_FN static u32 count(u32 cells) { return (cells + 1) / 2; }
  [[nodiscard]] ZENITH_FN static cell_pair at(const u32* begins, u32 cells, u32 p) {
    return {begins[2 * p], begins[2 * p + 1], begins[2 * p + 2 < cells ? 2 * p + 2 : cells]};
  }
  [[nodiscard]] ZENITH_FN bool is_joined(const part_sizes& sizes) const {
    return end - begin <= sizes.joined && second - begin <= sizes.rows && end - second <= sizes.rows;
  }
};

/// Of the cells, and of pairs of them.
struct count_parts {
  const u32* begins;
  u32 cells;
  part_sizes sizes;
  u32* parts;
  u32* blocks;

  ZENITH_FN void operator()(u64 c) const {
    blocks[c] = sizes.blocks(begins[c + 1] - begins[c]);
    if (c % 2 != 0) return;
    const auto pair = cell_pair::at(begins, cells, static_cast<u32>(c) / 2);
    const bool is_empty = pair.begin == pair.end;
    parts[c / 2] = is_empty ? 0
                   : pair.is_joined(sizes)
                       ? 1
                       : sizes.parts(pair.second - pair.begin) + sizes.parts(pair.end - pair.second);
  }
};

/// A part's first row, and its first block. Rows from `second` on are another cell's; there are none where that is the
/// part's end.
struct table_part {
  u32 begin;
  u32 second;
  u32 block;
};

/// Part p; behind the last one: the end.
struct find_parts {
  const u32* begins;  ///< of cells
  const u32* parts;   ///< before each pair of cells
  const u32* blocks;  ///< before each cell
  part_sizes sizes;
  u32 cells;
  table_part* to;

  ZENITH_FN void operator()(u64 p) const {
    // the last pair that begins with this part or before it; an empty one has the parts of the next one
    const u32 pairs = cell_pair::count(cells);
    u32 begin = 0;
    u32 end = pairs;
    while (begin < end) {
      const u32 middle = begin + (end - begin) / 2;
      if (parts[middle + 1] <= p) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (begin == pairs) {
      to[p] = {begins[cells], begins[cells], blocks[cells]};
      return;
    }
    const auto pair = cell_pair::at(begins, cells, begin);
    u32 inside = static_cast<u32>(p) - parts[begin];
    u32 cell = 2 * begin;
    if (pair.is_joined(sizes)) {
      to[p] = {pair.begin, pair.second, blocks[cell]};
      return;
    }
    const u32 of_first = sizes.parts(pair.second - pair.begin);
    if (inside >= of_first) {
      inside -= of_first;
      ++cell;
    }
    const u32 first = begins[cell] + inside * sizes.rows;
    const u32 left = begins[cell + 1] - first;
    to[p] = {first, first + (left < sizes.rows ? left : sizes.rows),
             blocks[cell] + inside * (sizes.rows / sizes.block_rows)};
  }
};

template <class... T>
using cell_kernels =
    device::list<draw_rows<T>..., cut_cells<T>..., route_samples<T>..., shorten_cuts<T>..., route_short_rows<T>...,
                 route_long_rows<T>..., list_columns<T>..., number_samples, find_cells, count_parts, find_parts>;

}  // namespace zenith::threshold_build_family

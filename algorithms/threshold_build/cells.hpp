#pragma once

/// \file
/// Cells of some hundred rows that are near one another: the cuts of a k-d tree over a sample, and the rows that go
/// down them.

#include <algorithms/threshold_build/split.hpp>
#include <core/device/list.hpp>
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
    // one multiplication of 32 bits by 32
    return *reinterpret_cast<const piece*>(reinterpret_cast<const char*>(values + j) +
                                           row * static_cast<u32>(stride * sizeof(T)));
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
      u32 from[in_flight];
      u32 column[in_flight];
      piece some[in_flight];
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) {
        const u32 at = static_cast<u32>(i) + f * step;
        const u32 known = at < all ? at : 0;
        // of few columns there are one or two
        const u32 row = AlwaysFit ? known >> (pieces - 1) : known / pieces;
        from[f] = number(row);
        column[f] = (known - row * pieces) * row_list<T>::piece_values;
      }
      ZENITH_UNROLLED
      for (u32 f = 0; f < in_flight; ++f) some[f] = of.piece_at(from[f], column[f]);
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

template <class T>
struct list_columns {
  input_columns<T> from;
  const T** to;

  ZENITH_FN void operator()(u64 j) const { to[j] = from.column[j]; }
};

/// Where the words of a tree's cuts are. Those of the upper levels stand node by node, as a team has them in its
/// scratch. Below, three levels of a subtree stand together: one sector of a GPU's memory, where each lane is at
/// another node.
struct word_order {
  static constexpr u32 most_upper = 14;
  static constexpr u32 together = 3;  ///< levels
  static constexpr u32 subtree_words = u32{1} << together;

  u32 upper;   ///< levels
  u32 stages;  ///< of subtrees

  [[nodiscard]] static word_order of(u32 levels) {
    const u32 stages = levels <= most_upper ? 0 : (levels - most_upper + together - 1) / together;
    return {levels - stages * together, stages};
  }
  [[nodiscard]] ZENITH_FN u32 size() const { return begin(stages); }
  /// Of the first subtree of a stage.
  [[nodiscard]] ZENITH_FN u32 begin(u32 stage) const {
    u32 at = u32{1} << upper;
    for (u32 s = 0; s < stage; ++s) at += subtree_words << (upper + s * together);
    return at;
  }
  /// Of node `at`, in a level of the tree.
  [[nodiscard]] ZENITH_FN u32 place(u32 at, u32 level) const {
    if (level < upper) return at;
    const u32 stage = (level - upper) / together;
    const u32 below = (level - upper) % together;
    const u32 subtree = (at >> below) - (u32{1} << (level - below));
    return begin(stage) + subtree * subtree_words + (u32{1} << below) + (at & ((u32{1} << below) - 1));
  }
};

/// A tree's cuts in one word each.
template <class T>
struct shorten_cuts {
  const cell_cut<T>* nodes;
  word_order order;
  u32* words;

  ZENITH_FN void operator()(u64 i) const {
    const auto at = static_cast<u32>(i);
    if (at == 0) return;
    u32 level = 0;
    while (at >> level > 1) ++level;
    words[order.place(at, level)] = nodes[at].word();
  }
};

/// The cells of all rows, and the rows one behind the other. Item p: the rows of a part. A team has the upper levels of
/// the tree in its scratch: where each lane is at another node, a read of device memory is one a lane.
template <class T, u32 MostColumns>
struct route_rows {
  static constexpr u32 rows_of_a_part = u32{1} << 14;
  static constexpr u32 scratch_bytes = sizeof(u32) << word_order::most_upper;
  static constexpr u32 wanted_teams = 3;
  static constexpr u64 item_cost = u64{256} * rows_of_a_part;
  static constexpr bool is_narrow = MostColumns <= few_columns;

  input_columns<T> from;
  const T* const* columns;  ///< the same in memory: lanes read different ones
  const cell_cut<T>* nodes;
  const u32* words;  ///< of the nodes
  word_order order;  ///< of the words
  u32 levels;
  u64 rows;
  row_list<T> to;
  u32* cells;
  u32* numbers;

  [[nodiscard]] static u64 parts(u64 rows) { return (rows + rows_of_a_part - 1) / rows_of_a_part; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 p) const {
    auto* const near = team.template scratch<u32>();
    if (levels > 0) team.for_each(u64{1} << order.upper, [&](u64 at) ZENITH_BODY { near[at] = words[at]; });
    team.barrier();
    const u64 first = p * rows_of_a_part;
    const u64 count = rows - first < rows_of_a_part ? rows - first : rows_of_a_part;
    // some rows of a lane at a time, whose loads overlap; there are not always so many, and then one goes twice
    constexpr u32 at_once = sizeof(T) <= 4 ? 2 : 1;
    const u64 step = (count + at_once - 1) / at_once;
    team.for_each(step, [&](u64 r) ZENITH_BODY {
      walking_row some[at_once];
      ZENITH_UNROLLED
      for (u32 f = 0; f < at_once; ++f) some[f].own.read(*this, first + (r + f * step < count ? r + f * step : r));
      ZENITH_UNROLLED
      for (u32 f = 0; f < at_once; ++f) some[f].own.write(*this);
      for (u32 level = 0; level < order.upper; ++level) {
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) some[f].go(*this, near[some[f].at]);
      }
      u32 begin = u32{1} << order.upper;
      for (u32 level = order.upper; level < levels; level += word_order::together) {
        subtree_words below[at_once];
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) {
          below[f] = reinterpret_cast<const subtree_words*>(words + begin)[some[f].at - (u32{1} << level)];
        }
        ZENITH_UNROLLED
        for (u32 f = 0; f < at_once; ++f) some[f].go_down(*this, below[f]);
        begin += word_order::subtree_words << level;
      }
      ZENITH_UNROLLED
      for (u32 f = 0; f < at_once; ++f) {
        cells[some[f].own.row] = some[f].at - (u32{1} << levels);
        numbers[some[f].own.row] = static_cast<u32>(some[f].own.row);
      }
    });
  }

 private:
  using bits = ordered::bits_t<T>;

  struct alignas(16) four_words {
    u32 of[4];
  };
  struct subtree_words {
    four_words first;
    four_words last;
  };
  static_assert(sizeof(subtree_words) == word_order::subtree_words * sizeof(u32));

  /// Of few columns a lane keeps the images of its row.
  struct kept_row {
    static constexpr u32 kept = is_narrow ? MostColumns : 1;
    u64 row;
    T values[kept];
    bits images[kept];

    ZENITH_FN void read(const route_rows& in, u64 of) {
      row = of;
      if constexpr (is_narrow) {
        if (in.from.columns == kept) {
          ZENITH_UNROLLED
          for (u32 j = 0; j < kept; ++j) values[j] = in.from.column[j][row];
        } else {
          ZENITH_UNROLLED
          for (u32 j = 0; j < kept; ++j) values[j] = j < in.from.columns ? in.from.column[j][row] : T{};
        }
      }
    }
    ZENITH_FN void write(const route_rows& in) {
      if constexpr (is_narrow) {
        in.to.write_values(row, in.from.columns, values);
        ZENITH_UNROLLED
        for (u32 j = 0; j < kept; ++j) images[j] = split_image(values[j]);
      } else {
        in.to.write(row, in.from, row);
      }
    }
    [[nodiscard]] ZENITH_FN bits image(const route_rows& in, u32 column) const {
      if constexpr (is_narrow) {
        // a running number would put them into memory
        bits halves[kept / 2];
        ZENITH_UNROLLED
        for (u32 j = 0; j < kept / 2; ++j) {
          const bits even = images[2 * j];
          const bits odd = images[2 * j + 1];
          halves[j] = (column & 1) != 0 ? odd : even;
        }
        const bits low = (column & 2) != 0 ? halves[1] : halves[0];
        const bits high = (column & 2) != 0 ? halves[3] : halves[2];
        return (column & 4) != 0 ? high : low;
      } else {
        return split_image(in.columns[column][row]);
      }
    }
  };

  /// A row and the node that it is at.
  struct walking_row {
    kept_row own;
    u32 at = 1;

    ZENITH_FN void go(const route_rows& in, u32 word) {
      const auto image = own.image(in, word & cell_cut<T>::column_mask);
      const u32 upper = cell_cut<T>::upper_bits(image);
      // where the bits above the column's differ, the others do not matter
      bool is_right = upper > word;
      if ((upper ^ word) <= cell_cut<T>::column_mask)
        is_right = in.nodes[at].has_right(image, static_cast<u32>(own.row));
      at = 2 * at + (is_right ? 1 : 0);
    }
    ZENITH_FN void go_down(const route_rows& in, const subtree_words& words) {
      const four_words first = words.first;
      const four_words last = words.last;
      go(in, first.of[1]);
      go(in, (at & 1) != 0 ? first.of[3] : first.of[2]);
      const u32 low = (at & 1) != 0 ? last.of[1] : last.of[0];
      const u32 high = (at & 1) != 0 ? last.of[3] : last.of[2];
      go(in, (at & 2) != 0 ? high : low);
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

/// Cells as parts of at most so many rows, each a team's; blocks begin with them.
struct part_sizes {
  u32 rows;        ///< of a part, a multiple of those of a block
  u32 block_rows;  ///< of a full block

  [[nodiscard]] ZENITH_FN u32 parts(u32 count) const { return count / rows + (count % rows != 0 ? 1 : 0); }
  [[nodiscard]] ZENITH_FN u32 blocks(u32 count) const { return count / block_rows + (count % block_rows != 0 ? 1 : 0); }
};

/// Of cell c.
struct count_parts {
  const u32* begins;
  part_sizes sizes;
  u32* parts;
  u32* blocks;

  ZENITH_FN void operator()(u64 c) const {
    const u32 count = begins[c + 1] - begins[c];
    parts[c] = sizes.parts(count);
    blocks[c] = sizes.blocks(count);
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
  const u32* blocks;  ///< before each cell
  part_sizes sizes;
  u32 cells;
  table_part* to;

  ZENITH_FN void operator()(u64 p) const {
    // the last cell that begins with this part or before it; an empty one has the parts of the next one
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
    // behind the last one are as many
    const u32 inside = static_cast<u32>(p) - parts[begin];
    to[p] = {begins[begin] + inside * sizes.rows, blocks[begin] + inside * (sizes.rows / sizes.block_rows)};
  }
};

template <class... T>
using cell_kernels =
    device::list<draw_rows<T>..., cut_cells<T>..., route_samples<T>..., shorten_cuts<T>..., route_short_rows<T>...,
                 route_long_rows<T>..., list_columns<T>..., number_samples, find_cells, count_parts, find_parts>;

}  // namespace zenith::threshold_build_family

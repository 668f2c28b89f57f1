#pragma once

/// \file
/// Parts of cells as blocks of a table: each is split by one team, and written with its extremes.

#include <limits>

#include <algorithms/threshold_build/parts.hpp>
#include <algorithms/threshold_build/rows.hpp>
#include <algorithms/threshold_build/split.hpp>
#include <core/device/atomics.hpp>

namespace zenith::threshold_build_family {

/// The table that is written.
struct table_memory {
  unsigned char* bytes;
  threshold_layout of;

  template <class X>
  [[nodiscard]] ZENITH_FN X* part(u64 offset) const {
    return reinterpret_cast<X*>(bytes + offset);
  }
  template <class T>
  [[nodiscard]] ZENITH_FN T* column(u64 j) const {
    return part<T>(of.values) + j * of.row_stride;
  }
  template <class T>
  [[nodiscard]] ZENITH_FN T* maxima(const extremes_layout& at, u64 j) const {
    return part<T>(at.maxima) + j * at.stride;
  }
  template <class T>
  [[nodiscard]] ZENITH_FN T* minima(const extremes_layout& at, u64 j) const {
    return part<T>(at.minima) + j * at.stride;
  }
};

/// The largest and the smallest number of some values; NaN do not count.
template <class T>
struct value_range {
  using limits = std::numeric_limits<T>;
  static constexpr T lowest = limits::has_infinity ? -limits::infinity() : limits::lowest();
  static constexpr T highest = limits::has_infinity ? limits::infinity() : limits::max();

  T most = lowest;
  T least = highest;

  ZENITH_FN void add(T high, T low) {
    most = device::greater_number(high, most);
    least = device::lesser_number(low, least);
  }
};

/// Part p: blocks that are full but for the last one.
template <class T, u32 MostColumns>
struct cluster_part {
  using splitter = row_splitter<T, MostColumns>;
  using piece = typename row_list<T>::piece;
  static constexpr u32 rows_at = (splitter::scratch_bytes + 15) / 16 * 16;
  static constexpr u32 kept_bytes = most_split_rows * MostColumns * sizeof(T);
  static constexpr bool keeps_rows = MostColumns <= few_columns && sizeof(T) <= 4;
  static constexpr u32 scratch_bytes = keeps_rows ? rows_at + kept_bytes : rows_at;
  static constexpr u64 item_cost = u64{1} << 17;
  static constexpr u32 wanted_teams = keeps_rows ? 5 : 4;
  // the first levels have fewer segments than a whole team has warps, and those wait
  static constexpr u32 team_lanes = 128;

  row_list<T> rows;
  u32 columns;
  const u32* order;  ///< rows cell by cell
  const table_part* parts;
  u32 block_rows;
  const double* extents;  ///< of columns; nullptr: those of the part, which has all rows
  table_memory to;
  T* column[MostColumns];  ///< of the table: constants of a kernel are operands of its instructions
  u32* positions;          ///< nullptr: they are written afterwards

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 p) const {
    const table_part part = parts[p];
    const u32 count = parts[p + 1].begin - part.begin;
    const u32 blocks = parts[p + 1].block - part.block;
    const u32* const numbers = order + part.begin;
    const auto number = [&](u32 r) ZENITH_BODY { return numbers[r]; };
    const team_rows<T, decltype(number), keeps_rows> own{rows, number,
                                                         keeps_rows ? team.template scratch<piece>(rows_at) : nullptr};
    own.fetch(team, count);
    splitter split(team, count, columns);
    if (extents != nullptr) {
      split.compare_by(team, extents);
    } else {
      auto* const measured = team.template scratch<double>();  // where keys are later
      split.measure(team, own, measured);
      split.compare_by(team, measured);
    }
    split.begin(team);
    const u32 inverse = inverse_of(block_rows);
    const auto half = [&](u32 all) ZENITH_BODY { return divided(all + block_rows - 1, inverse) / 2 * block_rows; };
    // the last levels of very small blocks are left to the order of the rows
    for (u32 level = 0; level < splitter::most_levels && (u32{1} << level) < blocks; ++level) {
      split.split(
          team, own, [&](u32 all) ZENITH_BODY { return all <= block_rows ? all : half(all); }, nullptr);
    }
    auto* const begins = to.part<u32>(to.of.begins);
    auto* const nans = to.part<u64>(to.of.of_blocks.nans);
    team.for_each(blocks, [&](u64 b) ZENITH_BODY {
      const u32 first = static_cast<u32>(b) * block_rows;
      begins[part.block + b] = part.begin + first;
      nans[part.block + b] = 0;
      // rows of a block are in their order
      to.part<u32>(to.of.of_blocks.first_ids)[part.block + b] = numbers[split.row_at(first)];
    });
    team.once([&]() ZENITH_BODY {
      // the part behind writes the same
      if (part.block + blocks == to.of.of_blocks.count) begins[to.of.of_blocks.count] = part.begin + count;
    });
    team.barrier();
    const u32 lists = column_lists<MostColumns>(columns);
    team.each_reduced(u64{blocks} * lists, [&](u64 i) ZENITH_BODY {
      const u32 b = static_cast<u32>(i) / lists;
      const u32 first = b * block_rows;
      const u32 left = count - first;
      return block_list<team_rows<T, decltype(number), keeps_rows>>{left < block_rows ? left : block_rows,
                                                                    static_cast<u32>(i) % lists * columns_at_once,
                                                                    part.begin,
                                                                    first,
                                                                    part.block + b,
                                                                    this,
                                                                    &own,
                                                                    &split};
    });
  }

 private:
  /// Numbers below twice `most_split_rows` are divided by one up to it: multiplied, the quotient is exact.
  static constexpr u32 quotient_bits = 21;
  static_assert(u64{2 * most_split_rows} * most_split_rows <= u64{1} << quotient_bits);

  [[nodiscard]] ZENITH_FN static u32 inverse_of(u32 by) { return (u32{1} << quotient_bits) / by + 1; }
  [[nodiscard]] ZENITH_FN static u32 divided(u32 number, u32 inverse) { return number * inverse >> quotient_bits; }

  /// Rows of a block, some columns of which are written, and their extremes.
  template <class Rows>
  struct block_list {
    using value_type = value_range<T>;
    static constexpr u32 value_count = columns_at_once;
    static constexpr u32 at_once = 2;

    struct row {
      u32 number;
      row_columns<T, Rows> own;
    };

    u32 count;
    u32 column;  ///< the first one
    u32 part;    ///< where the part begins in the table
    u32 first;   ///< row of the part
    u32 block;
    const cluster_part* in;
    const Rows* rows;
    const splitter* split;

    [[nodiscard]] ZENITH_FN static value_type none() { return {}; }
    [[nodiscard]] ZENITH_FN static value_type join(value_type a, const value_type& b) {
      a.add(b.most, b.least);
      return a;
    }
    [[nodiscard]] ZENITH_FN row load(u32 i) const {
      const u32 place = split->row_at(first + i);
      row one{};
      one.number = in->order[part + place];
      one.own.read(*rows, place, column, in->columns);
      return one;
    }
    ZENITH_FN void take(u32 i, const row& one, value_type (&values)[value_count]) const {
      const auto& table = in->to;
      const u32 place = part + first + i;
      if (column == 0) {
        table.template part<u32>(table.of.ids)[place] = one.number;
        if (in->positions != nullptr) in->positions[one.number] = place;
      }
      bool has_nan = false;
      ZENITH_UNROLLED
      for (u32 v = 0; v < columns_at_once; ++v) {
        const T value = one.own.value(v);
        if (column + v < in->columns) in->column[column + v][place] = value;
        values[v].add(value, value);
        has_nan = has_nan || !(value == value);
      }
      if (has_nan) list_nans(one);
    }
    ZENITH_FN void put(u32 v, const value_type& found) const {
      const u32 j = column + v;
      if (j >= in->columns) return;
      const auto& table = in->to;
      table.template maxima<T>(table.of.of_blocks, j)[block] = found.most;
      table.template minima<T>(table.of.of_blocks, j)[block] = found.least;
    }

   private:
    ZENITH_FN void list_nans(const row& one) const {
      u64 nans = 0;
      ZENITH_UNROLLED
      for (u32 v = 0; v < columns_at_once; ++v) {
        const T value = one.own.value(v);
        if (column + v < in->columns && !(value == value)) nans |= u64{1} << (column + v);
      }
      if (nans != 0) (void)device::atomic_or(in->to.template part<u64>(in->to.of.of_blocks.nans) + block, nans);
    }
  };
};

/// Rows with their positions, to be sorted by windows of rows: a position that is written by itself takes as long as
/// some that follow each other.
struct list_positions {
  const u32* ids;
  u32* rows;
  u32* positions;

  ZENITH_FN void operator()(u64 i) const {
    rows[i] = ids[i];
    positions[i] = static_cast<u32>(i);
  }
};

/// Window w, whose rows stand in its place in any order.
struct put_positions {
  static constexpr u32 window_bits = 13;
  static constexpr u32 window_rows = u32{1} << window_bits;
  static constexpr u32 scratch_bytes = window_rows * sizeof(u32);
  static constexpr u32 wanted_teams = 6;
  static constexpr u64 item_cost = u64{1} << 16;

  const u32* rows;
  const u32* listed;  ///< positions of these rows
  u64 count;
  u32* positions;

  [[nodiscard]] static u64 windows(u64 rows) { return (rows + window_rows - 1) / window_rows; }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 w) const {
    auto* const found = team.template scratch<u32>();
    const u64 first = w * window_rows;
    const u64 here = count - first < window_rows ? count - first : window_rows;
    team.for_each(here, [&](u64 i) ZENITH_BODY { found[rows[first + i] % window_rows] = listed[first + i]; });
    team.barrier();
    team.for_each(here, [&](u64 i) ZENITH_BODY { positions[first + i] = found[i]; });
  }
};

/// Extremes of groups, partitions and of what is behind the blocks in their partition: partitions are the groups. Item
/// g: a group, whose blocks a team has in its scratch.
template <class T>
struct sum_up_group {
  static constexpr u32 columns_at_once = 16;
  static constexpr u32 most_values = columns_at_once * group_blocks;
  static constexpr u32 scratch_bytes = 2 * most_values * sizeof(T);
  static constexpr u64 item_cost = u64{1} << 14;

  table_memory to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 g) const {
    for (u32 first = 0; first < to.of.columns; first += columns_at_once) {
      const u32 left = to.of.columns - first;
      sum_up(team, g, first, left < columns_at_once ? left : columns_at_once);
      team.barrier();
    }
  }

 private:
  template <class Team>
  ZENITH_FN void sum_up(Team& team, u64 g, u32 first, u32 columns) const {
    const u64 begin = g * group_blocks;
    const u64 all = to.of.of_blocks.count - begin;
    const u32 blocks = static_cast<u32>(all < group_blocks ? all : group_blocks);
    T* const most = team.template scratch<T>();
    T* const least = most + most_values;
    // lanes that are neighbours read neighbours
    team.for_each(columns * blocks, [&](u64 i) ZENITH_BODY {
      const u32 j = static_cast<u32>(i) / blocks;
      const u32 b = static_cast<u32>(i) % blocks;
      most[j * group_blocks + b] = to.maxima<T>(to.of.of_blocks, first + j)[begin + b];
      least[j * group_blocks + b] = to.minima<T>(to.of.of_blocks, first + j)[begin + b];
    });
    team.barrier();
    team.for_each(2 * columns, [&](u64 i) ZENITH_BODY {
      const u64 j = first + i / 2;
      value_range<T> behind;
      if (i % 2 == 0) {
        T* const own = most + i / 2 * group_blocks;
        replace_by_behind(
            own, blocks, [&](T one) ZENITH_BODY { behind.add(one, value_range<T>::highest); }, behind.most);
        to.maxima<T>(to.of.of_groups, j)[g] = to.maxima<T>(to.of.of_partitions, j)[g] = behind.most;
      } else {
        T* const own = least + i / 2 * group_blocks;
        replace_by_behind(
            own, blocks, [&](T one) ZENITH_BODY { behind.add(value_range<T>::lowest, one); }, behind.least);
        to.minima<T>(to.of.of_groups, j)[g] = to.minima<T>(to.of.of_partitions, j)[g] = behind.least;
      }
    });
    team.barrier();
    team.for_each(columns * blocks, [&](u64 i) ZENITH_BODY {
      const u32 j = static_cast<u32>(i) / blocks;
      const u32 b = static_cast<u32>(i) % blocks;
      to.maxima<T>(to.of.behind_blocks, first + j)[begin + b] = most[j * group_blocks + b];
      to.minima<T>(to.of.behind_blocks, first + j)[begin + b] = least[j * group_blocks + b];
    });
  }
  /// Makes each value what `add` has made of those behind it, which is `known`.
  template <class Add>
  ZENITH_FN static void replace_by_behind(T* values, u32 count, const Add& add, const T& known) {
    constexpr u32 at_once = 8;  // whose loads overlap
    for (u32 end = count; end > 0;) {
      const u32 some = end < at_once ? end : at_once;
      T own[at_once];
      ZENITH_UNROLLED
      for (u32 f = 0; f < at_once; ++f) own[f] = values[f < some ? end - 1 - f : 0];
      ZENITH_UNROLLED
      for (u32 f = 0; f < at_once; ++f) {
        if (f >= some) continue;
        values[end - 1 - f] = known;
        add(own[f]);
      }
      end -= some;
    }
  }
};

/// Which columns have a NaN, lowest ids, and where partition g begins; item `groups`: the end.
struct sum_up_words {
  static constexpr u64 item_cost = 1024;

  table_memory to;

  ZENITH_FN void operator()(u64 g) const {
    const u64 blocks = to.of.of_blocks.count;
    const u64 begin = g * group_blocks < blocks ? g * group_blocks : blocks;
    to.part<u32>(to.of.partition_begins)[g] = static_cast<u32>(begin);
    if (begin == blocks) return;
    const u64 end = begin + group_blocks < blocks ? begin + group_blocks : blocks;
    u64 nans = 0;
    u32 lowest = ~u32{0};
    for (u64 b = end; b-- > begin;) {
      to.part<u64>(to.of.behind_blocks.nans)[b] = nans;
      to.part<u32>(to.of.behind_blocks.first_ids)[b] = lowest;
      nans |= to.part<u64>(to.of.of_blocks.nans)[b];
      const u32 id = to.part<u32>(to.of.of_blocks.first_ids)[b];
      lowest = id < lowest ? id : lowest;
    }
    for (const auto* at : {&to.of.of_groups, &to.of.of_partitions}) {
      to.part<u64>(at->nans)[g] = nans;
      to.part<u32>(at->first_ids)[g] = lowest;
    }
  }
};

/// Zeros behind part i of the table, up to the next line.
struct clear_ends {
  static constexpr u64 others = 4;
  static constexpr u64 line = 64;

  table_memory to;
  u64 size;  ///< of a value

  [[nodiscard]] static u64 parts(u64 columns) { return columns + others + 4 * (2 * columns + 2); }

  ZENITH_FN void operator()(u64 i) const {
    const auto& of = to.of;
    const u64 columns = of.columns;
    if (i < columns) return clear(of.values + i * of.row_stride * size, of.rows * size);
    i -= columns;
    if (i == 0) return clear(of.ids, of.rows * sizeof(u32));
    if (i == 1) return clear(of.positions, of.id_limit * sizeof(u32));
    if (i == 2) return clear(of.begins, (of.of_blocks.count + 1) * sizeof(u32));
    if (i == 3) return clear(of.partition_begins, (of.partitions + 1) * sizeof(u32));
    i -= others;
    const u64 which = i / (2 * columns + 2);
    const auto& at = which == 0   ? of.of_blocks
                     : which == 1 ? of.of_groups
                     : which == 2 ? of.of_partitions
                                  : of.behind_blocks;
    const u64 j = i % (2 * columns + 2);
    if (j < columns) return clear(at.maxima + j * at.stride * size, at.count * size);
    if (j < 2 * columns) return clear(at.minima + (j - columns) * at.stride * size, at.count * size);
    if (j == 2 * columns) return clear(at.nans, at.count * sizeof(u64));
    clear(at.first_ids, at.count * sizeof(u32));
  }

 private:
  ZENITH_FN void clear(u64 at, u64 used) const {
    for (u64 byte = used; byte % line != 0; ++byte) to.bytes[at + byte] = 0;
  }
};

/// What the cost model looks at (build_memory), column by column.
template <class T>
struct write_sample {
  table_memory from;
  u64 rows;
  u64 blocks;
  T* values;
  T* maxima;
  T* minima;

  ZENITH_FN void operator()(u64 i) const {
    const u64 j = i / rows;
    const u64 s = i % rows;
    values[i] = from.column<T>(j)[s * from.of.rows / rows];
    if (s >= blocks) return;
    const u64 b = s * from.of.of_blocks.count / blocks;
    maxima[j * blocks + s] = from.maxima<T>(from.of.of_blocks, j)[b];
    minima[j * blocks + s] = from.minima<T>(from.of.of_blocks, j)[b];
  }
};

/// The first rows of blocks of the same sample, column by column; where a block has fewer, its first one.
template <class T>
struct write_sampled_blocks {
  table_memory from;
  u64 blocks;
  u64 rows;  ///< places of a block
  T* values;
  u32* counts;

  ZENITH_FN void operator()(u64 i) const {
    const u64 s = i / rows % blocks;
    const u64 k = i % rows;
    const u64 b = s * from.of.of_blocks.count / blocks;
    const u32* const begins = from.part<u32>(from.of.begins) + b;
    const u32 count = begins[1] - begins[0];
    values[i] = from.column<T>(i / rows / blocks)[begins[0] + (k < count ? k : 0)];
    if (i < blocks * rows && k == 0) counts[s] = count < rows ? count : static_cast<u32>(rows);
  }
};

/// Of tables of few columns, so that a multiprocessor holds many teams, and of all others.
template <class T>
using cluster_few_columns = cluster_part<T, few_columns>;
template <class T>
using cluster_columns = cluster_part<T, most_table_columns>;

template <class... T>
using cluster_kernels =
    device::list<cluster_few_columns<T>..., cluster_columns<T>..., sum_up_group<T>..., write_sample<T>...,
                 write_sampled_blocks<T>..., sum_up_words, clear_ends, list_positions, put_positions>;

}  // namespace zenith::threshold_build_family

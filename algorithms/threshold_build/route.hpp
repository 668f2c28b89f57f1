#pragma once

/// \file
/// How all rows go down the tree to their cells.

#include <algorithms/threshold_build/tree.hpp>

namespace zenith::threshold_build_family {

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
    ZENITH_FN void go_down(const route_rows& in, const subtree_words& subtree) {
      const four_words first = subtree.first;
      const four_words last = subtree.last;
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

template <class... T>
using route_kernels =
    device::list<shorten_cuts<T>..., route_short_rows<T>..., route_long_rows<T>..., list_columns<T>...>;

}  // namespace zenith::threshold_build_family

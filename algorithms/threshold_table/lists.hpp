#pragma once

/// \file
/// Fagin's Threshold Algorithm (TA) over sorted lists: rows are taken from the lists of all weighted columns by falling
/// product, down to the same rank, and each is evaluated when it is first seen. A row that no list has shown is not
/// better than the score of the values that the lists show next.
///
/// Ranks are taken some at a time, so that there is work for a device. Which of the lists is the first to show a row
/// follows from its values: a list is sorted by value and position, so a row stands before a rank of it exactly if its
/// value and position are before those at the rank. So nothing is remembered of the rows that were seen.

#include <algorithms/threshold_table/open.hpp>

namespace zenith::threshold_table_family {

/// For each weighted column the positions by rising value.
template <class T>
struct sorted_lists {
  columns_of<T> scored;  ///< by position
  const u32* order[most_table_columns];

  [[nodiscard]] ZENITH_FN bool falls(unsigned j) const { return scored.weight[j] > 0; }
  /// The position of the row at a rank of list j; ranks begin with the largest product.
  [[nodiscard]] ZENITH_FN u32 at(unsigned j, u64 rank) const {
    return order[j][falls(j) ? scored.count - 1 - rank : rank];
  }
  /// Whether a row stands before the rank of list j.
  [[nodiscard]] ZENITH_FN bool is_before(unsigned j, u32 position, u64 rank) const {
    if (rank >= scored.count) return true;
    const ordered::key_order<T> values{};
    const u32 other = at(j, rank);
    const auto mine = values.image(scored.column[j][position]);
    const auto its = values.image(scored.column[j][other]);
    if (mine != its) return (mine > its) == falls(j);
    return position != other && (position > other) == falls(j);
  }
};

/// What sorts a column's positions.
template <class T>
struct list_values {
  const T* column;
  ordered::bits_t<T>* images;
  u32* order;

  ZENITH_FN void operator()(u64 i) const {
    images[i] = ordered::key_order<T>{}.image(column[i]);
    order[i] = static_cast<u32>(i);
  }
};

/// Ranks begin … end - 1 of every list: rows that no list showed before are evaluated.
template <class T>
struct open_ranks {
  static constexpr u64 item_cost = 256;

  rows_of<T> rows;
  sorted_lists<T> lists;
  u64 begin;
  u64 end;
  const entry_of<T>* least;
  kept_rows<T> kept;
  open_counters counters;

  ZENITH_FN void operator()(u64 i) const {
    const auto mine = static_cast<unsigned>(i % lists.scored.columns);
    const u32 position = lists.at(mine, begin + i / lists.scored.columns);
    for (unsigned j = 0; j < lists.scored.columns; ++j) {
      if (j == mine) continue;
      // in an earlier round, or in this one by a list that counts before mine
      if (lists.is_before(j, position, j < mine ? end : begin)) return;
    }
    counters.rows.add(1);
    const auto entry = rows.entry(position, device::key_at(rows.scored, position));
    if (!better(*least, entry)) kept.append(entry);
  }
};

/// Whether no row that stands at a rank or behind it in all lists can be among the k best. One item.
template <class T>
struct find_end {
  sorted_lists<T> lists;
  u64 rank;
  T* shown;             ///< the lists' values at the rank, and
  T* last;              ///< at their ends
  u64* nans;            ///< whether a column has a NaN
  u32* first_id;        ///< of all rows: 0
  bounds_of<T> unseen;  ///< made of these
  const entry_of<T>* least;
  u32* is_end;

  ZENITH_FN void operator()(u64 /*one*/) const {
    *nans = 0;
    *first_id = 0;
    for (unsigned j = 0; j < lists.scored.columns; ++j) {
      const T* const column = lists.scored.column[j];
      shown[j] = column[lists.at(j, rank)];
      last[j] = column[lists.at(j, lists.scored.count - 1)];
      const T lowest = column[lists.order[j][0]];  // NaN are the lowest
      if (!(lowest == lowest)) *nans = 1;
    }
    *is_end = better(*least, unseen.bound(0)) ? 1 : 0;
  }
};

}  // namespace zenith::threshold_table_family

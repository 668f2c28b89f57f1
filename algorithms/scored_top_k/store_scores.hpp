#pragma once

/// \file
/// Kernels that write scores to memory.

#include <core/device/function.hpp>
#include <core/device/pack.hpp>
#include <core/device/source.hpp>

namespace zenith::scored_top_k_family {

using device::u64;

/// Item i's score, to memory.
template <class Source>
struct store_scores {
  static constexpr u64 item_cost = Source::streams * sizeof(typename Source::key);

  Source source;
  typename Source::key* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = device::key_at(source, i); }
};

/// The scores of rows i, i + items, i + 2 items and so on, to memory: a GPU's lane waits for all their values of a
/// column at once, where the sum of one row would wait for one value after the other. Neighbouring lanes read
/// neighbouring rows.
template <class Source>
struct store_scores_of_rows {
  using key = typename Source::key;
  static constexpr unsigned rows = 4;
  static constexpr u64 item_cost = rows * store_scores<Source>::item_cost;

  Source source;
  key* to;
  u64 items;

  static store_scores_of_rows of(const Source& source, key* to) {
    return {source, to, (source.size() + rows - 1) / rows};
  }

  ZENITH_FN void operator()(u64 i) const {
    const auto scores = source.lanes(load_rows{i, items, source.size() - 1});
    ZENITH_UNROLLED
    for (unsigned r = 0; r < rows; ++r) {
      const u64 row = i + r * items;
      if (row < source.size()) to[row] = scores.item[r];
    }
  }

 private:
  struct load_rows {
    u64 first;
    u64 distance;
    u64 last;  ///< is read in the place of rows that are none

    template <class T>
    ZENITH_FN auto operator()(const T* column) const {
      return as<T>(column);
    }
    template <class S, class T>
    ZENITH_FN auto as(const T* column) const {
      device::pack<S, rows> values;
      ZENITH_UNROLLED
      for (unsigned r = 0; r < rows; ++r) {
        const u64 row = first + r * distance;
        values.item[r] = static_cast<S>(column[row < last ? row : last]);
      }
      return values;
    }
  };
};

}  // namespace zenith::scored_top_k_family

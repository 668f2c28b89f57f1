#pragma once

/// \file
/// Scores of the caller's own: a function object of a row's values, as a source of keys for the filter of top-k.

#include <concepts>
#include <type_traits>

#include <algorithms/top_k/filter.hpp>
#include <algorithms/top_k/strategies.hpp>
#include <core/device/source.hpp>
#include <zenith/types.hpp>

namespace zenith::strategies {

/// The values of one row. A value is read from memory when it is asked for, so a column that a score never asks for is
/// not read.
template <class T>
class row_values {
 public:
  ZENITH_FN row_values(const T* const* columns, unsigned count, device::u64 row)
      : columns_(columns), count_(count), row_(row) {}

  /// Columns.
  [[nodiscard]] ZENITH_FN unsigned size() const { return count_; }
  /// The value in column j < size().
  [[nodiscard]] ZENITH_FN T operator[](unsigned j) const { return columns_[j][row_]; }

 private:
  const T* const* columns_;
  unsigned count_;
  device::u64 row_;
};

/// What scores rows of T: `score(row)` for a `row_values<T>` is a key. It is copied to where it runs, bytewise: no
/// pointers but to what kernels can read.
template <class F, class T>
concept row_score = std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F> &&
    requires(const F& score, const row_values<T>& row) {
  requires key<std::remove_cvref_t<decltype(score(row))>>;
};

/// The type of the scores.
template <class F, class T>
using score_by = std::remove_cvref_t<std::invoke_result_t<const F&, const row_values<T>&>>;

}  // namespace zenith::strategies

namespace zenith::scored_top_k_family {

/// Columns of T scored by an F.
template <class T, class F>
struct own_scored {
  using key = strategies::score_by<F, T>;
  static constexpr unsigned streams = 4;  // that many at a time
  static constexpr unsigned widest = sizeof(T) < sizeof(key) ? sizeof(key) : sizeof(T);

  const T* column[device::most_columns];
  unsigned columns;
  device::u64 count;
  F score;

  ZENITH_FN explicit own_scored(const F& by) : column{}, columns(0), count(0), score(by) {}

  [[nodiscard]] ZENITH_FN device::u64 size() const { return count; }
  [[nodiscard]] ZENITH_FN key score_at(device::u64 i) const {
    return score(strategies::row_values<T>(column, columns, i));
  }
  template <class Load>
  ZENITH_FN auto lanes(const Load& load) const {
    if constexpr (std::is_same_v<Load, device::item_of>) {
      return score_at(load.at);
    } else {
      return load.each([this](device::u64 i) ZENITH_BODY { return score_at(i); });
    }
  }
};

template <class Source>
using own_kernels = device::concat<typename top_k_detail::filter<Source>::kernels, top_k_detail::filter_common_kernels>;

}  // namespace zenith::scored_top_k_family

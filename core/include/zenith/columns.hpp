#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <zenith/error.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/span.hpp>

/// \file
/// Tables as separate columns of one length, borrowed.

namespace zenith {

namespace detail {

/// Throws invalid_argument, naming the column.
[[noreturn]] void reject_column(std::size_t column, std::size_t length, std::size_t expected);

}  // namespace detail

/// Columns of equal length whose memory is `Span`'s: `std::span<const T>` or `device_span<const T>`. It borrows the
/// columns and owns only the list of them. Throws `invalid_argument` when the columns differ in length.
template <class Span>
class basic_column_set {
 public:
  using span_type = Span;
  using value_type = typename Span::value_type;

  basic_column_set() = default;
  basic_column_set(std::initializer_list<Span> columns) : basic_column_set(std::span<const Span>(columns)) {}
  /// A span of spans: of a vector of them, say.
  explicit basic_column_set(std::span<const Span> columns) {
    columns_.reserve(columns.size());
    for (const auto& one : columns) add(one);
  }
  ZENITH_NO_CONSTRUCTOR(basic_column_set);

  /// Adds a column behind the others.
  void add(Span column) {
    if (!columns_.empty() && column.size() != rows_) {
      detail::reject_column(columns_.size(), column.size(), rows_);
    }
    rows_ = column.size();
    columns_.push_back(column.data());
  }
  ZENITH_NO_OVERLOAD(add);

  /// Rows of every column.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// How many columns there are.
  [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }
  /// Where a column begins.
  [[nodiscard]] const value_type* data(std::size_t column) const { return columns_[column]; }

 private:
  std::vector<const value_type*> columns_;
  std::size_t rows_ = 0;
};

/// Columns in the host's memory.
template <class T>
using column_set = basic_column_set<std::span<const T>>;
/// Columns in the memory of an executor's device.
template <class T>
using device_column_set = basic_column_set<device_span<const T>>;

}  // namespace zenith

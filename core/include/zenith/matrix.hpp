#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <zenith/span.hpp>

/// \file
/// Tables in one piece of memory, row- or column-major or strided, borrowed.

namespace zenith {

namespace detail {

/// Throws invalid_argument unless a matrix of these measures lies within `values` elements.
void check_matrix(std::size_t values, std::size_t rows, std::size_t columns, std::size_t row_stride,
                  std::size_t column_stride);

}  // namespace detail

/// A matrix whose memory is `Span`'s: `std::span<T>` or `device_span<T>`. Element (i, j) lies `i * row_stride + j *
/// column_stride` elements behind the first one. It borrows the memory; copying is free. All factories throw
/// `invalid_argument` when the span is shorter than the matrix.
template <class Span>
class basic_matrix_view {
 public:
  using span_type = Span;
  using element_type = typename Span::element_type;
  using value_type = std::remove_cv_t<element_type>;

  basic_matrix_view() = default;

  /// Any strides, in elements.
  [[nodiscard]] static basic_matrix_view strided(Span values, std::size_t rows, std::size_t columns,
                                                 std::size_t row_stride, std::size_t column_stride) {
    detail::check_matrix(values.size(), rows, columns, row_stride, column_stride);
    basic_matrix_view view;
    view.data_ = values.data();
    view.rows_ = rows;
    view.columns_ = columns;
    view.row_stride_ = row_stride;
    view.column_stride_ = column_stride;
    return view;
  }
  /// Rows one after the other, without gaps.
  [[nodiscard]] static basic_matrix_view row_major(Span values, std::size_t rows, std::size_t columns) {
    return strided(values, rows, columns, columns, 1);
  }
  /// Rows that begin `row_stride` elements apart.
  [[nodiscard]] static basic_matrix_view row_major(Span values, std::size_t rows, std::size_t columns,
                                                   std::size_t row_stride) {
    return strided(values, rows, columns, row_stride, 1);
  }
  /// Columns one after the other, without gaps.
  [[nodiscard]] static basic_matrix_view column_major(Span values, std::size_t rows, std::size_t columns) {
    return strided(values, rows, columns, 1, rows);
  }
  /// Columns that begin `column_stride` elements apart.
  [[nodiscard]] static basic_matrix_view column_major(Span values, std::size_t rows, std::size_t columns,
                                                      std::size_t column_stride) {
    return strided(values, rows, columns, 1, column_stride);
  }

  [[nodiscard]] element_type* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  /// Elements from a value to the one below it.
  [[nodiscard]] std::size_t row_stride() const noexcept { return row_stride_; }
  /// Elements from a value to its right neighbour.
  [[nodiscard]] std::size_t column_stride() const noexcept { return column_stride_; }

 private:
  element_type* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t row_stride_ = 0;
  std::size_t column_stride_ = 0;
};

/// A matrix in the host's memory.
template <class T>
using matrix_view = basic_matrix_view<std::span<T>>;
/// A matrix in the memory of an executor's device.
template <class T>
using device_matrix_view = basic_matrix_view<device_span<T>>;

}  // namespace zenith

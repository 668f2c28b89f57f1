#include <zenith/matrix.hpp>

#include <cstdint>
#include <string>

#include <zenith/error.hpp>

namespace zenith::detail {

void check_matrix(std::size_t values, std::size_t rows, std::size_t columns, std::size_t row_stride,
                  std::size_t column_stride) {
  if (rows == 0 || columns == 0) return;
  std::size_t down = 0;
  std::size_t right = 0;
  std::size_t last = 0;
  const bool is_too_large = __builtin_mul_overflow(rows - 1, row_stride, &down) ||
                            __builtin_mul_overflow(columns - 1, column_stride, &right) ||
                            __builtin_add_overflow(down, right, &last) || last == SIZE_MAX;
  if (!is_too_large && last < values) return;
  throw error(error_code::invalid_argument, "matrix_view: " + std::to_string(rows) + " rows and " +
                                                std::to_string(columns) + " columns with strides of " +
                                                std::to_string(row_stride) + " and " + std::to_string(column_stride) +
                                                (is_too_large ? " need more" : " need " + std::to_string(last + 1)) +
                                                " elements, values has " + std::to_string(values));
}

}  // namespace zenith::detail

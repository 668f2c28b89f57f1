#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// \file
/// NumPy's .npy, format versions 1 to 3: one array of one or two dimensions, or of structures.

namespace zenith_study {

/// A table whose bytes stay where they are: `bytes` must outlive it.
class npy_table {
 public:
  /// One column: the value of a one-dimensional array, a column of a matrix (named "0", "1", …), a field of a
  /// structure.
  struct column {
    std::string name;
    char kind = 0;  ///< NumPy's letter: f, i, u, b, S, U, …
    bool is_big_endian = false;
    std::size_t bytes = 0;
    std::size_t offset = 0;  ///< in a row
  };

  [[nodiscard]] const std::vector<column>& columns() const noexcept { return columns_; }
  [[nodiscard]] std::vector<std::string> column_names() const;
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// A row as text.
  [[nodiscard]] std::vector<std::string> row(std::size_t row) const;

 private:
  friend npy_table parse_npy(std::span<const std::byte> bytes);
  friend struct npy_access;

  std::vector<column> columns_;
  std::size_t rows_ = 0;
  std::size_t stride_ = 0;  // bytes of a row
  std::span<const std::byte> data_;
};

/// Throws `corrupt_data` for damaged bytes; `unsupported`, with what would help, for Fortran order, more than two
/// dimensions, nested structures and Python objects.
[[nodiscard]] npy_table parse_npy(std::span<const std::byte> bytes);

using npy_values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                                std::vector<std::uint32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>>;

/// The numbers of a column, widened to the nearest type that Zenith ranks. `column` may be empty when there is only
/// one. Throws `invalid_argument` for a column that is not there, `unsupported` for one that does not hold numbers.
[[nodiscard]] npy_values read_numbers(const npy_table& from, std::string_view column);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// \file
/// CSV as RFC 4180 has it: a header, commas, fields in double quotes where need be, LF or CRLF.

namespace zenith_study {

/// A table whose text stays where it is: `text` must outlive it. Positions of rows are kept, fields are cut on demand.
class csv_table {
 public:
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t rows() const noexcept { return starts_.size(); }
  /// The fields of a row, without their quotes.
  [[nodiscard]] std::vector<std::string> row(std::size_t row) const;
  /// One field of a row, without its quotes.
  [[nodiscard]] std::string field(std::size_t row, std::size_t column) const;

 private:
  friend csv_table parse_csv(std::string_view text);

  std::string_view text_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> starts_;
};

/// Throws `corrupt_data`, with the row, for a file without header, a row that is longer or shorter than the header, and
/// quotes that do not match. Blank lines are skipped, except in a table of one column, where they are missing values.
[[nodiscard]] csv_table parse_csv(std::string_view text);

/// The numbers of a column, the missing ones left out.
struct csv_numbers {
  /// Whole numbers when all of them are: signed ones if they can be.
  std::variant<std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<double>> values;
  std::vector<std::uint32_t> rows;  ///< the row that each value stands in; empty when no value is missing
  std::size_t missing = 0;          ///< rows whose field is empty, NA, N/A, NaN or null
};

/// Throws `invalid_argument` for a column that is not there, or is there twice, with the ones there are and the option
/// that named it; `corrupt_data`, with row and text, for a field that is neither a number nor missing.
[[nodiscard]] csv_numbers read_numbers(const csv_table& from, std::string_view column,
                                       std::string_view option = "--column");
/// The same of the column at a position < columns().size(), whatever the others are called.
[[nodiscard]] csv_numbers read_numbers(const csv_table& from, std::size_t position);
/// A column's numbers row by row, NaN where one is missing; `invalid_argument` also for a whole number that a double
/// does not hold exactly.
[[nodiscard]] std::vector<double> read_doubles(const csv_table& from, std::string_view column,
                                               std::string_view option = "--column");

}  // namespace zenith_study

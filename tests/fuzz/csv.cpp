// CSV: any text gives a table or an error; every field of a table can be asked for.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

#include <perf/study/csv.hpp>
#include <zenith/error.hpp>

namespace {

/// Of a column's name or position.
template <class Column>
void check_numbers(const zenith_study::csv_table& table, const Column& column) {
  try {
    const auto numbers = zenith_study::read_numbers(table, column);
    const auto count = std::visit([](const auto& values) { return values.size(); }, numbers.values);
    if (count + numbers.missing != table.rows()) std::abort();
    if (!numbers.rows.empty() && numbers.rows.size() != count) std::abort();
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data && refused.code() != zenith::error_code::invalid_argument) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> text(data, data + size);
  try {
    const auto table = zenith_study::parse_csv({text.data(), text.size()});
    if (table.columns().empty()) std::abort();
    const auto rows = std::min<std::size_t>(table.rows(), 50);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto fields = table.row(row);
      if (fields.size() != table.columns().size()) std::abort();
      for (std::size_t column = 0; column < std::min<std::size_t>(fields.size(), 20); ++column) {
        if (table.field(row, column) != fields[column]) std::abort();
      }
    }
    for (std::size_t column = 0; column < std::min<std::size_t>(table.columns().size(), 20); ++column) {
      check_numbers(table, column);
      check_numbers(table, table.columns()[column]);
    }
    check_numbers(table, std::string{"no such column"});
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data) std::abort();
  }
  return 0;
}

#include <perf/study/csv_doubles.hpp>

#include <fmt/format.h>

#include <limits>
#include <type_traits>
#include <variant>

#include <zenith/error.hpp>

namespace zenith_study {

std::vector<double> read_doubles(const csv_table& from, const std::string& column) {
  const auto numbers = read_numbers(from, column);
  std::vector<double> values(from.rows(), std::numeric_limits<double>::quiet_NaN());
  const auto place = [&]<class T>(const std::vector<T>& found) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto value = static_cast<double>(found[i]);
      constexpr double exact = 0x1p53;
      if (std::is_integral_v<T> && (value > exact || value < -exact)) {
        throw zenith::error(zenith::error_code::invalid_argument,
                            fmt::format("column '{}' has {}, which a double does not hold exactly", column, found[i]));
      }
      values[numbers.rows.empty() ? i : numbers.rows[i]] = value;
    }
  };
  std::visit(place, numbers.values);
  return values;
}

}  // namespace zenith_study

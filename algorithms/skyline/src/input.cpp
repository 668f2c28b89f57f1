#include <algorithms/skyline/src/input.hpp>

#include <limits>

#include <core/message.hpp>

namespace zenith::skyline_detail {
namespace {

/// One copy of a matrix's memory is less than one of each of its columns with what lies between.
bool is_better_whole(const detail::skyline_points& points) {
  const std::size_t column = (points.rows - 1) * points.row_stride + 1;
  return points.block != nullptr && points.block_values / points.columns.size() < column;
}

}  // namespace

void reject(std::string_view function, const std::string& message, error_code code) {
  throw error(code, std::string{function} + ": " + message);
}

void check_points(std::string_view function, const detail::skyline_points& points,
                  std::span<const preference> preferences) {
  const auto columns = points.columns.size();
  if (columns == 0) reject(function, "points has no column");
  if (columns > most_skyline_columns) {
    reject(function,
           "points has " + std::to_string(columns) + " columns; the most is " + std::to_string(most_skyline_columns));
  }
  if (!preferences.empty() && preferences.size() != columns) {
    reject(function, "options.preferences has " + std::to_string(preferences.size()) + " elements and points " +
                         std::to_string(columns) + " columns; give one for each column, or none");
  }
  // inside, row numbers have 32 bits, and the highest means none
  if (points.rows >= std::numeric_limits<std::uint32_t>::max()) {
    reject(function, "points has " + std::to_string(points.rows) + " rows; the most is 2^32 - 2",
           error_code::unsupported);
  }
}

void check_policies(std::string_view function, std::span<const preference> preferences, nan_rows nans,
                    duplicate_rows duplicates) {
  for (std::size_t i = 0; i < preferences.size(); ++i) {
    if (preferences[i] <= preference::different) continue;
    detail::reject_unknown(function, "options.preferences[" + std::to_string(i) + "]",
                           static_cast<int>(preferences[i]));
  }
  detail::require_known(function, "options.nans", nans, nan_rows::worst);
  detail::require_known(function, "options.duplicates", duplicates, duplicate_rows::keep_first);
}

skyline_problem problem_of(const executor& on, const detail::skyline_points& points,
                           std::span<const preference> preferences, std::string_view strategy) {
  const auto* const asked = on.settings().target;
  const bool is_sampled = strategy == "auto" && (asked == nullptr || asked->memory == memory_space::host);
  if (is_sampled) return detail::skyline_problem_of(points, preferences);
  return {points.rows, static_cast<unsigned>(points.columns.size()), points.type, points.space};
}

void check_ids(std::string_view function, const detail::skyline_points& points, int index_bytes, bool index_signed) {
  if (index_bytes == 4 && index_signed && points.rows > std::size_t{std::numeric_limits<std::int32_t>::max()} + 1) {
    reject(function, "points has " + std::to_string(points.rows) +
                         " rows, more than ids of signed 32 bits can tell apart; use 64-bit ids");
  }
}

input::input(const detail::skyline_points& points, std::span<const preference> preferences, nan_rows nans,
             bool wants_statistics)
    : points_(points),
      preferences_(preferences.begin(), preferences.end()),
      nans_(nans),
      wants_statistics_(wants_statistics) {
  preferences_.resize(points.columns.size(), preference::minimise);
}

void input::describe(skyline_input& call) {
  call.type = points_.type;
  call.space = points_.space;
  call.columns = points_.columns.data();
  call.column_count = static_cast<unsigned>(points_.columns.size());
  call.rows = points_.rows;
  call.row_stride = points_.row_stride;
  if (is_better_whole(points_)) {
    call.block = points_.block;
    call.block_values = points_.block_values;
  }
  call.preferences = preferences_.data();
  call.nans = nans_;
  call.outcome = &outcome_;
  call.statistics = wants_statistics_ ? &statistics_ : nullptr;
}

void input::check(std::string_view function) const {
  if (!outcome_.has_nan) return;
  reject(function, "points has a NaN in row " + std::to_string(outcome_.nan_row) + ", column " +
                       std::to_string(outcome_.nan_column) + "; options.nans can be `drop` or `worst`");
}

}  // namespace zenith::skyline_detail

namespace zenith::detail {

void check_skyline_points(std::string_view function, const skyline_points& points,
                          std::span<const preference> preferences) {
  skyline_detail::check_points(function, points, preferences);
}

}  // namespace zenith::detail

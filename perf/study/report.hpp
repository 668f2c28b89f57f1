#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <perf/study/sweep.hpp>
#include <perf/study/table.hpp>

/// \file
/// What was measured, as a table and as JSON. A family says which columns and fields.

namespace zenith_study {

/// The measurements of one series and one question, an operation each: a row of the table, and a point of the numbers.
using row = std::span<const measurement>;
[[nodiscard]] std::vector<row> rows_of(const sweep& of);

/// A column of the table. One that names the question is shown where it changes; so is what the question leads.
struct report_column {
  std::string heading;
  align side = align::right;
  std::function<std::string(const row&)> cell;
  bool names_question = false;
};
/// "*" for what `decide` chooses, "WRONG" for a wrong result; the time, or why there is none; predicted seconds, "-"
/// without a model; the deviation of the first from the second.
[[nodiscard]] std::string mark_cell(const row& of);
[[nodiscard]] std::string time_cell(const row& of);
[[nodiscard]] std::string predicted_cell(const measurement& of);
[[nodiscard]] std::string deviation_cell(const measurement& of);

/// Adds the rows; an empty line before each question but the first.
void add_rows(table& to, const std::vector<report_column>& columns, const std::vector<row>& rows);
[[nodiscard]] table table_of(const std::vector<report_column>& columns);

using json_value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, std::vector<double>,
                                std::vector<std::string>>;
using json_fields = std::vector<std::pair<std::string, json_value>>;
/// A number, or null.
[[nodiscard]] json_value optional_number(const std::optional<double>& value);
[[nodiscard]] const char* name_of(outcome result) noexcept;

/// All numbers of a study, times in seconds: the version, the date, the machine, then what is given.
struct study_numbers {
  json_fields problem;
  std::vector<json_fields> points;
  json_fields floor;
  std::vector<std::string> notes;
};
[[nodiscard]] std::string as_json(const study_numbers& of);

/// Whether any measurement ended so.
[[nodiscard]] bool has(const sweep& of, outcome result);

}  // namespace zenith_study

#include <perf/study/report.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <type_traits>

#include <perf/study/quantity.hpp>
#include <zenith/machine.hpp>

namespace zenith_study {
namespace {

using nlohmann::json;

json to_json(const json_fields& fields) {
  json made = json::object();
  for (const auto& [key, value] : fields) {
    made[key] = std::visit(
        []<class T>(const T& of) {
          if constexpr (std::is_same_v<T, std::monostate>) {
            return json();
          } else {
            return json(of);
          }
        },
        value);
  }
  return made;
}

}  // namespace

std::vector<row> rows_of(const sweep& of) {
  std::vector<row> rows;
  for (std::size_t i = 0; i < of.points.size();) {
    std::size_t end = i + 1;
    const auto is_same = [&](const measurement& one) {
      return one.point == of.points[i].point && one.series == of.points[i].series;
    };
    while (end < of.points.size() && is_same(of.points[end])) ++end;
    rows.emplace_back(of.points.data() + i, end - i);
    i = end;
  }
  return rows;
}

std::string mark_cell(const row& of) { return of[0].result == outcome::wrong ? "WRONG" : of[0].is_chosen ? "*" : ""; }

std::string time_cell(const row& of) {
  return of[0].result == outcome::measured ? format_seconds(of[0].time) : name_of(of[0].result);
}

std::string predicted_cell(const measurement& of) { return of.predicted ? format_seconds(*of.predicted) : "-"; }

std::string deviation_cell(const measurement& of) {
  if (!of.predicted || of.result != outcome::measured) return "-";
  return fmt::format("{:+.0f} %", (of.time / *of.predicted - 1) * 100);
}

table table_of(const std::vector<report_column>& columns) {
  std::vector<table::column> headings;
  for (const auto& one : columns) headings.push_back({one.heading, one.side});
  return table(std::move(headings));
}

void add_rows(table& to, const std::vector<report_column>& columns, const std::vector<row>& rows) {
  std::vector<std::string> last;
  for (const auto& one : rows) {
    std::vector<std::string> question;
    for (const auto& column : columns) {
      if (column.names_question) question.push_back(column.cell(one));
    }
    const bool is_new = question != last;
    if (is_new && !to.empty()) to.add_gap();
    last = question;
    std::vector<std::string> cells;
    for (const auto& column : columns) {
      cells.push_back(column.names_question && !is_new ? "" : column.cell(one));
    }
    to.add(std::move(cells));
  }
}

json_value optional_number(const std::optional<double>& value) {
  return value ? json_value(*value) : json_value(std::monostate{});
}

const char* name_of(outcome result) noexcept {
  switch (result) {
    case outcome::measured: return "measured";
    case outcome::skipped: return "skipped";
    case outcome::failed: return "failed";
    case outcome::wrong: return "wrong";
  }
  return "";
}

bool has(const sweep& of, outcome result) {
  return std::ranges::find(of.points, result, &measurement::result) != of.points.end();
}

std::string as_json(const study_numbers& of) {
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  all["problem"] = to_json(of.problem);
  all["machine"] = json::parse(zenith::machine::local().to_json());
  if (!of.floor.empty()) all["floor"] = to_json(of.floor);
  all["notes"] = of.notes;
  all["points"] = json::array();
  for (const auto& point : of.points) all["points"].push_back(to_json(point));
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace zenith_study

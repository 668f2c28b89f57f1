#include <perf/study/family_study.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>

#include <perf/study/line_chart.hpp>
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

json_value plain_number(double value) {
  return value == std::floor(value) ? json_value(static_cast<std::uint64_t>(value)) : json_value(value);
}

std::string text_of(const coordinate& of) {
  if (!of.text.empty()) return of.text;
  return of.value == std::floor(of.value) ? with_commas(static_cast<std::uint64_t>(of.value))
                                          : fmt::format("{:g}", of.value);
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

const coordinate* find(const study_row& in, std::string_view name) {
  const auto found = std::ranges::find(in.coordinates(), name, &coordinate::name);
  return found == in.coordinates().end() ? nullptr : &*found;
}

// How often the choice was the fastest measured line, or within a tenth of it.
std::string judge(const std::vector<study_row>& rows) {
  struct times {
    double fastest = 0;
    double chosen = 0;
  };
  std::map<std::tuple<const study_part*, std::size_t, bool>, times> cases;
  for (const auto& row : rows) {
    if (row.seconds() == 0) continue;
    auto& one = cases[{&row.part, row.first().point, row.line().resident}];
    if (one.fastest == 0 || row.seconds() < one.fastest) one.fastest = row.seconds();
    if (row.first().is_chosen) one.chosen = row.seconds();
  }
  std::erase_if(cases, [](const auto& one) { return one.second.chosen == 0; });
  if (cases.empty()) return {};
  const auto good =
      std::ranges::count_if(cases, [](const auto& one) { return one.second.chosen <= 1.1 * one.second.fastest; });
  return fmt::format("The dispatcher's choice (*) was the fastest, or within a tenth of it, in {} of {} cases.\n", good,
                     cases.size());
}

}  // namespace

json_value optional_number(const std::optional<double>& value) {
  return value ? json_value(*value) : json_value(std::monostate{});
}

std::uint64_t study_row::at(std::string_view coordinate) const {
  const auto* found = find(*this, coordinate);
  return found == nullptr ? 0 : static_cast<std::uint64_t>(found->value);
}
double study_row::number(std::string_view fact) const {
  const auto found = first().seen.numbers.find(fact);
  return found == first().seen.numbers.end() ? 0 : found->second;
}
double study_row::seconds(std::size_t operation) const {
  return operations[operation].result == outcome::measured ? operations[operation].time : 0;
}

std::string label_cell(const study_row& of) { return of.line().label; }
std::string mark_cell(const study_row& of) {
  return of.first().result == outcome::wrong ? "WRONG" : of.first().is_chosen ? "*" : "";
}
std::string time_cell(const study_row& of) {
  return of.first().result == outcome::measured ? format_seconds(of.first().time) : name_of(of.first().result);
}
std::string predicted_cell(const study_row& of) {
  return of.first().predicted ? format_seconds(*of.first().predicted) : "-";
}

study_part& family_study::measure(std::string_view kind, std::uint64_t ladder, input& of,
                                  const std::vector<std::string_view>& operations, const std::vector<series>& all,
                                  const std::vector<coordinate>& of_input) {
  auto fast = all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind != kind || ladders_[i] != ladder) continue;
    const auto& before = parts_[i].measured;
    for (const auto& point : before.points) {
      if (point.time <= time_limit_) continue;
      std::erase_if(fast, [&](const series& one) { return one.label == before.all_series[point.series].label; });
    }
  }
  auto measured = run_sweep(of, operations, std::move(fast), options_, bar_);
  bar_.clear();
  std::vector<std::vector<coordinate>> coordinates(of.points(), of_input);
  for (std::size_t p = 0; p < of.points(); ++p) {
    for (auto& one : of.coordinates(p)) coordinates[p].push_back(std::move(one));
  }
  ladders_.push_back(ladder);
  return parts_.emplace_back(study_part{std::string{kind}, std::move(coordinates), std::move(measured)});
}

std::vector<study_row> family_study::rows_of(const study_part& part) {
  std::vector<study_row> all;
  const auto& points = part.measured.points;
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(), [&](const measurement& one) {
      return one.point != begin->point || one.series != begin->series;
    });
    all.push_back({part, {begin, end}});
    begin = end;
  }
  return all;
}

std::vector<study_row> family_study::rows() const {
  std::vector<study_row> all;
  for (const auto& part : parts_) std::ranges::copy(rows_of(part), std::back_inserter(all));
  return all;
}

bool family_study::has(outcome result) const {
  return std::ranges::any_of(parts_, [&](const study_part& one) {
    return std::ranges::find(one.measured.points, result, &measurement::result) != one.measured.points.end();
  });
}

int family_study::status() const {
  return has(outcome::wrong) ? wrong_results : has(outcome::measured) ? succeeded : failed_run;
}

std::string family_study::faults() const {
  std::string text;
  for (const auto& row : rows()) {
    for (const auto& one : row.operations) {
      if (one.result != outcome::wrong && one.result != outcome::failed) continue;
      text += fmt::format("{}, {}: {}\n", row.line().label, one.operation, one.note);
    }
  }
  return text;
}

std::string family_study::verdict(std::string_view all_right, std::string_view wrong) const {
  return fmt::format("{}{}\n{}", faults(), has(outcome::wrong) ? wrong : all_right, judge(rows()));
}

study_columns family_study::question_columns() const {
  study_columns columns;
  const auto& names = parts_.front().coordinates.front();
  for (std::size_t c = 0; c < names.size(); ++c) {
    columns.push_back({names[c].heading, names[c].text.empty() ? align::right : align::left,
                       [c](const study_row& of) { return text_of(of.coordinates()[c]); }, shown_in::each_input});
  }
  return columns;
}

study_columns family_study::with_facts(study_columns facts) const {
  auto columns = question_columns();
  for (auto& one : columns) one.side = align::right;
  columns.push_back({"strategy", align::left, [](const study_row& of) {
                       const auto& ran = of.first().seen.variant;
                       const auto& line = of.line();
                       return ran.empty() || ran == line.strategy ? line.label : line.label + " (" + ran + ")";
                     }});
  columns.push_back({"", align::left, mark_cell});
  columns.push_back({"time", align::right, time_cell});
  columns.push_back({"predicted", align::right, predicted_cell});
  std::ranges::move(facts, std::back_inserter(columns));
  return columns;
}

std::string family_study::table_of(std::string_view kind, const study_columns& columns) const {
  std::vector<table::column> headings;
  for (const auto& one : columns) headings.push_back({one.heading, one.side});
  table shown(std::move(headings));
  std::vector<std::string> last;
  const study_row* before = nullptr;
  const auto all = rows();
  for (const auto& row : all) {
    if (row.part.kind != kind) continue;
    std::vector<std::string> of_input;
    for (const auto& column : columns) {
      if (column.rows == shown_in::each_input) of_input.push_back(column.cell(row));
    }
    const bool is_new_input = before == nullptr || &before->part != &row.part || of_input != last;
    const bool is_new = is_new_input || before->first().point != row.first().point;
    if (is_new_input && !shown.empty()) shown.add_gap();
    last = std::move(of_input);
    before = &row;
    std::vector<std::string> cells;
    for (const auto& column : columns) {
      const bool is_shown =
          column.rows == shown_in::each_row || (column.rows == shown_in::each_input ? is_new_input : is_new);
      cells.push_back(is_shown ? column.cell(row) : "");
    }
    shown.add(std::move(cells));
  }
  return shown.text();
}

std::string family_study::as_json(const json_fields& problem, const fields_function& fields) const {
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  all["problem"] = to_json(problem);
  all["machine"] = json::parse(zenith::machine::local().to_json());
  const auto& floor = parts_.front().measured.floor;
  if (!floor.seconds.empty()) {
    all["floor"] = {{"seconds", floor.seconds}, {"median", median(floor.seconds)}, {"how", floor.how}};
  }
  all["notes"] = notes_;
  all["points"] = json::array();
  for (const auto& row : rows()) {
    auto point = to_json(fields(row));
    for (const auto& at : row.coordinates()) {
      point.update(to_json({{at.name, at.text.empty() ? plain_number(at.value) : json_value(at.text)}}));
    }
    point.update(to_json(row.part.fields));
    point["result"] = name_of(row.first().result);
    point["chosen"] = row.first().is_chosen;
    if (!row.first().note.empty()) point["note"] = row.first().note;
    all["points"].push_back(std::move(point));
  }
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

family_study::fields_function family_study::common_fields(std::string_view kind_name) {
  return [kind_name](const study_row& of) {
    const auto& one = of.first();
    json_fields fields{{std::string{kind_name}, of.part.kind},
                       {"strategy", of.line().label},
                       {"seconds", one.time},
                       {"predicted_seconds", optional_number(one.predicted)}};
    if (!one.seen.variant.empty()) fields.emplace_back("ran", one.seen.variant);
    for (const auto& [fact, value] : one.seen.numbers) fields.emplace_back(fact, plain_number(value));
    return fields;
  };
}

std::vector<study_chart> family_study::by_kind(const study_chart& like) const {
  std::vector<study_chart> charts;
  for (const auto& part : parts_) {
    if (std::ranges::find(charts, part.kind, &study_chart::title) != charts.end()) continue;
    charts.push_back(like);
    charts.back().title = part.kind;
    charts.back().shows = [kind = part.kind, shows = like.shows](const study_row& of) {
      return of.part.kind == kind && (!shows || shows(of));
    };
  }
  return charts;
}

std::string family_study::picture_of(const std::string& heading, const std::vector<study_chart>& charts) const {
  const auto is_log = [](const std::string& label) { return label.find("(log)") != std::string::npos; };
  const auto all = rows();
  std::vector<line_chart> drawn;
  for (const auto& chart : charts) {
    line_chart made{chart.title, chart.x_label, chart.y_label, is_log(chart.x_label), is_log(chart.y_label), {}};
    for (const auto& row : all) {
      const auto name = chart.name(row);
      auto line = std::ranges::find(made.lines, name, &line_chart::line::label);
      if (line == made.lines.end()) line = made.lines.insert(line, {name, {}});
      if (chart.shows && !chart.shows(row)) continue;
      const auto* x = find(row, chart.x);
      const double y = chart.y(row);
      const double predicted = chart.predicted ? chart.predicted(row) : 0;
      if (y > 0) line->points.emplace_back(x->value, y);
      if (predicted > 0) line->predicted.emplace_back(x->value, predicted);
      if (y > 0 && chart.rings_choice && row.first().is_chosen) line->ringed.emplace_back(x->value, y);
    }
    drawn.push_back(std::move(made));
  }
  for (auto& line : drawn.front().lines) {
    const auto is_measured = [&](const study_row& row) {
      return charts.front().name(row) == line.label && row.seconds() > 0;
    };
    if (std::ranges::none_of(all, is_measured)) line.label += " (not measured)";
  }
  for (const auto& part : parts_) {
    for (const auto& one : part.measured.all_series) {
      auto& floors = drawn.front().floors;
      // equal floors are one line
      if (one.floor_seconds <= 0 ||
          std::ranges::find(floors, one.floor_seconds, &line_chart::floor::value) != floors.end()) {
        continue;
      }
      const auto what = one.on.settings().target->memory == zenith::memory_space::host
                            ? std::string{"one read"}
                            : fmt::format("{} {}", one.resident ? "one read on" : "the link to", one.on.backend());
      floors.push_back({one.floor_seconds, fmt::format("floor: {}, {}", what, format_seconds(one.floor_seconds))});
    }
  }
  return as_svg(heading, drawn);
}

}  // namespace zenith_study

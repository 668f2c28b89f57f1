#include <perf/study/top_k_study.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>

#include <perf/study/line_chart.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/report.hpp>
#include <perf/study/series.hpp>
#include <perf/study/statistics.hpp>
#include <zenith/error.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

// The reference sorts all positions: beyond this count it would take the whole time of the study.
constexpr std::uint64_t reference_limit = std::uint64_t{1} << 20;

void check(const top_k_input_options& options) {
  const auto reject = [](const std::string& why) { throw zenith::error(zenith::error_code::invalid_argument, why); };
  if (options.count == 0 || options.count > (std::uint64_t{1} << 32)) {
    reject(fmt::format("--count is {}; it must be from 1 to 2^32", with_commas(options.count)));
  }
  if (options.ks.front() == 0) reject("--k is 0; there is nothing to time in the best 0");
  if (options.ks.back() > options.count) {
    reject(
        fmt::format("--k is {}, but --count is only {}", with_commas(options.ks.back()), with_commas(options.count)));
  }
}

// "2^26 float32 values, uniform, the largest"
std::string describe(const top_k_input_options& options) {
  const auto count = std::has_single_bit(options.count) ? fmt::format("2^{}", std::countr_zero(options.count))
                                                        : with_commas(options.count);
  return fmt::format("{} {} values, {}, the {}", count, zenith::to_string(options.type), to_string(options.values),
                     options.smallest ? "smallest" : "largest");
}

std::string explain(const sweep& of) {
  std::string text;
  std::map<std::string, std::vector<std::string>> floors;
  for (const auto& one : of.all_series) {
    const auto line = one.floor_seconds > 0
                          ? fmt::format("{} = {}", format_seconds(one.floor_seconds), one.floor_origin)
                          : std::string{"not measured"};
    floors[line].push_back(one.label);
  }
  for (const auto& [line, labels] : floors) text += fmt::format("floor of {}: {}\n", fmt::join(labels, ", "), line);
  for (const auto& one : of.all_series) {
    text += fmt::format("{}: {}\n", one.label, one.detail.empty() ? "no details" : one.detail);
  }
  return text;
}

// How often the choice was the fastest measured line, or within a tenth of it.
std::string judge(const sweep& of) {
  struct times {
    double fastest = 0;
    double chosen = 0;
  };
  std::map<std::pair<std::size_t, bool>, times> cases;
  for (const auto& point : of.points) {
    if (point.result != outcome::measured) continue;
    auto& one = cases[{point.point, of.all_series[point.series].resident}];
    if (one.fastest == 0 || point.time < one.fastest) one.fastest = point.time;
    if (point.is_chosen) one.chosen = point.time;
  }
  std::erase_if(cases, [](const auto& one) { return one.second.chosen == 0; });
  if (cases.empty()) return {};
  const auto good =
      std::ranges::count_if(cases, [](const auto& one) { return one.second.chosen <= 1.1 * one.second.fastest; });
  return fmt::format("The dispatcher's choice (*) was the fastest, or within a tenth of it, in {} of {} cases.\n", good,
                     cases.size());
}

}  // namespace

top_k_study run_top_k_study(const top_k_input_options& input, const sweep_options& options, progress& shown) {
  check(input);
  const auto why = input.count <= reference_limit
                       ? std::string{}
                       : fmt::format("it sorts everything, which takes too long for more than {} items",
                                     with_commas(reference_limit));
  std::vector<std::string> notes;
  auto all_series = list_series({zenith::top_k_call::operation, true, why}, options, notes);
  shown.show(0, fmt::format("generating {} {} values, {}", with_commas(input.count), zenith::to_string(input.type),
                            to_string(input.values)));
  const auto keys = make_top_k_input(input);
  top_k_study made{input, run_sweep(*keys, {zenith::top_k_call::operation}, std::move(all_series), options, shown),
                   options.repeat};
  made.measured.notes = std::move(notes);
  return made;
}

std::string as_table(const top_k_study& study) {
  const auto& of = study.measured;
  const auto series_of = [&](const row& one) -> const series& { return of.all_series[one[0].series]; };
  const auto bytes = static_cast<double>(study.input.count * zenith::size_of(study.input.type));
  const auto measured = [](const row& one, const auto& text) -> std::string {
    return one[0].result == outcome::measured ? text(one[0]) : "-";
  };
  const std::vector<report_column> columns{
      {"k", align::right, [&](const row& one) { return with_commas(study.input.ks[one[0].point]); }, true},
      {"backend/strategy", align::left, [&](const row& one) { return series_of(one).label; }},
      {"", align::left, [](const row& one) { return std::string{one[0].is_chosen ? "*" : ""}; }},
      {"time", align::right, time_cell},
      {"GB/s", align::right,
       [&](const row& one) {
         return measured(one, [&](const auto& point) { return fmt::format("{:.1f}", bytes / point.time / 1e9); });
       }},
      {"of floor", align::right,
       [&](const row& one) {
         const double floor = series_of(one).floor_seconds;
         return measured(one, [&](const auto& point) {
           return floor > 0 ? fmt::format("{:.0f} %", floor / point.time * 100) : "-";
         });
       }},
      {"predicted", align::right, [](const row& one) { return predicted_cell(one[0]); }},
      {"deviation", align::right, [](const row& one) { return deviation_cell(one[0]); }},
      {"", align::left, [](const row& one) { return one[0].note; }}};
  auto shown = table_of(columns);
  add_rows(shown, columns, rows_of(of));
  std::string text = fmt::format("Top-k over {}\n\n{}\n", describe(study.input), shown.text());
  text +=
      "* what zenith::decide chooses; of floor: one read of the data, as a share of the time; deviation: of the time "
      "from the prediction\n";
  text += explain(of);
  for (const auto& note : of.notes) text += note + "\n";
  text += has(of, outcome::wrong) ? "WRONG RESULTS: see the lines marked wrong; they were not timed.\n"
                                  : "Every result equals a selection by the standard library, bit by bit.\n";
  return text + judge(of);
}

std::string as_json(const top_k_study& study) {
  const auto& of = study.measured;
  const auto& given = study.input;
  study_numbers all;
  all.problem = {{"operation", "top_k"},
                 {"count", given.count},
                 {"type", std::string{zenith::to_string(given.type)}},
                 {"distribution", std::string{to_string(given.values)}},
                 {"select", given.smallest ? "smallest" : "largest"},
                 {"seed", given.seed},
                 {"repeat", static_cast<std::uint64_t>(study.repeat)}};
  all.floor = {{"seconds", of.floor.seconds}, {"median", median(of.floor.seconds)}, {"how", of.floor.how}};
  all.notes = of.notes;
  for (const auto& point : of.points) {
    const auto& one = of.all_series[point.series];
    const bool has_floor = one.floor_seconds > 0;
    all.points.push_back(
        {{"k", given.ks[point.point]},
         {"backend", std::string{one.on.backend()}},
         {"strategy", one.strategy},
         {"label", one.label},
         {"executor", one.executor},
         {"data", one.resident ? "device" : "host"},
         {"detail", one.detail},
         {"variant", point.seen.variant},
         {"result", name_of(point.result)},
         {"chosen", point.is_chosen},
         {"seconds", point.seconds},
         {"floor", has_floor ? json_value(one.floor_seconds) : json_value(std::monostate{})},
         {"predicted", optional_number(point.predicted)},
         {"median", point.result == outcome::measured ? json_value(point.time) : json_value(std::monostate{})}});
    if (!point.note.empty()) all.points.back().emplace_back("note", point.note);
  }
  return as_json(all);
}

std::string as_svg(const top_k_study& study) {
  const auto& of = study.measured;
  line_chart chart{describe(study.input),
                   "k (log)",
                   "seconds (log); dashed: predicted, ring: the dispatcher's choice",
                   true,
                   true,
                   {},
                   {}};
  for (std::size_t s = 0; s < of.all_series.size(); ++s) {
    line_chart::line drawn{of.all_series[s].label, {}};
    for (const auto& point : of.points) {
      if (point.series != s) continue;
      const auto k = static_cast<double>(study.input.ks[point.point]);
      if (point.predicted) drawn.predicted.emplace_back(k, *point.predicted);
      if (point.result != outcome::measured) continue;
      drawn.points.emplace_back(k, point.time);
      if (point.is_chosen) drawn.ringed.emplace_back(k, point.time);
    }
    if (drawn.points.empty()) drawn.label += " (not measured)";
    chart.lines.push_back(std::move(drawn));
    const auto& one = of.all_series[s];
    // equal floors are one line
    if (one.floor_seconds <= 0 ||
        std::ranges::find(chart.floors, one.floor_seconds, &line_chart::floor::value) != chart.floors.end()) {
      continue;
    }
    const auto what = one.on.settings().target->memory == zenith::memory_space::host
                          ? std::string{"one read"}
                          : fmt::format("{} {}", one.resident ? "one read on" : "the link to", one.on.backend());
    chart.floors.push_back({one.floor_seconds, fmt::format("floor: {}, {}", what, format_seconds(one.floor_seconds))});
  }
  return as_svg("Top-k: time over k", {std::move(chart)});
}

}  // namespace zenith_study

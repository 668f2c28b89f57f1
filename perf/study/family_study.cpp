#include <perf/study/family_study.hpp>

#include <algorithm>
#include <cmath>

#include <perf/study/quantity.hpp>

namespace zenith_study {
namespace {

std::string text_of(const coordinate& of) { return of.text.empty() ? with_commas(of.value) : of.text; }

// In the order in which they were measured first.
template <class Part, class Take>
std::vector<std::string> different(const std::vector<Part>& parts, const Take& take) {
  std::vector<std::string> found;
  for (const auto& part : parts) {
    for (const auto& one : take(part)) {
      if (std::ranges::find(found, one) == found.end()) found.emplace_back(one);
    }
  }
  return found;
}

}  // namespace

double seconds_of_point(const measurement& of) { return of.result == outcome::measured ? of.time : 0; }

double number(const measurement& of, std::string_view fact) {
  const auto found = of.seen.numbers.find(fact);
  return found == of.seen.numbers.end() ? 0 : found->second;
}

std::uint64_t value_of(const std::vector<coordinate>& of, std::string_view name) {
  const auto found = std::ranges::find(of, name, &coordinate::name);
  return found == of.end() ? 0 : found->value;
}

study_part& family_study::measure(std::string_view kind, std::uint64_t ladder, input& of, std::string_view operation,
                                  const std::vector<series>& all) {
  auto fast = all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind != kind || ladders_[i] != ladder) continue;
    const auto& before = parts_[i].measured;
    for (const auto& point : before.points) {
      if (point.time <= time_limit_) continue;
      std::erase_if(fast, [&](const series& one) { return one.label == before.all_series[point.series].label; });
    }
  }
  auto measured = run_sweep(of, {operation}, std::move(fast), options_, bar_);
  std::vector<std::vector<coordinate>> coordinates;
  for (std::size_t p = 0; p < of.points(); ++p) coordinates.push_back(of.coordinates(p));
  ladders_.push_back(ladder);
  return parts_.emplace_back(study_part{kind, std::move(coordinates), std::move(measured)});
}

bool family_study::is_wrong() const {
  return std::ranges::any_of(parts_, [](const study_part& one) { return has(one.measured, outcome::wrong); });
}

std::string family_study::table_of(std::string_view kind, const std::vector<fact_column>& facts) const {
  const study_part* part = nullptr;
  std::vector<report_column> columns;
  for (std::size_t c = 0; c < parts_.front().coordinates.front().size(); ++c) {
    columns.push_back({parts_.front().coordinates.front()[c].heading, align::right,
                       [&, c](const row& one) { return text_of(part->coordinates[one[0].point][c]); }, true});
  }
  columns.push_back({"strategy", align::left, [&](const row& one) {
                       const auto& line = part->measured.all_series[one[0].series];
                       const auto& ran = one[0].seen.variant;
                       return ran.empty() || ran == line.strategy ? line.label : line.label + " (" + ran + ")";
                     }});
  columns.push_back({"", align::left, mark_cell});
  columns.push_back({"time", align::right, time_cell});
  columns.push_back({"predicted", align::right, [](const row& one) { return predicted_cell(one[0]); }});
  for (const auto& fact : facts) {
    columns.push_back({fact.heading, align::right, [&](const row& one) { return fact.cell(*part, one[0]); }});
  }
  auto shown = zenith_study::table_of(columns);
  for (const auto& one : parts_) {
    part = &one;
    if (one.kind == kind) add_rows(shown, columns, rows_of(one.measured));
  }
  return shown.text();
}

std::string family_study::as_json(std::string_view kind_name, json_fields problem) const {
  study_numbers all;
  all.problem = std::move(problem);
  for (const auto& part : parts_) {
    for (const auto& one : part.measured.points) {
      json_fields fields{{std::string{kind_name}, std::string{part.kind}}};
      for (const auto& at : part.coordinates[one.point]) {
        fields.emplace_back(at.name, at.text.empty() ? json_value(at.value) : json_value(at.text));
      }
      fields.insert(fields.end(), part.fields.begin(), part.fields.end());
      const json_fields measured{{"strategy", part.measured.all_series[one.series].label},
                                 {"seconds", one.time},
                                 {"predicted_seconds", optional_number(one.predicted)},
                                 {"chosen", one.is_chosen},
                                 {"result", name_of(one.result)}};
      fields.insert(fields.end(), measured.begin(), measured.end());
      if (!one.seen.variant.empty()) fields.emplace_back("ran", one.seen.variant);
      for (const auto& [fact, value] : one.seen.numbers) {
        const bool is_count = value == std::floor(value);
        fields.emplace_back(fact, is_count ? json_value(static_cast<std::uint64_t>(value)) : json_value(value));
      }
      if (!one.note.empty()) fields.emplace_back("note", one.note);
      all.points.push_back(std::move(fields));
    }
  }
  return zenith_study::as_json(all);
}

std::string family_study::picture_of(const std::string& heading, const chart_axes& axes) const {
  const auto kinds = different(parts_, [](const study_part& part) { return std::vector{part.kind}; });
  const auto labels = different(parts_, [](const study_part& part) {
    std::vector<std::string> all;
    for (const auto& one : part.measured.points) all.push_back(part.measured.all_series[one.series].label);
    return all;
  });
  std::vector<line_chart> charts;
  for (const auto& kind : kinds) {
    line_chart chart{kind, axes.x_label, axes.y_label, axes.x_label.ends_with("(log)"), true, {}};
    for (const auto& label : labels) {
      chart.lines.push_back({label, {}});
      for (const auto& part : parts_) {
        if (part.kind != kind) continue;
        for (const auto& one : part.measured.points) {
          const auto& at = part.coordinates[one.point];
          if (part.measured.all_series[one.series].label != label || (axes.shows && !axes.shows(at))) continue;
          const double y = axes.y(part, one);
          if (y > 0) chart.lines.back().points.emplace_back(static_cast<double>(value_of(at, axes.x)), y);
        }
      }
    }
    charts.push_back(std::move(chart));
  }
  return as_svg(heading, charts);
}

}  // namespace zenith_study

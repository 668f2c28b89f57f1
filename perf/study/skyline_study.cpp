#include <perf/study/skyline_study.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <perf/study/exit_status.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/report.hpp>
#include <perf/study/series.hpp>
#include <zenith/array.hpp>
#include <zenith/skyline.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::skyline_call::operation;

class skyline_input final : public input {
 public:
  skyline_input(std::vector<float> points, std::uint64_t rows, std::uint64_t columns)
      : values_(std::move(points)), rows_(rows), columns_(columns), problem_(zenith::skyline_problem_of(view())) {}

  [[nodiscard]] std::size_t points() const override { return 1; }
  [[nodiscard]] std::string label(std::size_t /*point*/) const override {
    return fmt::format("{} x {}", with_commas(rows_), columns_);
  }
  // Right is what the first strategy finds.
  [[nodiscard]] std::vector<trial> place(std::size_t /*point*/, const placement& at) override {
    const auto there = std::make_shared<zenith::array<float>>();
    if (at.resident) *there = zenith::array<float>(at.on, std::span<const float>(values_));
    const auto found = std::make_shared<zenith::skyline_result<std::uint32_t>>();
    const auto call = [=, this](zenith::skyline_statistics* statistics) {
      const zenith::skyline_options options{.strategy = at.strategy, .statistics = statistics};
      *found = at.resident ? zenith::skyline<std::uint32_t>(at.on, device_view(*there), options)
                           : zenith::skyline<std::uint32_t>(at.on, view(), options);
    };
    return {{operation, [=] { call(nullptr); },
             [=, this]() -> std::string {
               if (expected_.empty()) expected_ = found->ids;
               return found->ids == expected_ ? "" : "other ids than those of the first strategy";
             },
             [=](facts& into) {
               zenith::skyline_statistics statistics;
               call(&statistics);
               into.numbers = {{"skyline", static_cast<double>(found->ids.size())},
                               {"dominance_tests", static_cast<double>(statistics.dominance_tests)},
                               {"mask_tests", static_cast<double>(statistics.mask_tests)}};
             }}};
  }
  [[nodiscard]] std::optional<zenith::cost> cost(std::size_t /*point*/, std::string_view /*operation*/,
                                                 const placement& at, const zenith::device_profile& on) override {
    if (at.strategy == "bnl") return {};
    return zenith::skyline_cost(at.strategy, problem_in(at.space()), on);
  }
  [[nodiscard]] zenith::decision decide(std::size_t /*point*/, std::string_view /*operation*/,
                                        zenith::memory_space space, const zenith::machine& on) override {
    return zenith::decide(problem_in(space), on);
  }

 private:
  [[nodiscard]] zenith::matrix_view<const float> view() const {
    return zenith::matrix_view<const float>::row_major(values_, rows_, columns_);
  }
  [[nodiscard]] zenith::device_matrix_view<const float> device_view(const zenith::array<float>& of) const {
    return zenith::device_matrix_view<const float>::row_major(of.device(), rows_, columns_);
  }
  [[nodiscard]] zenith::skyline_problem problem_in(zenith::memory_space space) const {
    auto of = problem_;
    of.space = space;
    return of;
  }

  std::vector<float> values_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  zenith::skyline_problem problem_;
  std::vector<std::uint32_t> expected_;
};

// One set of points.
struct point_set {
  correlation of{};
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  sweep measured;

  [[nodiscard]] double each_row(const measurement& one, std::string_view fact) const {
    return number(one, fact) / static_cast<double>(rows);
  }
  [[nodiscard]] static double number(const measurement& one, std::string_view fact) {
    const auto found = one.seen.numbers.find(fact);
    return found == one.seen.numbers.end() ? 0 : found->second;
  }
};

std::string_view name_of(correlation of) { return correlation_names[static_cast<std::size_t>(of)]; }

std::vector<point_set> measure(const skyline_study_options& given, const std::vector<series>& all) {
  std::vector<point_set> made;
  progress bar("skyline");
  for (const auto of : given.correlations) {
    auto fast = all;
    for (const auto rows : given.rows) {
      for (const auto columns : given.columns) {
        skyline_input points(standard_points(of, rows, static_cast<unsigned>(columns), given.seed), rows, columns);
        made.push_back({of, rows, columns, run_sweep(points, {operation}, fast, given.sweep, bar)});
        const auto& measured = made.back().measured;
        for (auto point = measured.points.rbegin(); point != measured.points.rend(); ++point) {
          if (point->time > given.time_limit) fast.erase(fast.begin() + static_cast<std::ptrdiff_t>(point->series));
        }
      }
      // what is too slow for many columns need not be for few
      if (given.columns.size() > 1) fast = all;
    }
  }
  return made;
}

std::string table_of(const std::vector<point_set>& sets, correlation of) {
  const point_set* set = nullptr;
  const auto each_row = [&](std::string_view fact) {
    return [&set, fact](const row& one) { return fmt::format("{:.1f}", set->each_row(one[0], fact)); };
  };
  const std::vector<report_column> columns{
      {"rows", align::right, [&](const row&) { return with_commas(set->rows); }, true},
      {"columns", align::right, [&](const row&) { return std::to_string(set->columns); }, true},
      {"skyline", align::right,
       [&](const row&) {
         return with_commas(static_cast<std::uint64_t>(set->number(set->measured.points.front(), "skyline")));
       },
       true},
      {"strategy", align::left, [&](const row& one) { return set->measured.all_series[one[0].series].label; }},
      {"", align::left, mark_cell},
      {"time", align::right, time_cell},
      {"predicted", align::right, [](const row& one) { return predicted_cell(one[0]); }},
      {"dominance tests/row", align::right, each_row("dominance_tests")},
      {"mask tests/row", align::right, each_row("mask_tests")}};
  auto shown = table_of(columns);
  for (const auto& one : sets) {
    set = &one;
    if (one.of == of) add_rows(shown, columns, rows_of(one.measured));
  }
  return shown.text();
}

std::string json_of(const std::vector<point_set>& sets, std::uint64_t seed) {
  study_numbers all;
  all.problem = {{"operation", "skyline"}, {"type", "float32"}, {"seed", seed}};
  for (const auto& set : sets) {
    for (const auto& one : set.measured.points) {
      all.points.push_back({{"correlation", std::string{name_of(set.of)}},
                            {"rows", set.rows},
                            {"columns", set.columns},
                            {"strategy", set.measured.all_series[one.series].label},
                            {"seconds", one.time},
                            {"predicted_seconds", optional_number(one.predicted)},
                            {"chosen", one.is_chosen},
                            {"result", name_of(one.result)}});
      for (const auto& [fact, value] : one.seen.numbers) {
        all.points.back().emplace_back(fact, static_cast<std::uint64_t>(value));
      }
    }
  }
  return as_json(all);
}

// A chart a correlation: `value` of each strategy over the columns, or over the rows where those vary.
template <class Value>
std::string picture_of(const std::string& heading, const std::string& y_label, const skyline_study_options& given,
                       bool over_rows, const std::vector<point_set>& sets, const std::vector<series>& all,
                       const Value& value) {
  std::vector<line_chart> charts;
  for (const auto of : given.correlations) {
    line_chart chart{std::string{name_of(of)}, over_rows ? "rows (log)" : "columns", y_label, over_rows, true, {}};
    for (const auto& line : all) {
      chart.lines.push_back({line.label, {}});
      for (const auto& set : sets) {
        // one picture has one axis: that of the largest count
        if (set.of != of || (!over_rows && set.rows != given.rows.back())) continue;
        for (const auto& one : set.measured.points) {
          const double y = value(set, one);
          if (set.measured.all_series[one.series].label != line.label || !(y > 0)) continue;
          chart.lines.back().points.emplace_back(static_cast<double>(over_rows ? set.rows : set.columns), y);
        }
      }
    }
    charts.push_back(std::move(chart));
  }
  return as_svg(heading, charts);
}

}  // namespace

int run_skyline_study(const skyline_study_options& given) {
  std::vector<std::string> ignored;
  const auto all = list_series({operation, true, "-"}, given.sweep, ignored);
  const auto folder = output_folder(given.output);
  const auto sets = measure(given, all);
  for (const auto of : given.correlations) {
    fmt::print("{} points, seed {}\n\n{}\n", name_of(of), given.seed, table_of(sets, of));
  }
  const bool is_wrong =
      std::ranges::any_of(sets, [](const point_set& one) { return has(one.measured, outcome::wrong); });
  fmt::print("* what 'auto' takes\n{}\n",
             is_wrong ? "a result is WRONG: the strategies do not agree" : "All strategies found the same ids.");

  const bool over_rows = given.columns.size() == 1 && given.rows.size() > 1;
  const auto base = (folder / fmt::format("skyline-{}", over_rows ? "rows" : "columns")).string();
  write_file(base + ".json", json_of(sets, given.seed));
  const auto heading = "Skyline of " + (over_rows ? fmt::format("{} columns", given.columns.front())
                                                  : fmt::format("{} rows", with_commas(given.rows.back())));
  write_file(base + "-time.svg", picture_of(heading, "seconds (log)", given, over_rows, sets, all,
                                            [](const point_set&, const measurement& one) { return one.time; }));
  write_file(base + "-tests.svg", picture_of(heading, "dominance tests a row (log)", given, over_rows, sets, all,
                                             [](const point_set& set, const measurement& one) {
                                               return set.each_row(one, "dominance_tests");
                                             }));
  fmt::print("numbers: {0}.json\npictures: {0}-time.svg, {0}-tests.svg\n", base);
  return is_wrong ? wrong_results : succeeded;
}

}  // namespace zenith_study

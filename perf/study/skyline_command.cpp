#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include <perf/study/commands.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/measure_skyline.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/progress.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/skyline_file.hpp>
#include <perf/study/table.hpp>
#include <zenith/error.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string rows = "2^16";
  std::string columns = "2,4,6,8,10,12,14,16";
  std::vector<std::string> correlations;
  std::string output = default_output();
  skyline_sweep_options sweep;
  skyline_query query;
};

// All sets of points of one correlation: the product of the row counts and the column counts.
struct skyline_figure {
  correlation of{};
  std::vector<skyline_measurement> points;
};

std::string_view name_of(correlation of) { return correlation_names[static_cast<std::size_t>(of)]; }

double for_each_row(std::uint64_t count, std::uint64_t rows) {
  return static_cast<double>(count) / static_cast<double>(rows);
}

std::string table_of(const skyline_figure& figure) {
  table shown({{"rows"},
               {"columns"},
               {"skyline"},
               {"strategy", align::left},
               {"", align::left},
               {"time"},
               {"predicted"},
               {"dominance tests/row"},
               {"mask tests/row"}});
  const skyline_measurement* before = nullptr;
  for (const auto& one : figure.points) {
    const bool first = before == nullptr || before->rows != one.rows || before->columns != one.columns;
    if (first && before != nullptr) shown.add_gap();
    before = &one;
    shown.add({first ? with_commas(one.rows) : "", first ? std::to_string(one.columns) : "",
               first ? with_commas(one.skyline) : "", one.label, one.is_wrong ? "WRONG" : (one.is_chosen ? "*" : ""),
               format_seconds(one.seconds), one.predicted ? format_seconds(*one.predicted) : "",
               fmt::format("{:.1f}", for_each_row(one.dominance_tests, one.rows)),
               fmt::format("{:.1f}", for_each_row(one.mask_tests, one.rows))});
  }
  return shown.text();
}

std::string json_of(const std::vector<skyline_figure>& figures, const settings& given) {
  using nlohmann::json;
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["problem"] = {{"operation", "skyline"}, {"type", "float32"}, {"seed", given.sweep.seed}};
  all["points"] = json::array();
  for (const auto& figure : figures) {
    for (const auto& one : figure.points) {
      json point = {{"correlation", name_of(figure.of)},
                    {"rows", one.rows},
                    {"columns", one.columns},
                    {"skyline", one.skyline},
                    {"strategy", one.label},
                    {"seconds", one.seconds},
                    {"dominance_tests", one.dominance_tests},
                    {"mask_tests", one.mask_tests},
                    {"chosen", one.is_chosen},
                    {"result", one.is_wrong ? "wrong" : "measured"}};
      if (one.predicted) point["predicted_seconds"] = *one.predicted;
      all["points"].push_back(std::move(point));
    }
  }
  return all.dump(1) + "\n";
}

// A chart a correlation: `value` of each strategy over the columns, or over the rows where those vary.
template <class Value>
std::string picture_of(const std::string& heading, const std::string& y_label, bool over_rows,
                       const std::vector<skyline_figure>& figures, const std::vector<skyline_line>& lines,
                       const Value& value) {
  std::vector<line_chart> charts;
  for (const auto& figure : figures) {
    line_chart chart{
        std::string{name_of(figure.of)}, over_rows ? "rows (log)" : "columns", y_label, over_rows, true, {}};
    for (const auto& line : lines) {
      line_chart::line drawn{line.label, {}};
      for (const auto& one : figure.points) {
        const double y = value(one);
        if (one.label != line.label || !(y > 0)) continue;
        drawn.points.emplace_back(over_rows ? static_cast<double>(one.rows) : static_cast<double>(one.columns), y);
      }
      chart.lines.push_back(std::move(drawn));
    }
    charts.push_back(std::move(chart));
  }
  return as_svg(heading, charts);
}

std::vector<unsigned> parse_columns(const std::string& text) {
  std::vector<unsigned> found;
  for (const auto count : parse_counts("--columns", text)) {
    if (count > zenith::most_skyline_columns) {
      throw zenith::error(
          zenith::error_code::invalid_argument,
          fmt::format("--columns has {}, but a skyline has at most {}", count, zenith::most_skyline_columns));
    }
    found.push_back(static_cast<unsigned>(count));
  }
  return found;
}

std::vector<correlation> parse_correlations(const std::vector<std::string>& names) {
  std::vector<correlation> found;
  for (std::size_t i = 0; i < correlation_names.size(); ++i) {
    if (names.empty() || std::ranges::find(names, correlation_names[i]) != names.end()) {
      found.push_back(static_cast<correlation>(i));
    }
  }
  return found;
}

int run_study(const settings& given) {
  const auto rows = parse_counts("--rows", given.rows);
  const auto columns = parse_columns(given.columns);
  if (rows.back() > std::uint64_t{1} << 28) {
    throw zenith::error(zenith::error_code::invalid_argument, "--rows must be at most 2^28");
  }
  auto lines = skyline_lines(given.sweep);
  const auto folder = output_folder(given.output);
  const auto correlations = parse_correlations(given.correlations);
  std::vector<skyline_figure> figures;
  {
    progress bar("skyline");
    const auto steps = static_cast<double>(correlations.size() * rows.size() * columns.size());
    double done = 0;
    for (const auto of : correlations) {
      figures.push_back({of, {}});
      for (auto& line : lines) line.too_slow = false;
      for (const auto count : rows) {
        for (const auto width : columns) {
          bar.show(done / steps, fmt::format("{}, {} x {}", name_of(of), with_commas(count), width));
          done += 1;
          const auto points = standard_points(of, count, width, given.sweep.seed);
          for (auto& one : measure_skyline(points, count, width, lines, given.sweep)) {
            figures.back().points.push_back(std::move(one));
          }
        }
        // what is too slow for many columns need not be for few
        if (columns.size() > 1 && count != rows.back()) {
          for (auto& line : lines) line.too_slow = false;
        }
      }
    }
  }
  bool is_wrong = false;
  for (const auto& figure : figures) {
    fmt::print("{} points, seed {}\n\n{}\n", name_of(figure.of), given.sweep.seed, table_of(figure));
    is_wrong = is_wrong || std::ranges::any_of(figure.points, &skyline_measurement::is_wrong);
  }
  fmt::print("* what 'auto' takes\n");
  fmt::print("{}\n",
             is_wrong ? "a result is WRONG: the strategies do not agree" : "All strategies found the same ids.");

  const bool over_rows = columns.size() == 1 && rows.size() > 1;
  const auto base = (folder / fmt::format("skyline-{}", over_rows ? "rows" : "columns")).string();
  write_file(base + ".json", json_of(figures, given));
  const auto fixed =
      over_rows ? fmt::format("{} columns", columns.front()) : fmt::format("{} rows", with_commas(rows.back()));
  if (!over_rows && rows.size() > 1) {
    // one picture has one axis: that of the largest count
    for (auto& figure : figures) {
      std::erase_if(figure.points, [&](const skyline_measurement& one) { return one.rows != rows.back(); });
    }
  }
  write_file(base + "-time.svg", picture_of("Skyline of " + fixed, "seconds (log)", over_rows, figures, lines,
                                            [](const skyline_measurement& one) { return one.seconds; }));
  write_file(base + "-tests.svg",
             picture_of("Skyline of " + fixed, "dominance tests a row (log)", over_rows, figures, lines,
                        [](const skyline_measurement& one) { return for_each_row(one.dominance_tests, one.rows); }));
  fmt::print("numbers: {0}.json\npictures: {0}-time.svg, {0}-tests.svg\n", base);
  return is_wrong ? wrong_results : succeeded;
}

}  // namespace

void add_skyline(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "skyline", "Times every strategy of the skyline on standard points; with --input, the skyline of a table");
  const auto given = std::make_shared<settings>();
  auto& sweep = given->sweep;
  command
      ->add_option("--backend", sweep.backends,
                   "A backend, with settings if need be: cpu, cuda:1, cpu:threads=1,isa=avx2; again for more")
      ->allow_extra_args(false)
      ->delimiter('\0');
  command
      ->add_option("--strategy", sweep.strategies,
                   "bitmap_tiles, skyalign, sfs, salsa, ggs, hybrid and others; again for more")
      ->allow_extra_args(false);

  auto* input = command->add_option("--input", given->query.file, "A CSV file with a header")->group("A table");
  const auto names = [&](const char* option, std::vector<std::string>& into, const char* what) {
    command->add_option(option, into, what)->delimiter(',')->group("A table")->needs(input);
  };
  names("--min", given->query.minimised, "Columns of which less is better: price,distance");
  names("--max", given->query.maximised, "Columns of which more is better");
  names("--different", given->query.different,
        "Columns that group the rows: a skyline for each value, which may be text");
  command->add_flag("--first", given->query.first_of_equal, "Of equal rows only the first")
      ->group("A table")
      ->needs(input);
  command->add_option("--most", given->query.most_rows, "How many rows are printed at most")
      ->group("A table")
      ->needs(input)
      ->capture_default_str();
  command
      ->add_option("--picture", given->query.picture,
                   "A file for an SVG of the rows in the plane of --axes, with layers")
      ->group("A table")
      ->needs(input);
  names("--axes", given->query.axes, "Two of the columns of --min and --max: price,rating");

  command->option_defaults()->always_capture_default();
  const auto study = [&](auto* option) { option->group("The study")->excludes(input); };
  study(command->add_option("--rows", given->rows, "Row counts: 1e6, or 2^14..2^20, which doubles"));
  study(command->add_option("--columns", given->columns, "Column counts, up to 32"));
  study(command
            ->add_option("--correlation", given->correlations,
                         fmt::format("{}; again for more, all by default", fmt::join(correlation_names, ", ")))
            ->check(CLI::IsMember(std::vector<std::string>(correlation_names.begin(), correlation_names.end())))
            ->allow_extra_args(false));
  study(command->add_option("--seed", sweep.seed, "Of the standard generator"));
  study(command->add_option("--repeat", sweep.repeat, "Timed repetitions, their median counts")
            ->check(CLI::Range(1, 1000)));
  study(command
            ->add_option("--time-limit", sweep.time_limit,
                         "Seconds: a strategy that takes longer is left out of larger sets of points")
            ->check(CLI::Range(0.001, 1e6)));
  study(command->add_option("--output", given->output, "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT"));
  command->callback([given, &status] {
    given->query.backends = given->sweep.backends;
    given->query.strategies = given->sweep.strategies;
    status = given->query.file.empty() ? run_study(*given) : print_skyline(given->query);
  });
}

}  // namespace zenith_study

#include <fmt/format.h>

#include <memory>
#include <string>

#include <perf/study/commands.hpp>
#include <perf/study/family_study.hpp>
#include <perf/study/files.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/skyline_file.hpp>
#include <perf/study/skyline_iterations.hpp>
#include <perf/study/skyline_subject.hpp>
#include <perf/study/study_options.hpp>
#include <zenith/skyline.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::skyline_call::operation;

struct settings {
  std::string rows = "2^16";
  std::string columns = "2,4,6,8,10,12,14,16";
  bool iterations = false;
  std::vector<std::string> correlations;
  std::uint32_t seed = 7;
  double time_limit = 5;
  std::string output = default_output();
  sweep_options sweep{.repeat = 3};
  std::string most = std::to_string(skyline_query{}.most_rows);
  skyline_query query;
};

int run_study(const settings& given) {
  const auto rows = parse_counts("--rows", given.rows);
  const auto widths = parse_counts("--columns", given.columns);
  if (widths.front() == 0) reject("--columns has 0, but a skyline has at least 1");
  if (widths.back() > zenith::most_skyline_columns) {
    reject(fmt::format("--columns has {}, but a skyline has at most {}", widths.back(), zenith::most_skyline_columns));
  }
  if (rows.front() == 0 || rows.back() > std::uint64_t{1} << 28) reject("--rows must be from 1 to 2^28");
  const auto folder = output_folder(given.output);
  if (given.iterations) {
    if (rows.size() > 1) reject("--rows has several counts, but --iterations are of one");
    iterations_request asked{rows.front(),           widths, {}, given.seed, given.sweep.repeat, given.sweep.backends,
                             given.sweep.strategies, folder};
    for (std::size_t i = 0; i < correlation_names.size(); ++i) {
      if (is_asked(given.correlations, correlation_names[i])) asked.correlations.push_back(static_cast<correlation>(i));
    }
    return draw_iterations(asked);
  }
  family_study study("skyline", given.sweep, given.time_limit);
  const auto all = study.lines({operation});
  for (std::size_t i = 0; i < correlation_names.size(); ++i) {
    if (!is_asked(given.correlations, correlation_names[i])) continue;
    for (const auto count : rows) {
      for (const auto width : widths) {
        const auto points = make_skyline_input(static_cast<correlation>(i), count, width, given.seed);
        // what is too slow for many columns need not be for few
        study.measure(correlation_names[i], widths.size() > 1 ? count : 0, *points, {operation}, all);
      }
    }
  }

  const auto each_row = [](std::string_view fact) {
    return [fact](const study_row& of) { return of.number(fact) / static_cast<double>(of.at("rows")); };
  };
  const auto tests = each_row("dominance_tests");
  const auto shown = [](const auto& value) {
    return [value](const study_row& of) { return fmt::format("{:.1f}", value(of)); };
  };
  // 0 of tests of tiles, whose work is another measure
  const auto work = [](const study_row& of) {
    zenith::skyline_statistics counted;
    counted.dominance_tests = static_cast<std::uint64_t>(of.number("dominance_tests"));
    counted.mask_tests = static_cast<std::uint64_t>(of.number("mask_tests"));
    if (of.line().strategy == "bitmap_tiles") return 0.0;
    return zenith::skyline_work(counted, static_cast<unsigned>(of.at("columns"))) / static_cast<double>(of.at("rows"));
  };
  const auto columns = study.with_facts({{"dominance tests/row", align::right, shown(tests)},
                                         {"mask tests/row", align::right, shown(each_row("mask_tests"))},
                                         {"work/row", align::right, [&](const study_row& of) {
                                            const double of_a_row = work(of);
                                            return of_a_row > 0 ? fmt::format("{:.1f}", of_a_row) : std::string{"-"};
                                          }}});
  for (const auto kind : correlation_names) {
    if (!is_asked(given.correlations, kind)) continue;
    fmt::print("{} points, seed {}\n\n{}\n", kind, given.seed, study.table_of(kind, columns));
  }
  fmt::print("* what 'auto' takes\n{}",
             study.verdict("All strategies found the same ids.", "a result is WRONG: the strategies do not agree"));

  const bool over_rows = widths.size() == 1 && rows.size() > 1;
  const auto base = (folder / fmt::format("skyline-{}", over_rows ? "rows" : "columns")).string();
  write_file("numbers", base + ".json",
             study.as_json({{"operation", "skyline"}, {"type", "float32"}, {"seed", std::uint64_t{given.seed}}},
                           family_study::common_fields("correlation")));
  const auto heading = "Skyline of " + (over_rows ? fmt::format("{} columns", widths.front())
                                                  : fmt::format("{} rows", with_commas(rows.back())));
  study_chart chart{{}, over_rows ? "rows" : "columns", over_rows ? "rows (log)" : "columns", "seconds (log)"};
  // one picture has one axis: that of the largest count
  chart.shows = [&](const study_row& of) { return over_rows || of.at("rows") == rows.back(); };
  write_file("picture", base + "-time.svg", study.picture_of(heading, study.by_kind(chart)));
  chart.y_label = "dominance tests a row (log)";
  chart.y = tests;
  write_file("picture", base + "-tests.svg", study.picture_of(heading, study.by_kind(chart)));
  chart.y_label = "work a row (log)";
  chart.y = work;
  write_file("picture", base + "-work.svg", study.picture_of(heading, study.by_kind(chart)));
  return study.status();
}

}  // namespace

void add_skyline(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "skyline", "Times every strategy of the skyline on standard points; with --input, the skyline of a table");
  const auto given = std::make_shared<settings>();
  auto& sweep = given->sweep;
  add_lines(*command, sweep.backends, sweep.strategies, "bitmap_tiles, skyalign, sfs, salsa, ggs, hybrid and others");

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
  command->add_option("--most", given->most, "How many rows are printed at most")
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
  study(
      add_kinds(*command, "--correlation", given->correlations, {correlation_names.begin(), correlation_names.end()}));
  study(command->add_flag("--iterations", given->iterations,
                          "Instead: what each iteration prunes, and its time, of 6, 12 and 16 columns (figure 10)"));
  study(add_seed(*command, given->seed, "Of the standard generator"));
  study(add_repeat(*command, sweep.repeat, 1000));
  study(add_time_limit(*command, given->time_limit));
  study(add_output(*command, given->output));
  command->callback([given, command, &status] {
    if (given->query.file.empty()) {
      // those of the paper
      if (given->iterations && command->count("--columns") == 0) given->columns = "6,12,16";
      if (given->iterations && given->correlations.empty()) given->correlations = {"independent", "anticorrelated"};
      status = run_study(*given);
      return;
    }
    given->query.most_rows = parse_count("--most", given->most);
    given->query.line = only_line(given->sweep.backends, given->sweep.strategies);
    status = print_skyline(given->query);
  });
}

}  // namespace zenith_study

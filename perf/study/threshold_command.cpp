#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/family_study.hpp>
#include <perf/study/files.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/study_options.hpp>
#include <perf/study/threshold_building.hpp>
#include <perf/study/threshold_file.hpp>
#include <perf/study/threshold_subject.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::threshold_table_call::operation;

struct settings {
  std::string rows = "2^20";
  std::string weights = "2,4,8";
  std::string k = "4,16,256";
  std::string preferences = "Q0";
  std::vector<std::string> correlations;
  bool partitions = false;
  bool host_memory = false;
  bool building = false;
  std::uint32_t block_rows = 64;
  std::uint32_t seed = 7;
  std::string output = default_output();
  sweep_options sweep{.repeat = 5};
  threshold_query query;
};

// Of each executor the strategies of a table, "auto" unless some are named, and the scan of the columns first.
std::vector<series> lines_of(const settings& given, family_study& study) {
  std::vector<series> all;
  const auto add = [&](series like, std::string_view strategy) {
    like.strategy = strategy;
    like.label = fmt::format("{}/{}", like.executor, strategy);
    all.push_back(std::move(like));
  };
  const auto offered = study.lines({operation, false});
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto& one = offered[i];
    if (i == 0 || offered[i - 1].executor != one.executor) add(one, scan_of_columns);
    all.push_back(one);
    if (i + 1 < offered.size() && offered[i + 1].executor == one.executor) continue;
    if (given.sweep.strategies.empty()) add(one, "auto");
    if (!given.host_memory || !one.resident) continue;
    add(one, blocks_on_host);
    add(one, rows_mapped);
    add(one, columns_on_host);
  }
  return all;
}

// The scan of the columns is what the other lines are compared with, and no line of its own.
void compare_with_scans(sweep& of) {
  std::map<std::pair<std::size_t, std::string>, double> scans;
  const auto key = [&](const measurement& one) { return std::pair{one.point, of.all_series[one.series].executor}; };
  const auto is_scan = [&](const measurement& one) { return of.all_series[one.series].strategy == scan_of_columns; };
  for (const auto& one : of.points) {
    if (is_scan(one)) scans[key(one)] = one.time;
  }
  std::erase_if(of.points, is_scan);
  for (auto& one : of.points) one.seen.numbers["scan_seconds"] = scans[key(one)];
}

// The standard generator draws an anticorrelated point until all of its values lie in the unit cube: of 8 columns 6
// times, of 32 some 900 times, and half as often again for each two more.
constexpr unsigned most_anticorrelated = 32;

std::vector<std::uint64_t> parse_preferences(std::string_view text) {
  std::vector<std::uint64_t> found;
  for (const auto part : split_at_commas(text)) {
    const bool is_known = part.size() == 2 && part[0] == 'Q' && part[1] >= '0' &&
                          static_cast<std::size_t>(part[1] - '0') < preference_vectors.size();
    if (!is_known) reject(fmt::format("--preferences has '{}'; it takes Q0 to Q4, with commas between", part));
    const auto one = static_cast<std::uint64_t>(part[1] - '0');
    if (std::ranges::count(found, one) > 0) reject(fmt::format("--preferences has {} twice", part));
    found.push_back(one);
  }
  return found;
}

int run_study(const settings& given) {
  const auto rows = parse_count("--rows", given.rows);
  const auto weights = parse_counts("--weights", given.weights);
  const auto ks = parse_counts("--k", given.k);
  if (rows == 0 || rows > std::uint64_t{1} << 28) reject("--rows must be from 1 to 2^28");
  if (weights.front() == 0) reject("--weights has 0, but a weighted sum has at least 1 column");
  if (weights.back() > 64) reject(fmt::format("--weights has {}, but a table has at most 64 columns", weights.back()));
  if (ks.front() == 0) reject("--k is 0; there is nothing to time in the best 0");
  if (ks.back() > rows) reject(fmt::format("--k is {}, but --rows is only {}", ks.back(), rows));
  const auto preferences = parse_preferences(given.preferences);
  const auto folder = output_folder(given.output);
  const auto width = static_cast<unsigned>(std::max<std::uint64_t>(8, weights.back()));
  const bool makes_anticorrelated = width <= most_anticorrelated;
  if (!makes_anticorrelated && std::ranges::count(given.correlations, correlation_names.back()) > 0) {
    reject(
        fmt::format("--correlation anticorrelated has points of at most {} columns: of more, the standard generator "
                    "throws nearly all away",
                    most_anticorrelated));
  }
  if (given.building) {
    building_request asked{rows,  width, {}, given.block_rows, given.seed, given.sweep.repeat, given.sweep.backends,
                           folder};
    for (std::size_t i = 0; i < correlation_names.size(); ++i) {
      const bool is_made = makes_anticorrelated || i + 1 < correlation_names.size();
      if (is_made && is_asked(given.correlations, correlation_names[i])) {
        asked.correlations.push_back(static_cast<correlation>(i));
      }
    }
    return draw_building(asked);
  }
  family_study study("threshold", given.sweep);
  const auto lines = lines_of(given, study);
  for (std::size_t i = 0; i < correlation_names.size(); ++i) {
    if (!is_asked(given.correlations, correlation_names[i])) continue;
    if (!makes_anticorrelated && correlation_names[i] == correlation_names.back()) {
      fmt::print("Left out: anticorrelated points, which the standard generator makes of at most {} columns.\n\n",
                 most_anticorrelated);
      continue;
    }
    threshold_input_options asked{static_cast<correlation>(i), rows, width, given.seed, {}, weights, ks, preferences};
    asked.table.block_rows = given.block_rows;
    if (given.partitions) asked.table.layout = zenith::table_layout::partitions;
    double build_seconds = 0;
    const auto table = make_threshold_input(asked, &build_seconds);
    auto& part = study.measure(correlation_names[i], 0, *table, {operation}, lines);
    part.fields = {{"build_seconds", build_seconds}};
    compare_with_scans(part.measured);
  }

  const auto evaluated = [rows](const study_row& of) {
    return 100 * of.number("rows_evaluated") / static_cast<double>(rows);
  };
  const auto columns = study.with_facts(
      {{"scan of the columns", align::right,
        [](const study_row& of) { return format_seconds(of.number("scan_seconds")); }},
       {"times faster", align::right,
        [](const study_row& of) { return fmt::format("{:.2f}", of.number("scan_seconds") / of.first().time); }},
       {"rows evaluated", align::right, [&](const study_row& of) { return fmt::format("{:.3f} %", evaluated(of)); }},
       {"bytes read", align::right,
        [](const study_row& of) { return with_commas(static_cast<std::uint64_t>(of.number("bytes_read"))); }}});
  for (const auto& part : study.parts()) {
    fmt::print("{} rows of {} columns, {}, built in {}\n\n{}\n", with_commas(rows), width, part.kind,
               format_seconds(std::get<double>(part.fields.front().second)), study.table_of(part.kind, columns));
  }
  fmt::print("{}", study.verdict("Every result equals the scan of the columns.",
                                 "a result is WRONG: it is not that of the scan of the columns"));
  const auto base = (folder / "threshold").string();
  write_file("numbers", base + ".json",
             study.as_json({{"operation", "threshold_table"},
                            {"rows", rows},
                            {"type", "float32"},
                            {"layout", given.partitions ? "partitions" : "clusters"},
                            {"block_rows", std::uint64_t{given.block_rows}},
                            {"seed", std::uint64_t{given.seed}}},
                           family_study::common_fields("correlation")));
  const auto heading = fmt::format("Threshold tables of {} rows, k = {}", with_commas(rows), with_commas(ks.front()));
  study_chart chart{{}, "weights", "columns with a weight", "seconds (log)"};
  chart.shows = [&](const study_row& of) {
    return of.at("k") == ks.front() && of.at("preference") == preferences.front();
  };
  write_file("picture", base + "-time.svg", study.picture_of(heading, study.by_kind(chart)));
  chart.y_label = "rows evaluated, % (log)";
  chart.y = evaluated;
  write_file("picture", base + "-rows.svg", study.picture_of(heading, study.by_kind(chart)));
  if (preferences.size() > 1) {
    study_chart by_preference{{}, "preference", "preference vector Q", "seconds (log)"};
    by_preference.shows = [&](const study_row& of) {
      return of.at("k") == ks.front() && of.at("weights") == weights.back();
    };
    write_file("picture", base + "-preferences.svg", study.picture_of(heading, study.by_kind(by_preference)));
  }
  return study.status();
}

}  // namespace

void add_threshold(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "threshold", "Times top-k over weighted sums with a threshold table; with --input, the best rows of a table");
  const auto given = std::make_shared<settings>();
  auto& sweep = given->sweep;
  add_lines(*command, sweep.backends, sweep.strategies, "blocks, scan, gta, gta_shared, full, ta");
  command->add_option("-k,--k", given->k, "How many rows: 16,256 or 4..256 (with --input one number)")
      ->capture_default_str();

  auto* input = command->add_option("--input", given->query.file, "A CSV file with a header")->group("A table");
  command->add_option("--by", given->query.weights, "Columns with their weights: rating=0.7,price=-0.3")
      ->group("A table")
      ->needs(input);

  command->option_defaults()->always_capture_default();
  const auto study = [&](auto* option) { option->group("The study")->excludes(input); };
  study(command->add_option("--rows", given->rows, "How many rows: 2^20, 1e6"));
  const auto* const weights =
      command
          ->add_option("--weights", given->weights,
                       "How many columns have a weight, of 8 or of the most (with --input the same as --by)")
          ->group("The study");
  study(
      add_kinds(*command, "--correlation", given->correlations, {correlation_names.begin(), correlation_names.end()}));
  study(command->add_option("--preferences", given->preferences,
                            "The paper's preference vectors: Q0,Q1,Q2,Q3,Q4; Q0 has equal weights"));
  study(command->add_flag("--building", given->building,
                          "Instead: how long tables take to build, beside one read of their columns (figure 11)"));
  study(command->add_flag("--partitions", given->partitions, "The paper's table: partitions by angle, ordered by sum"));
  study(command->add_flag("--host-memory", given->host_memory,
                          "On GPUs also tables whose rows stay on the host, beside streaming the host's columns"));
  study(command->add_option("--block-rows", given->block_rows, "Rows of a block")->check(CLI::Range(1, 1024)));
  study(add_seed(*command, given->seed, "Of the standard generator"));
  study(add_repeat(*command, sweep.repeat, 100000));
  study(add_output(*command, given->output));
  command->callback([given, command, weights, &status] {
    if (given->query.file.empty()) {
      status = run_study(*given);
      return;
    }
    if (weights->count() > 0) {
      if (!given->query.weights.empty()) reject("--by and --weights both give columns their weights; give one");
      given->query.weights = given->weights;
    }
    given->query.k = k_of_file(*command, given->k);
    given->query.line = only_line(given->sweep.backends, given->sweep.strategies);
    status = print_best_rows(given->query);
  });
}

}  // namespace zenith_study

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/family_study.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/series.hpp>
#include <perf/study/study_options.hpp>
#include <perf/study/threshold_file.hpp>
#include <perf/study/threshold_subject.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::threshold_table_call::operation;

struct settings {
  std::string rows = "2^20";
  std::string weights = "2,4,8";
  std::string k = "4,16,256";
  std::vector<std::string> correlations;
  bool partitions = false;
  bool host_memory = false;
  std::uint32_t block_rows = 64;
  std::uint32_t seed = 7;
  std::string output = default_output();
  sweep_options sweep{.repeat = 5};
  threshold_query query;
};

// Of each executor the strategies of a table, "auto" unless some are named, and the scan of the columns first.
std::vector<series> lines_of(const settings& given) {
  std::vector<std::string> ignored;
  std::vector<series> all;
  const auto add = [&](series like, std::string_view strategy) {
    like.strategy = strategy;
    like.label = fmt::format("{}/{}", like.executor, strategy);
    all.push_back(std::move(like));
  };
  const auto offered = list_series({operation, false, "-"}, given.sweep, ignored);
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto& one = offered[i];
    if (i == 0 || offered[i - 1].executor != one.executor) add(one, scan_of_columns);
    all.push_back(one);
    if (i + 1 < offered.size() && offered[i + 1].executor == one.executor) continue;
    if (given.sweep.strategies.empty()) add(one, "auto");
    if (!given.host_memory || !one.resident) continue;
    add(one, blocks_on_host);
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

int run_study(const settings& given) {
  const auto rows = parse_count("--rows", given.rows);
  const auto weights = parse_counts("--weights", given.weights);
  const auto ks = parse_counts("--k", given.k);
  if (rows == 0 || rows > std::uint64_t{1} << 28) reject("--rows must be from 1 to 2^28");
  if (weights.back() > 64) reject(fmt::format("--weights has {}, but a table has at most 64 columns", weights.back()));
  if (ks.back() > rows) reject(fmt::format("--k is {}, but --rows is only {}", ks.back(), rows));
  const auto folder = output_folder(given.output);
  const auto width = static_cast<unsigned>(std::max<std::uint64_t>(8, weights.back()));
  const auto lines = lines_of(given);
  family_study study("threshold", given.sweep, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < correlation_names.size(); ++i) {
    if (!is_asked(given.correlations, correlation_names[i])) continue;
    threshold_input_options asked{static_cast<correlation>(i), rows, width, given.seed, {}, weights, ks};
    asked.table.block_rows = given.block_rows;
    if (given.partitions) asked.table.layout = zenith::table_layout::partitions;
    double build_seconds = 0;
    const auto table = make_threshold_input(asked, &build_seconds);
    auto& part = study.measure(correlation_names[i], 0, *table, operation, lines);
    part.fields = {{"build_seconds", build_seconds}};
    compare_with_scans(part.measured);
  }

  const auto evaluated = [rows](const study_part&, const measurement& one) {
    return 100 * number(one, "rows_evaluated") / static_cast<double>(rows);
  };
  const std::vector<fact_column> facts{
      {"scan of the columns", [](const auto&, const auto& one) { return format_seconds(number(one, "scan_seconds")); }},
      {"times faster",
       [](const auto&, const auto& one) { return fmt::format("{:.2f}", number(one, "scan_seconds") / one.time); }},
      {"rows evaluated",
       [&](const auto& part, const auto& one) { return fmt::format("{:.3f} %", evaluated(part, one)); }}};
  for (const auto& part : study.parts()) {
    fmt::print("{} rows of {} columns, {}, built in {}\n\n{}\n", with_commas(rows), width, part.kind,
               format_seconds(std::get<double>(part.fields.front().second)), study.table_of(part.kind, facts));
  }
  fmt::print("{}\n", study.is_wrong() ? "a result is WRONG: it is not that of the scan of the columns"
                                      : "Every result equals the scan of the columns.");
  const auto base = (folder / "threshold").string();
  write_file(base + ".json", study.as_json("correlation", {{"operation", "threshold_table"},
                                                           {"rows", rows},
                                                           {"type", "float32"},
                                                           {"layout", given.partitions ? "partitions" : "clusters"},
                                                           {"block_rows", static_cast<std::uint64_t>(given.block_rows)},
                                                           {"seed", static_cast<std::uint64_t>(given.seed)}}));
  const auto draw = [&](const char* name, const char* y_label, const family_study::value_function& value) {
    write_file(
        fmt::format("{}-{}.svg", base, name),
        study.picture_of(fmt::format("Threshold tables of {} rows, k = {}", with_commas(rows), with_commas(ks.front())),
                         {"weights", "columns with a weight", y_label, value,
                          [&](const auto& at) { return value_of(at, "k") == ks.front(); }}));
  };
  draw("time", "seconds (log)", [](const study_part&, const measurement& one) { return seconds_of_point(one); });
  draw("rows", "rows evaluated, % (log)", evaluated);
  fmt::print("numbers: {0}.json\npictures: {0}-time.svg, {0}-rows.svg\n", base);
  return study.is_wrong() ? wrong_results : succeeded;
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
  study(command->add_option("--weights", given->weights, "How many columns have a weight, of 8 or of the most"));
  study(
      add_kinds(*command, "--correlation", given->correlations, {correlation_names.begin(), correlation_names.end()}));
  study(command->add_flag("--partitions", given->partitions, "The paper's table: partitions by angle, ordered by sum"));
  study(command->add_flag("--host-memory", given->host_memory,
                          "On GPUs also tables whose rows stay on the host, beside streaming the host's columns"));
  study(command->add_option("--block-rows", given->block_rows, "Rows of a block")->check(CLI::Range(1, 1024)));
  study(command->add_option("--seed", given->seed, "Of the standard generator"));
  study(command->add_option("--repeat", sweep.repeat, "Timed repetitions, their median counts")
            ->check(CLI::Range(1, 100000)));
  study(add_output(*command, given->output));
  command->callback([given, command, &status] {
    if (given->query.file.empty()) {
      status = run_study(*given);
      return;
    }
    given->query.k = command->count("--k") == 0 ? 10 : parse_count("--k", given->k);
    given->query.backends = given->sweep.backends;
    given->query.strategies = given->sweep.strategies;
    status = print_best_rows(given->query);
  });
}

}  // namespace zenith_study

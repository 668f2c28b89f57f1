#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <perf/study/clock.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/executors.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/progress.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/standard_points.hpp>
#include <perf/study/statistics.hpp>
#include <perf/study/table.hpp>
#include <perf/study/threshold_file.hpp>
#include <zenith/error.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string rows = "2^20";
  std::string weights = "2,4,8";
  std::string k = "4,16,256";
  std::vector<std::string> correlations;
  std::vector<std::string> backends;
  std::vector<std::string> strategies;
  bool partitions = false;
  bool host_memory = false;
  std::uint32_t block_rows = 64;
  std::uint32_t seed = 7;
  int repeat = 5;
  std::string output = default_output();
  threshold_query query;
};

struct measurement {
  std::string label;
  std::string strategy;  ///< that ran: what "auto" chose
  unsigned weights = 0;
  std::uint64_t k = 0;
  double seconds = 0;
  double scan_seconds = 0;  ///< of scored top-k's scan of the columns on the same executor
  std::uint64_t rows_evaluated = 0;
  bool is_wrong = false;
};

struct figure {
  correlation of{};
  double build_seconds = 0;
  std::vector<measurement> points;
};

struct columns_of_points {
  std::vector<std::vector<float>> values;
  zenith::column_set<float> columns;

  columns_of_points(correlation of, std::uint64_t rows, unsigned width, std::uint32_t seed)
      : values(width, std::vector<float>(rows)) {
    const auto points = standard_points(of, rows, width, seed);
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (unsigned j = 0; j < width; ++j) values[j][i] = points[i * width + j];
    }
    for (const auto& column : values) columns.add(column);
  }
};

template <class Call>
double median_seconds(int repeat, const Call& call) {
  call();
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) times.push_back(seconds_of(call));
  return median(times);
}

// Both in one place: on the host, or on the executor's device.
struct place {
  zenith::executor on;
  const zenith::column_set<float>& columns;
  const zenith::threshold_table<float>& table;
  std::vector<zenith::array<float>> there;
  zenith::device_column_set<float> device_columns;
  std::optional<zenith::device_threshold_table<float>> device_table;
  std::optional<zenith::device_threshold_table<float>> directory;  ///< rows stay on the host

  place(const offered_strategy& line, const columns_of_points& points, const zenith::threshold_table<float>& from,
        bool host_memory)
      : on(zenith::make_executor(line.executor)), columns(points.columns), table(from) {
    if (!line.on_device) return;
    device_table.emplace(on, table);
    if (host_memory) directory.emplace(on, table, zenith::table_residence::host_blocks);
    for (const auto& column : points.values) there.emplace_back(on, std::span<const float>(column));
    for (const auto& column : there) device_columns.add(column.device());
  }

  using result = zenith::top_k_result<float, std::uint64_t>;
  result query(std::span<const float> weights, std::uint64_t k, const zenith::table_query_options& options) const {
    return device_table ? zenith::top_k(on, *device_table, weights, k, options)
                        : zenith::top_k(on, table, weights, k, options);
  }
  result query_host_rows(std::span<const float> weights, std::uint64_t k,
                         const zenith::table_query_options& options) const {
    return zenith::top_k(on, *directory, weights, k, options);
  }
  /// Reads all of the host's columns over the link.
  result stream(std::span<const float> weights, std::uint64_t k) const {
    return zenith::top_k(on, columns, weights, k, {.strategy = "scan"});
  }
  void scan(std::span<const float> weights, std::vector<float>& scores, std::vector<std::uint32_t>& rows) const {
    if (!device_table) {
      // the oracle knows no scan
      zenith::top_k(on, columns, weights, scores, rows, {.strategy = on.backend() == "reference" ? "sort" : "scan"});
      return;
    }
    zenith::array<float> device_scores(on, scores.size());
    zenith::array<std::uint32_t> device_rows(on, rows.size());
    zenith::top_k(on, device_columns, weights, device_scores.device(), device_rows.device(), {.strategy = "scan"});
    device_scores.copy_to(scores);
    device_rows.copy_to(rows);
  }
};

// Rows on the host: by blocks that are fetched, and by streaming everything.
void measure_host_memory(const place& at, const std::string& executor, std::span<const float> weights, unsigned used,
                         std::uint64_t k, double scan_seconds, const std::vector<std::uint32_t>& right, int repeat,
                         std::vector<measurement>& points) {
  place::result found;
  zenith::threshold_statistics seen;
  measurement fetched{executor + "/blocks, rows on host", "blocks", used, k, 0, scan_seconds, 0, false};
  fetched.seconds = median_seconds(repeat, [&] { found = at.query_host_rows(weights, k, {.strategy = "blocks"}); });
  fetched.is_wrong = !std::ranges::equal(found.indices, right);
  found = at.query_host_rows(weights, k, {.strategy = "blocks", .statistics = &seen});
  fetched.rows_evaluated = seen.rows_evaluated;
  points.push_back(fetched);
  measurement streamed{executor + "/scan, columns on host", "scan", used, k, 0, scan_seconds, at.columns.rows(), false};
  streamed.seconds = median_seconds(repeat, [&] { found = at.stream(weights, k); });
  streamed.is_wrong = !std::ranges::equal(found.indices, right);
  points.push_back(streamed);
}

measurement measure(const place& at, const std::string& executor, const std::string& strategy,
                    std::span<const float> weights, unsigned used, std::uint64_t k, double scan_seconds,
                    const std::vector<std::uint32_t>& right, int repeat) {
  measurement one;
  one.label = executor + "/" + strategy;
  one.weights = used;
  one.k = k;
  one.scan_seconds = scan_seconds;
  place::result found;
  one.seconds = median_seconds(repeat, [&] { found = at.query(weights, k, {.strategy = strategy}); });
  one.strategy = found.strategy;
  zenith::threshold_statistics seen;
  found = at.query(weights, k, {.strategy = strategy, .statistics = &seen});
  one.rows_evaluated = seen.rows_evaluated;
  one.is_wrong = !std::ranges::equal(found.indices, right);
  return one;
}

figure run_figure(correlation of, std::uint64_t rows, unsigned width, const settings& given,
                  std::span<const std::uint64_t> weight_counts, std::span<const std::uint64_t> ks, progress& bar) {
  figure made{of, 0, {}};
  const columns_of_points points(of, rows, width, given.seed);
  zenith::table_options options;
  options.block_rows = given.block_rows;
  if (given.partitions) options.layout = zenith::table_layout::partitions;
  zenith::threshold_table<float> table;
  made.build_seconds = seconds_of([&] { table = zenith::threshold_table<float>::build(points.columns, options); });
  const auto offered = offered_strategies(zenith::threshold_table_call::operation, given.backends, given.strategies);
  for (std::size_t first = 0; first < offered.size();) {
    const auto& executor = offered[first].executor;
    std::vector<std::string> strategies;
    for (; first < offered.size() && offered[first].executor == executor; ++first) {
      strategies.push_back(offered[first].strategy);
    }
    if (given.strategies.empty()) strategies.emplace_back("auto");
    const place at(offered[first - 1], points, table, given.host_memory);
    for (const auto used : weight_counts) {
      std::vector<float> weights(width);
      std::fill_n(weights.begin(), used, 1.0F);
      for (const auto k : ks) {
        bar.show(0, fmt::format("{}, {}, {} weights, k = {}", correlation_names[static_cast<std::size_t>(of)], executor,
                                used, k));
        std::vector<float> scores(k);
        std::vector<std::uint32_t> right(k);
        const double scan = median_seconds(given.repeat, [&] { at.scan(weights, scores, right); });
        for (const auto& strategy : strategies) {
          made.points.push_back(
              measure(at, executor, strategy, weights, static_cast<unsigned>(used), k, scan, right, given.repeat));
        }
        if (at.directory) {
          measure_host_memory(at, executor, weights, static_cast<unsigned>(used), k, scan, right, given.repeat,
                              made.points);
        }
      }
    }
  }
  return made;
}

std::string table_of(const figure& of, std::uint64_t rows) {
  table shown({{"weights"},
               {"k"},
               {"strategy", align::left},
               {"", align::left},
               {"time"},
               {"scan of the columns"},
               {"times faster"},
               {"rows evaluated"}});
  for (const auto& one : of.points) {
    const bool first = &one == &of.points.front() || (&one - 1)->weights != one.weights || (&one - 1)->k != one.k;
    if (first && &one != &of.points.front()) shown.add_gap();
    const auto ran = one.label.ends_with("/auto") ? fmt::format("{} ({})", one.label, one.strategy) : one.label;
    shown.add({first ? std::to_string(one.weights) : "", first ? with_commas(one.k) : "", ran,
               one.is_wrong ? "WRONG" : "", format_seconds(one.seconds), format_seconds(one.scan_seconds),
               fmt::format("{:.2f}", one.scan_seconds / one.seconds),
               fmt::format("{:.3f} %", 100 * static_cast<double>(one.rows_evaluated) / static_cast<double>(rows))});
  }
  return shown.text();
}

std::string json_of(const std::vector<figure>& figures, std::uint64_t rows, const settings& given) {
  using nlohmann::json;
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["problem"] = {{"operation", "threshold_table"},
                    {"rows", rows},
                    {"type", "float32"},
                    {"layout", given.partitions ? "partitions" : "clusters"},
                    {"block_rows", given.block_rows},
                    {"seed", given.seed}};
  all["points"] = json::array();
  for (const auto& figure : figures) {
    for (const auto& one : figure.points) {
      all["points"].push_back({{"correlation", correlation_names[static_cast<std::size_t>(figure.of)]},
                               {"weights", one.weights},
                               {"k", one.k},
                               {"strategy", one.label},
                               {"ran", one.strategy},
                               {"seconds", one.seconds},
                               {"scan_seconds", one.scan_seconds},
                               {"rows_evaluated", one.rows_evaluated},
                               {"build_seconds", figure.build_seconds},
                               {"result", one.is_wrong ? "wrong" : "measured"}});
    }
  }
  return all.dump(1) + "\n";
}

// A chart a correlation: `value` over the weights, for the first k.
template <class Value>
std::string picture_of(const std::vector<figure>& figures, const std::string& heading, const std::string& y_label,
                       const Value& value) {
  std::vector<std::string> labels;
  for (const auto& one : figures.front().points) {
    if (std::ranges::find(labels, one.label) == labels.end()) labels.push_back(one.label);
  }
  std::vector<line_chart> charts;
  for (const auto& figure : figures) {
    const auto k = figure.points.front().k;
    line_chart chart{std::string{correlation_names[static_cast<std::size_t>(figure.of)]},
                     "columns with a weight",
                     y_label,
                     false,
                     true,
                     {}};
    for (const auto& label : labels) {
      line_chart::line drawn{label, {}};
      for (const auto& one : figure.points) {
        if (one.label == label && one.k == k && value(one) > 0) drawn.points.emplace_back(one.weights, value(one));
      }
      chart.lines.push_back(std::move(drawn));
    }
    charts.push_back(std::move(chart));
  }
  return as_svg(heading, charts);
}

int run_study(const settings& given) {
  const auto rows = parse_count("--rows", given.rows);
  const auto weight_counts = parse_counts("--weights", given.weights);
  const auto ks = parse_counts("--k", given.k);
  const auto refuse = [](const std::string& why) { throw zenith::error(zenith::error_code::invalid_argument, why); };
  if (rows == 0 || rows > std::uint64_t{1} << 28) refuse("--rows must be from 1 to 2^28");
  if (weight_counts.back() > 64)
    refuse(fmt::format("--weights has {}, but a table has at most 64 columns", weight_counts.back()));
  if (ks.back() > rows) refuse(fmt::format("--k is {}, but --rows is only {}", ks.back(), rows));
  const auto folder = output_folder(given.output);
  const auto width = static_cast<unsigned>(std::max<std::uint64_t>(8, weight_counts.back()));
  std::vector<figure> figures;
  {
    progress bar("threshold");
    for (std::size_t i = 0; i < correlation_names.size(); ++i) {
      if (!given.correlations.empty() &&
          std::ranges::find(given.correlations, correlation_names[i]) == given.correlations.end()) {
        continue;
      }
      figures.push_back(run_figure(static_cast<correlation>(i), rows, width, given, weight_counts, ks, bar));
    }
  }
  bool is_wrong = false;
  for (const auto& figure : figures) {
    fmt::print("{} rows of {} columns, {}, built in {}\n\n{}\n", with_commas(rows), width,
               correlation_names[static_cast<std::size_t>(figure.of)], format_seconds(figure.build_seconds),
               table_of(figure, rows));
    is_wrong = is_wrong || std::ranges::any_of(figure.points, &measurement::is_wrong);
  }
  fmt::print("{}\n", is_wrong ? "a result is WRONG: it is not that of the scan of the columns"
                              : "Every result equals the scan of the columns.");
  const auto base = (folder / "threshold").string();
  write_file(base + ".json", json_of(figures, rows, given));
  const auto heading = fmt::format("Threshold tables of {} rows, k = {}", with_commas(rows), with_commas(ks.front()));
  write_file(base + "-time.svg",
             picture_of(figures, heading, "seconds (log)", [](const measurement& one) { return one.seconds; }));
  write_file(base + "-rows.svg", picture_of(figures, heading, "rows evaluated, % (log)", [&](const measurement& one) {
               return 100 * static_cast<double>(one.rows_evaluated) / static_cast<double>(rows);
             }));
  fmt::print("numbers: {0}.json\npictures: {0}-time.svg, {0}-rows.svg\n", base);
  return is_wrong ? wrong_results : succeeded;
}

}  // namespace

void add_threshold(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "threshold", "Times top-k over weighted sums with a threshold table; with --input, the best rows of a table");
  const auto given = std::make_shared<settings>();
  command
      ->add_option("--backend", given->backends,
                   "A backend, with settings if need be: cpu, cuda:1, cpu:threads=1,isa=avx2; again for more")
      ->allow_extra_args(false)
      ->delimiter('\0');
  command->add_option("--strategy", given->strategies, "blocks, scan, gta, gta_shared, full, ta; again for more")
      ->allow_extra_args(false);
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
  study(command
            ->add_option("--correlation", given->correlations,
                         fmt::format("{}; again for more, all by default", fmt::join(correlation_names, ", ")))
            ->check(CLI::IsMember(std::vector<std::string>(correlation_names.begin(), correlation_names.end())))
            ->allow_extra_args(false));
  study(command->add_flag("--partitions", given->partitions, "The paper's table: partitions by angle, ordered by sum"));
  study(command->add_flag("--host-memory", given->host_memory,
                          "On GPUs also tables whose rows stay on the host, beside streaming the host's columns"));
  study(command->add_option("--block-rows", given->block_rows, "Rows of a block")->check(CLI::Range(1, 1024)));
  study(command->add_option("--seed", given->seed, "Of the standard generator"));
  study(command->add_option("--repeat", given->repeat, "Timed repetitions, their median counts")
            ->check(CLI::Range(1, 100000)));
  study(command->add_option("--output", given->output, "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT"));
  command->callback([given, command, &status] {
    if (given->query.file.empty()) {
      status = run_study(*given);
      return;
    }
    given->query.k = command->count("--k") == 0 ? 10 : parse_count("--k", given->k);
    given->query.backends = given->backends;
    given->query.strategies = given->strategies;
    status = print_best_rows(given->query);
  });
}

}  // namespace zenith_study

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/key_type_name.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/report.hpp>
#include <perf/study/study_options.hpp>
#include <perf/study/top_k_file.hpp>
#include <perf/study/top_k_study.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string count = "2^26";
  std::string k;
  std::string type = "float32";
  std::string values = "uniform";
  std::string output = default_output();
  std::string input;
  std::string column;
  top_k_input_options keys;
  sweep_options sweep{.budget = 90};
};

int run_study(const settings& given) {
  auto keys = given.keys;
  keys.count = parse_count("--count", given.count);
  keys.ks = parse_counts("--k", given.k.empty() ? "1..1024" : given.k);
  if (given.k.empty()) std::erase_if(keys.ks, [&](std::uint64_t k) { return k > keys.count; });
  if (keys.ks.empty()) keys.ks.push_back(1);
  keys.type = parse_key_type("--type", given.type);
  keys.threads = given.sweep.threads;
  const auto names = distribution_names();
  keys.values = static_cast<distribution>(std::ranges::find(names, given.values) - names.begin());

  const auto folder = output_folder(given.output);
  const auto base =
      (folder / fmt::format("top-k-{}-{}-{}{}", given.type, given.values, keys.count, keys.smallest ? "-smallest" : ""))
          .string();
  const auto study = [&] {
    progress shown("top-k");
    return run_top_k_study(keys, given.sweep, shown);
  }();
  write_file(base + ".json", as_json(study));
  write_file(base + ".svg", as_svg(study));
  fmt::print("{0}\nnumbers: {1}.json\npicture: {1}.svg\n", as_table(study), base);
  if (has(study.measured, outcome::wrong)) return wrong_results;
  return has(study.measured, outcome::measured) ? succeeded : failed_run;
}

int run_file(const settings& given) {
  file_query query;
  query.file = given.input;
  query.column = given.column;
  query.k = given.k.empty() ? 10 : parse_count("--k", given.k);
  query.smallest = given.keys.smallest;
  query.threads = given.sweep.threads;
  query.backend = only("--backend", given.sweep.backends);
  query.strategy = only("--strategy", given.sweep.strategies);
  return query_file(query);
}

}  // namespace

void add_top_k(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("top-k", "Times every backend and strategy over k; with --input, the best rows of a table");
  const auto given = std::make_shared<settings>();
  auto& sweep = given->sweep;
  const auto names = distribution_names();
  command->add_option(
      "-k,--k", given->k,
      "Numbers, or a range that doubles: 16,1000 or 1..1024 (the default; with --input one number, 10)");
  command->add_flag("--smallest", given->keys.smallest, "The smallest keys instead of the largest");
  add_lines(*command, sweep.backends, sweep.strategies, "A strategy: filter, bitonic");
  command->add_option("--threads", sweep.threads, "Host threads; 0: all")->check(CLI::Range(0, 4096));

  auto* input =
      command
          ->add_option("--input", given->input, "A table to rank instead of random values: CSV with a header, or .npy")
          ->group("A table from a file");
  auto* column = command
                     ->add_option("--column", given->column,
                                  "The column to rank by: its name, or its number from 0 in a .npy matrix")
                     ->group("A table from a file");
  column->needs(input);

  command->option_defaults()->always_capture_default();
  const auto study = [&](auto* option) { option->group("The study")->excludes(input); };
  study(command->add_option("--count", given->count, "How many values: 2^26, 64M, 64Mi, 1e6"));
  study(command->add_option("--type", given->type, "float32, float64, int32, uint32, int64 or uint64"));
  study(command->add_option("--distribution", given->values, fmt::format("{}", fmt::join(names, ", ")))
            ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end()))));
  study(command->add_option("--seed", given->keys.seed, "Of the random values")->check(CLI::NonNegativeNumber));
  study(command->add_option("--repeat", sweep.repeat, "Timed repetitions of each point, their median counts")
            ->check(CLI::Range(1, 100000)));
  study(command->add_option("--budget", sweep.budget, "Seconds for all timed calls; slow lines are thinned to fit")
            ->check(CLI::Range(0.1, 1e6)));
  study(add_output(*command, given->output));
  command->callback([given, &status] { status = given->input.empty() ? run_study(*given) : run_file(*given); });
}

}  // namespace zenith_study

#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/pack_study.hpp>
#include <perf/study/packed_data.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/study_options.hpp>

namespace zenith_study {
namespace {

struct settings : pack_options {
  settings() { output = default_output(); }
  std::string count_text = "2^22";
};

}  // namespace

void add_pack(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "pack", "Packs columns in every encoding: bits, aggregation and decompression; with --input, those of a table");
  const auto given = std::make_shared<settings>();
  const auto names = packed_figure_names();
  auto* input = command->add_option("--input", given->input, "A CSV file with a header: packs each numeric column");
  add_backends(*command, given->backends);
  add_kinds(*command, "--figure", given->figures, {names.begin(), names.end()})->excludes(input);
  command->option_defaults()->always_capture_default();
  command->add_option("--count", given->count_text, "How many values a column has: 2^26, 64M, 64Mi")->excludes(input);
  command->add_option("--seed", given->seed, "Of the random values")->check(CLI::NonNegativeNumber)->excludes(input);
  command->add_option("--time-limit", given->time_limit, "Seconds that one time may take to measure")
      ->check(CLI::Range(0.001, 100.0));
  add_output(*command, given->output)->excludes(input);
  command->callback([given, &status] {
    given->count = given->input.empty() ? parse_count("--count", given->count_text) : 0;
    status = given->input.empty() ? draw_packed_figures(*given) : pack_file(*given);
  });
}

}  // namespace zenith_study

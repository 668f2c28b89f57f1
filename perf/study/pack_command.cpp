#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/pack_study.hpp>
#include <perf/study/packed_data.hpp>
#include <perf/study/quantity.hpp>

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
  command
      ->add_option("--backend", given->backends,
                   "A backend, with settings if need be: cpu, cuda:1, cpu:threads=1,isa=avx2; again for more")
      ->allow_extra_args(false)
      ->delimiter('\0');
  command
      ->add_option("--figure", given->figures,
                   fmt::format("{}; again for more, all by default", fmt::join(names, ", ")))
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())))
      ->allow_extra_args(false)
      ->excludes(input);
  command->option_defaults()->always_capture_default();
  command->add_option("--count", given->count_text, "How many values a column has: 2^26, 64M, 64Mi")->excludes(input);
  command->add_option("--seed", given->seed, "Of the random values")->check(CLI::NonNegativeNumber)->excludes(input);
  command->add_option("--time-limit", given->time_limit, "Seconds that one time may take to measure")
      ->check(CLI::Range(0.001, 100.0));
  command->add_option("--output", given->output, "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT")
      ->excludes(input);
  command->callback([given, &status] {
    given->count = given->input.empty() ? parse_count("--count", given->count_text) : 0;
    status = given->input.empty() ? draw_packed_figures(*given) : pack_file(*given);
  });
}

}  // namespace zenith_study

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/skyline_file.hpp>
#include <perf/study/skyline_study.hpp>
#include <zenith/error.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string rows = "2^16";
  std::string columns = "2,4,6,8,10,12,14,16";
  std::vector<std::string> correlations;
  skyline_study_options study{.output = default_output()};
  skyline_query query;
};

int run_study(const settings& given) {
  const auto refuse = [](const std::string& why) { throw zenith::error(zenith::error_code::invalid_argument, why); };
  auto study = given.study;
  study.rows = parse_counts("--rows", given.rows);
  study.columns = parse_counts("--columns", given.columns);
  if (study.columns.back() > zenith::most_skyline_columns) {
    refuse(fmt::format("--columns has {}, but a skyline has at most {}", study.columns.back(),
                       zenith::most_skyline_columns));
  }
  if (study.rows.back() > std::uint64_t{1} << 28) refuse("--rows must be at most 2^28");
  for (std::size_t i = 0; i < correlation_names.size(); ++i) {
    if (given.correlations.empty() ||
        std::ranges::find(given.correlations, correlation_names[i]) != given.correlations.end()) {
      study.correlations.push_back(static_cast<correlation>(i));
    }
  }
  return run_skyline_study(study);
}

}  // namespace

void add_skyline(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "skyline", "Times every strategy of the skyline on standard points; with --input, the skyline of a table");
  const auto given = std::make_shared<settings>();
  auto& sweep = given->study.sweep;
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
  study(command->add_option("--seed", given->study.seed, "Of the standard generator"));
  study(command->add_option("--repeat", sweep.repeat, "Timed repetitions, their median counts")
            ->check(CLI::Range(1, 1000)));
  study(command
            ->add_option("--time-limit", given->study.time_limit,
                         "Seconds: a strategy that takes longer is left out of larger sets of points")
            ->check(CLI::Range(0.001, 1e6)));
  study(command->add_option("--output", given->study.output,
                            "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT"));
  command->callback([given, &status] {
    given->query.backends = given->study.sweep.backends;
    given->query.strategies = given->study.sweep.strategies;
    status = given->query.file.empty() ? run_study(*given) : print_skyline(given->query);
  });
}

}  // namespace zenith_study

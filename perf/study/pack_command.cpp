#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/files.hpp>
#include <perf/study/pack_study.hpp>
#include <perf/study/packed_data.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/study_options.hpp>

namespace zenith_study {
namespace {

struct settings : pack_options {
  std::vector<std::string> figures;
  std::string count = "2^22";
  std::uint64_t seed = 1;
  std::string output = default_output();
};

// A figure of chapter 5: a column for each value along its axis.
int draw_figure(const settings& given, packed_figure of, std::uint64_t count, const std::string& folder) {
  const std::string name{to_string(of)};
  const std::string axis{axis_of(of)};
  pack_study study("pack, " + name, given.backends, given.time_limit);
  for (const double parameter : parameters_of(of, count)) {
    study.measure_column(name, packed_column_of(of, parameter, count, given.seed), {{axis, parameter}});
  }
  const auto nanoseconds = [=](double seconds) { return seconds / static_cast<double>(count) * 1e9; };
  fmt::print("{} int32 values, {}\n{}\n* the smallest, which automatic takes\n{}", with_commas(count), name,
             study.table_of(name, study.columns(", ns/value",
                                                [&](const study_row&, double seconds) {
                                                  return fmt::format("{:.3f}", nanoseconds(seconds));
                                                })),
             study.faults());
  const auto base = fmt::format("{}/pack-{}-{}", folder, name, count);
  write_file("numbers", base + ".json",
             study.as_json(
                 {{"operation", "pack"}, {"figure", name}, {"count", count}, {"type", "int32"}, {"seed", given.seed}},
                 [](const study_row& row) -> json_fields {
                   return {{"executor", row.line().executor},
                           {"bits_per_value", row.number("bits_per_value")},
                           {"sum_seconds", row.seconds(0)},
                           {"sum_predicted_seconds", optional_number(row.operations[0].predicted)},
                           {"unpack_seconds", row.seconds(1)},
                           {"unpack_predicted_seconds", optional_number(row.operations[1].predicted)},
                           {"smallest", row.number("smallest") == 1}};
                 }));
  const bool is_log = of == packed_figure::sorted || of == packed_figure::normal;
  for (const auto& one : study.all()) {
    study_chart size{"Size", axis, axis + (is_log ? " (log)" : ""), "bits a value"};
    size.y = [](const study_row& row) { return row.number("bits_per_value"); };
    size.shows = [&](const study_row& row) { return row.line().executor == one.executor; };
    size.name = [](const study_row& row) { return row.coordinates().back().text; };
    std::vector charts{size};
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      auto& chart = charts.emplace_back(size);
      chart.title = i == 0 ? "Aggregation" : "Decompression";
      chart.y_label = "ns a value (log); dashed: predicted";
      chart.y = [=](const study_row& row) { return nanoseconds(row.seconds(i)); };
      chart.predicted = [=](const study_row& row) { return nanoseconds(row.operations[i].predicted.value_or(0)); };
    }
    auto plain_name = one.executor;
    std::ranges::replace_if(
        plain_name, [](char c) { return c == ':' || c == ',' || c == '='; }, '-');
    write_file(
        "picture", fmt::format("{}-{}.svg", base, plain_name),
        study.picture_of(
            fmt::format("Packed columns on {}: {}, {} int32 values", one.executor, name, with_commas(count)), charts));
  }
  fmt::print("\n");
  return study.status();
}

int draw_figures(const settings& given) {
  const auto count = parse_count("--count", given.count);
  if (count == 0 || count > (std::uint64_t{1} << 30)) reject("--count must be from 1 to 2^30");
  const auto folder = output_folder(given.output).string();
  int status = succeeded;
  const auto names = packed_figure_names();
  for (std::size_t f = 0; f < names.size(); ++f) {
    if (!is_asked(given.figures, names[f])) continue;
    status = std::max(status, draw_figure(given, static_cast<packed_figure>(f), count, folder));
  }
  return status;
}

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
  command->add_option("--count", given->count, "How many values a column has: 2^26, 64M, 64Mi")->excludes(input);
  add_seed(*command, given->seed, "Of the random values")->excludes(input);
  command->add_option("--time-limit", given->time_limit, "Seconds that one time may take to measure")
      ->check(finite_from_0() & CLI::Range(0.001, 100.0));
  add_output(*command, given->output)->excludes(input);
  command->callback([given, &status] { status = given->input.empty() ? draw_figures(*given) : pack_file(*given); });
}

}  // namespace zenith_study

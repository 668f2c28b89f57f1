#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/family_study.hpp>
#include <perf/study/files.hpp>
#include <perf/study/key_type_name.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/study_options.hpp>
#include <perf/study/top_k_file.hpp>
#include <perf/study/top_k_subject.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string count = "2^26";
  std::string k;
  std::string type = "float32";
  std::string values = "uniform";
  std::string output = default_output();
  top_k_input_options keys;
  sweep_options sweep{.budget = 90};
  file_query query;
};

// The reference sorts all positions: beyond this count it would take the whole time of the study.
constexpr std::uint64_t reference_limit = std::uint64_t{1} << 20;

top_k_input_options keys_of(const settings& given) {
  auto keys = given.keys;
  keys.count = parse_count("--count", given.count);
  keys.ks = parse_counts("--k", given.k.empty() ? "1..1024" : given.k);
  if (given.k.empty()) std::erase_if(keys.ks, [&](std::uint64_t k) { return k > keys.count; });
  if (keys.ks.empty()) keys.ks.push_back(1);
  keys.type = parse_key_type("--type", given.type);
  keys.threads = given.sweep.threads;
  const auto names = distribution_names();
  keys.values = static_cast<distribution>(std::ranges::find(names, given.values) - names.begin());
  if (keys.count == 0 || keys.count > (std::uint64_t{1} << 32)) {
    reject(fmt::format("--count is {}; it must be from 1 to 2^32", with_commas(keys.count)));
  }
  if (keys.ks.front() == 0) reject("--k is 0; there is nothing to time in the best 0");
  if (keys.ks.back() > keys.count) {
    reject(fmt::format("--k is {}, but --count is only {}", with_commas(keys.ks.back()), with_commas(keys.count)));
  }
  return keys;
}

// Of each line its floor and its details, and what was left out.
std::string explain(const family_study& study) {
  std::string text;
  std::map<std::string, std::vector<std::string>> floors;
  const auto& all = study.parts().front().measured.all_series;
  for (const auto& one : all) {
    floors[one.floor_seconds > 0 ? fmt::format("{} = {}", format_seconds(one.floor_seconds), one.floor_origin)
                                 : "not measured"]
        .push_back(one.label);
  }
  for (const auto& [line, labels] : floors) text += fmt::format("floor of {}: {}\n", fmt::join(labels, ", "), line);
  for (const auto& one : all)
    text += fmt::format("{}: {}\n", one.label, one.detail.empty() ? "no details" : one.detail);
  for (const auto& note : study.notes()) text += note + "\n";
  return text;
}

study_columns columns_of(const family_study& study, double bytes) {
  // of a time that was measured
  const auto measured = [](std::function<std::string(const study_row&)> text) {
    return [text = std::move(text)](const study_row& of) { return of.seconds() > 0 ? text(of) : "-"; };
  };
  auto columns = study.question_columns();
  columns.push_back({"backend/strategy", align::left, label_cell});
  columns.push_back({"", align::left, mark_cell});
  columns.push_back({"time", align::right, time_cell});
  columns.push_back({"GB/s", align::right,
                     measured([=](const study_row& of) { return fmt::format("{:.1f}", bytes / of.seconds() / 1e9); })});
  columns.push_back({"of floor", align::right, measured([](const study_row& of) {
                       const double floor = of.line().floor_seconds;
                       return floor > 0 ? fmt::format("{:.0f} %", floor / of.seconds() * 100) : "-";
                     })});
  columns.push_back({"predicted", align::right, predicted_cell});
  columns.push_back({"deviation", align::right, measured([](const study_row& of) {
                       const auto& predicted = of.first().predicted;
                       return predicted ? fmt::format("{:+.0f} %", (of.seconds() / *predicted - 1) * 100) : "-";
                     })});
  columns.push_back({"", align::left, [](const study_row& of) { return of.first().note; }});
  return columns;
}

json_fields numbers_of(const study_row& of) {
  const auto& one = of.first();
  const auto& line = of.line();
  const auto known = [](double seconds) {
    return optional_number(seconds > 0 ? std::optional{seconds} : std::nullopt);
  };
  return {{"backend", std::string{line.on.backend()}},
          {"strategy", line.strategy},
          {"label", line.label},
          {"executor", line.executor},
          {"data", line.resident ? "device" : "host"},
          {"detail", line.detail},
          {"variant", one.seen.variant},
          {"seconds", one.seconds},
          {"floor", known(line.floor_seconds)},
          {"predicted", optional_number(one.predicted)},
          {"median", known(of.seconds())}};
}

int run_study(const settings& given) {
  const auto keys = keys_of(given);
  const auto folder = output_folder(given.output);
  family_study study("top-k", given.sweep);
  const auto why = keys.count <= reference_limit
                       ? std::string{}
                       : fmt::format("it sorts everything, which takes too long for more than {} items",
                                     with_commas(reference_limit));
  constexpr auto operation = zenith::top_k_call::operation;
  const auto lines = study.lines({.operation = operation, .why_no_reference = why});
  study.announce(fmt::format("generating {} {} values, {}", with_commas(keys.count), given.type, given.values));
  study.measure({}, 0, *make_top_k_input(keys), {operation}, lines);

  const char* const select = keys.smallest ? "smallest" : "largest";
  const auto what = fmt::format(
      "{} {} values, {}, the {}",
      std::has_single_bit(keys.count) ? fmt::format("2^{}", std::countr_zero(keys.count)) : with_commas(keys.count),
      zenith::to_string(keys.type), given.values, select);
  const auto columns = columns_of(study, static_cast<double>(keys.count * zenith::size_of(keys.type)));
  fmt::print(
      "Top-k over {}\n\n{}\n* what zenith::decide chooses; of floor: one read of the data, as a share of the time; "
      "deviation: of the time from the prediction\n{}{}\n",
      what, study.table_of({}, columns), explain(study),
      study.verdict("Every result equals a selection by the standard library, bit by bit.",
                    "WRONG RESULTS: see the lines marked wrong; they were not timed."));
  const auto base =
      (folder / fmt::format("top-k-{}-{}-{}{}", given.type, given.values, keys.count, keys.smallest ? "-smallest" : ""))
          .string();
  write_file("numbers", base + ".json",
             study.as_json({{"operation", "top_k"},
                            {"count", keys.count},
                            {"type", std::string{zenith::to_string(keys.type)}},
                            {"distribution", given.values},
                            {"select", select},
                            {"seed", keys.seed},
                            {"repeat", static_cast<std::uint64_t>(given.sweep.repeat)}},
                           numbers_of));
  study_chart chart{what, "k", "k (log)", "seconds (log); dashed: predicted, ring: the dispatcher's choice"};
  chart.predicted = [](const study_row& of) { return of.first().predicted.value_or(0); };
  chart.rings_choice = true;
  write_file("picture", base + ".svg", study.picture_of("Top-k: time over k", {chart}));
  return study.status();
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

  auto* input = command
                    ->add_option("--input", given->query.file,
                                 "A table to rank instead of random values: CSV with a header, or .npy")
                    ->group("A table from a file");
  auto* column = command
                     ->add_option("--column", given->query.column,
                                  "The column to rank by: its name, or its number from 0 in a .npy matrix")
                     ->group("A table from a file");
  column->needs(input);

  command->option_defaults()->always_capture_default();
  const auto study = [&](auto* option) { option->group("The study")->excludes(input); };
  study(command->add_option("--count", given->count, "How many values: 2^26, 64M, 64Mi, 1e6"));
  study(command->add_option("--type", given->type, "float32, float64, int32, uint32, int64 or uint64"));
  study(command->add_option("--distribution", given->values, fmt::format("{}", fmt::join(names, ", ")))
            ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end()))));
  study(add_seed(*command, given->keys.seed, "Of the random values"));
  study(add_repeat(*command, sweep.repeat, 100000, "Timed repetitions of each point"));
  study(command->add_option("--budget", sweep.budget, "Seconds for all timed calls; slow lines are thinned to fit")
            ->check(CLI::Range(0.1, 1e6)));
  study(add_output(*command, given->output));
  command->callback([given, command, &status] {
    auto& query = given->query;
    if (query.file.empty()) {
      status = run_study(*given);
      return;
    }
    query.k = k_of_file(*command, given->k);
    query.smallest = given->keys.smallest;
    query.threads = given->sweep.threads;
    query.line = only_line(given->sweep.backends, given->sweep.strategies);
    status = query_file(query);
  });
}

}  // namespace zenith_study

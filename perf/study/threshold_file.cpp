#include <perf/study/threshold_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <perf/study/clock.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/csv.hpp>
#include <perf/study/files.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/table.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith_study {
namespace {

struct weighted_column {
  std::string name;
  double weight = 0;
};

std::vector<weighted_column> parse_weights(std::string_view text) {
  std::vector<weighted_column> found;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto equals = part.rfind('=');
    if (equals == std::string_view::npos || equals == 0) {
      reject(fmt::format("--by has '{}'; it takes column=weight, with commas between", part));
    }
    const auto number = part.substr(equals + 1);
    weighted_column one{std::string{part.substr(0, equals)}};
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), one.weight);
    if (fault != std::errc{} || end != number.data() + number.size()) {
      reject(fmt::format("--by: the weight of '{}' is '{}', which is no number", one.name, number));
    }
    found.push_back(std::move(one));
  }
  if (found.empty()) reject("--by names no column: give column=weight, with commas between");
  return found;
}

}  // namespace

int print_best_rows(const threshold_query& query) {
  const auto asked = parse_weights(query.weights);
  const auto on = zenith::make_executor(query.line.backend);
  std::string text;
  const double reading = seconds_of([&] { text = read_input_file(query.file); });
  csv_table parsed;
  std::vector<std::vector<double>> columns;
  std::vector<double> weights;
  const double parsing = seconds_of([&] {
    parsed = parse_csv(text);
    for (const auto& one : asked) {
      columns.push_back(read_doubles(parsed, one.name, "--by"));
      weights.push_back(one.weight);
    }
  });
  if (query.k > parsed.rows()) {
    reject(fmt::format("--k is {}, but {} has only {} rows", with_commas(query.k), query.file,
                       with_commas(parsed.rows())));
  }
  zenith::column_set<double> values;
  for (const auto& column : columns) values.add(column);
  zenith::threshold_table<double> built;
  const double building = seconds_of([&] { built = zenith::threshold_table<double>::build(values); });
  static_cast<void>(zenith::machine::local());  // the profile is read before the clock starts
  zenith::top_k_result<double, std::uint64_t> best;
  zenith::threshold_statistics seen;
  const double taken = seconds_of([&] {
    best = zenith::top_k(on, built, weights, query.k, {.strategy = query.line.strategy, .statistics = &seen});
  });

  table shown({{"rank"}, {"row"}, {"score"}}, parsed.columns());
  for (std::size_t i = 0; i < best.keys.size(); ++i) {
    const bool is_missing = best.keys[i] != best.keys[i];
    shown.add({is_missing ? "missing" : std::to_string(i + 1), with_commas(best.indices[i] + 1),
               is_missing ? "" : fmt::format("{:g}", best.keys[i])},
              parsed.row(best.indices[i]));
  }
  fmt::print("{}\n{} rows; the {} best by {}\n", shown.text(), with_commas(parsed.rows()), with_commas(query.k),
             query.weights);
  fmt::print("read    {:>9}  from {}\nparse   {:>9}\nbuild   {:>9}\nquery   {:>9}  {} on {}, {} rows evaluated\n",
             format_seconds(reading), query.file, format_seconds(parsing), format_seconds(building),
             format_seconds(taken), best.strategy, best.backend, with_commas(seen.rows_evaluated));
  return succeeded;
}

}  // namespace zenith_study

#include <perf/study/top_k_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <perf/study/clock.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/csv.hpp>
#include <perf/study/files.hpp>
#include <perf/study/npy.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/table.hpp>
#include <zenith/top_k.hpp>

namespace zenith_study {
namespace {

// A column to rank by, and the rows that it stands in. Refers to the text of the file.
struct ranking_input {
  npy_values keys;
  std::vector<std::uint32_t> rows;  // of each key; empty when key i stands in row i
  std::size_t missing = 0;          // rows without a value that `keys` leaves out
  std::size_t total = 0;
  std::vector<std::string> columns;
  std::function<std::vector<std::string>(std::size_t)> row;
};

ranking_input from_csv(std::string_view text, const std::string& column) {
  const auto parsed = std::make_shared<csv_table>(parse_csv(text));
  auto numbers = read_numbers(*parsed, column);
  ranking_input found;
  std::visit([&](auto& values) { found.keys = std::move(values); }, numbers.values);
  found.rows = std::move(numbers.rows);
  found.missing = numbers.missing;
  found.total = parsed->rows();
  found.columns = parsed->columns();
  found.row = [parsed](std::size_t row) { return parsed->row(row); };
  return found;
}

ranking_input from_npy(std::string_view text, const std::string& column) {
  const auto parsed = std::make_shared<npy_table>(parse_npy(std::as_bytes(std::span{text})));
  return {read_numbers(*parsed, column), {}, 0, parsed->rows(), parsed->column_names(), [parsed](std::size_t row) {
            return parsed->row(row);
          }};
}

zenith::executor executor_for(const file_query& query) {
  const auto& backend = query.line.backend;
  if (query.threads == 0) return zenith::make_executor(backend);
  if (backend == "auto") reject("--threads needs --backend: with 'auto' the dispatcher decides");
  const bool has_settings = backend.find(':') != std::string::npos;
  return zenith::make_executor(fmt::format("{}{}threads={}", backend, has_settings ? ',' : ':', query.threads));
}

std::string predicted_time(const zenith::top_k_problem& problem, const zenith::top_k_run& ran) {
  const auto* profile = zenith::machine::local().find(ran.backend);
  const auto modelled = zenith::top_k_strategies();
  if (profile == nullptr || std::ranges::find(modelled, ran.strategy) == modelled.end()) return "no prediction";
  return "predicted " + format_seconds(zenith::seconds(zenith::top_k_cost(ran.strategy, problem, *profile), *profile));
}

template <class T>
void print_winners(const ranking_input& input, const std::vector<T>& keys, const std::vector<std::uint64_t>& indices) {
  table shown({{"rank"}, {"row"}}, input.columns);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto row = input.rows.empty() ? indices[i] : input.rows[indices[i]];
    const bool is_missing = keys[i] != keys[i];
    shown.add({is_missing ? "missing" : std::to_string(i + 1), with_commas(row + 1)}, input.row(row));
  }
  fmt::print("{}\n", shown.text());
}

template <class T>
void rank(const file_query& query, const ranking_input& input, const std::vector<T>& keys, double reading,
          double parsing) {
  std::size_t missing = input.missing;
  if constexpr (std::is_floating_point_v<T>) {
    missing += static_cast<std::size_t>(std::ranges::count_if(keys, [](T key) { return std::isnan(key); }));
  }
  if (query.k > keys.size()) {
    reject(fmt::format("--k is {}, but only {} of the {} rows can be ranked", with_commas(query.k),
                       with_commas(keys.size()), with_commas(input.total)));
  }
  const auto on = executor_for(query);
  // the profile is read before the clock starts
  static_cast<void>(zenith::machine::local());
  zenith::top_k_options options;
  options.select = query.smallest ? zenith::selection::smallest : zenith::selection::largest;
  options.strategy = query.line.strategy;
  std::vector<T> best(query.k);
  std::vector<std::uint64_t> indices(query.k);
  zenith::top_k_run ran;
  const double ranking = seconds_of([&] { ran = zenith::top_k(on, keys, best, indices, options); });

  print_winners(input, best, indices);
  zenith::top_k_problem problem;
  problem.count = keys.size();
  problem.k = query.k;
  problem.type = zenith::key_type_of<T>;
  fmt::print("{} rows", with_commas(input.total));
  if (missing > 0) fmt::print(", {} of them without a value and not ranked", with_commas(missing));
  fmt::print("; the {} {} {}\n", with_commas(query.k), query.smallest ? "smallest" : "largest",
             query.column.empty() ? "values" : "of " + query.column);
  fmt::print("read    {:>9}  from {}\nparse   {:>9}\ntop-k   {:>9}  {} on {}, over {} {}, {}\n",
             format_seconds(reading), query.file, format_seconds(parsing), format_seconds(ranking), ran.strategy,
             ran.backend, with_commas(keys.size()), zenith::to_string(problem.type), predicted_time(problem, ran));
}

}  // namespace

int query_file(const file_query& query) {
  std::string text;
  const double reading = seconds_of([&] { text = read_input_file(query.file); });
  ranking_input input;
  const double parsing = seconds_of([&] {
    const bool is_npy = text.starts_with("\x93NUMPY") || query.file.ends_with(".npy");
    input = is_npy ? from_npy(text, query.column) : from_csv(text, query.column);
  });
  std::visit([&](const auto& keys) { rank(query, input, keys, reading, parsing); }, input.keys);
  return succeeded;
}

}  // namespace zenith_study

#include <perf/study/skyline_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <perf/study/clock.hpp>
#include <perf/study/column_name.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/csv.hpp>
#include <perf/study/files.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/skyline_picture.hpp>
#include <perf/study/table.hpp>
#include <zenith/skyline.hpp>
#include <zenith/skyline_layers.hpp>

namespace zenith_study {
namespace {

// Equal texts are equal numbers, and nothing else is said by them.
std::vector<double> groups_of(const csv_table& parsed, const std::string& column) {
  const auto position = find_column(parsed.columns(), column, "--different");
  std::map<std::string, double> numbers;
  std::vector<double> values(parsed.rows());
  for (std::size_t row = 0; row < parsed.rows(); ++row) {
    values[row] = numbers.try_emplace(parsed.field(row, position), static_cast<double>(numbers.size())).first->second;
  }
  return values;
}

// A column with two preferences would have no meaning, and one that is given twice is a slip.
void check_names(const skyline_query& query) {
  std::set<std::string_view> seen;
  for (const auto* names : {&query.minimised, &query.maximised, &query.different}) {
    for (const auto& name : *names) {
      if (seen.insert(name).second) continue;
      reject(fmt::format("--min, --max and --different name '{}' twice; a column has one preference", name));
    }
  }
}

// Which of the columns that have an order is the axis of this name.
std::size_t axis_of(const skyline_query& query, const std::string& name) {
  const auto at = std::ranges::find(query.minimised, name);
  if (at != query.minimised.end()) return static_cast<std::size_t>(at - query.minimised.begin());
  const auto more = std::ranges::find(query.maximised, name);
  if (more == query.maximised.end()) {
    reject(fmt::format("--axes has '{}', which neither --min nor --max names", name));
  }
  return query.minimised.size() + static_cast<std::size_t>(more - query.maximised.begin());
}

// `axes` are positions in `columns`.
void draw_picture(const skyline_query& query, const zenith::executor& on, const std::vector<std::size_t>& axes,
                  const std::vector<std::vector<double>>& columns, const std::vector<zenith::preference>& preferences,
                  const std::vector<std::uint32_t>& front) {
  const std::size_t x = axes[0];
  const std::size_t y = axes[1];
  zenith::column_set<const double> plane;
  plane.add(columns[x]);
  plane.add(columns[y]);
  const std::vector both{preferences[x], preferences[y]};
  zenith::skyline_layers_options options;
  options.preferences = both;
  options.nans = zenith::nan_rows::drop;
  options.most_layers = drawn_layers;
  const auto layers = zenith::skyline_layers(on, plane, options);
  write_file("picture", query.picture,
             skyline_picture(fmt::format("{}: {} and {}", std::filesystem::path(query.file).filename().string(),
                                         query.axes[0], query.axes[1]),
                             {query.axes[0], both[0], columns[x]}, {query.axes[1], both[1], columns[y]},
                             layers.layer_of, front));
}

}  // namespace

int print_skyline(const skyline_query& query) {
  if (query.minimised.empty() && query.maximised.empty()) {
    reject("--min and --max name no column: nothing makes a row better than another");
  }
  check_names(query);
  if (query.picture.empty() != query.axes.empty() || (!query.axes.empty() && query.axes.size() != 2)) {
    reject("--picture and --axes belong together, and --axes names two columns");
  }
  std::vector<std::size_t> axes;
  for (const auto& name : query.axes) axes.push_back(axis_of(query, name));
  if (axes.size() == 2 && axes[0] == axes[1]) {
    reject(fmt::format("--axes names '{}' twice; a plane has two columns", query.axes[0]));
  }
  const auto on = zenith::make_executor(query.line.backend);
  std::string text;
  const double reading = seconds_of([&] { text = read_input_file(query.file); });
  csv_table parsed;
  std::vector<std::vector<double>> columns;
  std::vector<zenith::preference> preferences;
  const double parsing = seconds_of([&] {
    parsed = parse_csv(text);
    const auto add = [&](std::string_view option, const std::vector<std::string>& names,
                         zenith::preference preference) {
      for (const auto& name : names) {
        columns.push_back(preference == zenith::preference::different ? groups_of(parsed, name)
                                                                      : read_doubles(parsed, name, option));
        preferences.push_back(preference);
      }
    };
    add("--min", query.minimised, zenith::preference::minimise);
    add("--max", query.maximised, zenith::preference::maximise);
    add("--different", query.different, zenith::preference::different);
  });

  zenith::column_set<const double> points;
  for (const auto& column : columns) points.add(column);
  zenith::skyline_options options;
  options.preferences = preferences;
  options.nans = zenith::nan_rows::drop;
  options.strategy = query.line.strategy;
  if (query.first_of_equal) options.duplicates = zenith::duplicate_rows::keep_first;
  static_cast<void>(zenith::machine::local());  // the profile is read before the clock starts
  zenith::skyline_result<std::uint32_t> found;
  const double taken = seconds_of([&] { found = zenith::skyline<std::uint32_t>(on, points, options); });

  table shown({{"row"}}, parsed.columns());
  const auto printed = std::min<std::size_t>(found.ids.size(), query.most_rows);
  for (std::size_t i = 0; i < printed; ++i) {
    shown.add({with_commas(std::uint64_t{found.ids[i]} + 1)}, parsed.row(found.ids[i]));
  }
  std::size_t missing = 0;
  for (std::size_t row = 0; row < parsed.rows(); ++row) {
    missing += std::ranges::any_of(columns, [&](const auto& column) { return column[row] != column[row]; }) ? 1 : 0;
  }
  fmt::print("{}\n", shown.text());
  fmt::print("{} of {} rows are in the skyline", with_commas(found.ids.size()), with_commas(parsed.rows()));
  if (printed < found.ids.size()) fmt::print(", the first {} are shown (--most)", with_commas(printed));
  if (missing > 0) fmt::print("; {} rows without a value in one of the columns are left out", with_commas(missing));
  fmt::print("\nread    {:>9}  from {}\nparse   {:>9}\nskyline {:>9}  {} on {}, {} columns\n", format_seconds(reading),
             query.file, format_seconds(parsing), format_seconds(taken), found.strategy, found.backend, columns.size());
  if (!query.picture.empty()) draw_picture(query, on, axes, columns, preferences, found.ids);
  return succeeded;
}

}  // namespace zenith_study

#include <perf/study/spatial_file.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <perf/study/clock.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/csv.hpp>
#include <perf/study/files.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/spatial_picture.hpp>
#include <perf/study/table.hpp>
#include <zenith/spatial_join.hpp>

namespace zenith_study {
namespace {

// A table of places: three columns of the rows that have a value in each.
struct places {
  std::string file;
  std::string text;
  csv_table parsed;
  std::array<std::vector<double>, 3> columns;
  std::vector<std::size_t> rows;

  [[nodiscard]] zenith::scored_points<double> points() const { return {{columns[0], columns[1]}, columns[2]}; }
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// `made` is filled in place: the parsed table refers to the text.
void read_places(std::string_view option, const std::string& spec, places& made) {
  const auto colon = spec.rfind(':');
  const auto names =
      colon == std::string::npos ? std::vector<std::string>{} : split(std::string_view{spec}.substr(colon + 1));
  if (names.size() != 3) reject(fmt::format("{} is '{}'; it takes FILE:x,y,score", option, spec));
  made.file = spec.substr(0, colon);
  made.text = read_input_file(made.file);
  made.parsed = parse_csv(made.text);
  std::array<std::vector<double>, 3> all;
  for (std::size_t c = 0; c < 3; ++c) all[c] = read_doubles(made.parsed, names[c], option);
  for (std::size_t row = 0; row < made.parsed.rows(); ++row) {
    if (std::isnan(all[0][row]) || std::isnan(all[1][row]) || std::isnan(all[2][row])) continue;
    made.rows.push_back(row);
    for (std::size_t c = 0; c < 3; ++c) made.columns[c].push_back(all[c][row]);
  }
}

zenith::pair_score parse_score(const std::string& name) {
  constexpr std::array<std::string_view, 4> names{"sum", "product", "minimum", "maximum"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<zenith::pair_score>(i);
  }
  reject(fmt::format("--score is '{}'; it takes sum, product, minimum or maximum", name));
}

void print_pairs(const places& left, const places& right, const zenith::top_k_spatial_join_result<double>& best) {
  std::vector<std::string> headings;
  const auto head = [&](const places& side, const char* which) {
    headings.push_back(fmt::format("{} row", which));
    for (const auto& name : side.parsed.columns()) headings.push_back(fmt::format("{} {}", which, name));
  };
  head(left, "left");
  head(right, "right");
  table shown({{"rank"}, {"score"}, {"distance"}}, headings);
  for (std::size_t i = 0; i < best.count; ++i) {
    const auto a = best.left[i];
    const auto b = best.right[i];
    std::vector<std::string> cells{std::to_string(i + 1), fmt::format("{:g}", best.scores[i]),
                                   fmt::format("{:.4g}", std::hypot(left.columns[0][a] - right.columns[0][b],
                                                                    left.columns[1][a] - right.columns[1][b]))};
    const auto add = [&](const places& side, std::size_t at) {
      cells.push_back(with_commas(side.rows[at] + 1));
      for (auto& field : side.parsed.row(side.rows[at])) cells.push_back(std::move(field));
    };
    add(left, a);
    add(right, b);
    shown.add(std::move(cells));
  }
  fmt::print("{}\n", shown.text());
}

void draw_picture(const spatial_query& query, const places& left, const places& right,
                  const zenith::top_k_spatial_join_result<double>& best) {
  const auto side = [](const places& of) {
    return map_side{std::filesystem::path(of.file).filename().string(), of.columns[0], of.columns[1]};
  };
  std::vector<map_pair> pairs;
  for (std::size_t i = 0; i < best.count; ++i) pairs.push_back({best.left[i], best.right[i]});
  write_file("picture", query.picture,
             spatial_picture(fmt::format("The {} best pairs within {:g}", with_commas(best.count), query.distance),
                             side(left), side(right), pairs));
}

}  // namespace

int print_best_pairs(const spatial_query& query) {
  const auto score = parse_score(query.score);
  const auto on = zenith::make_executor(query.line.backend);
  places left;
  places right;
  const double reading = seconds_of([&] {
    read_places("--left", query.left, left);
    read_places("--right", query.right, right);
  });
  static_cast<void>(zenith::machine::local());  // the profile is read before the clock starts
  zenith::top_k_spatial_join_options options;
  options.predicate = {query.distance};
  options.score = score;
  options.select = query.smallest ? zenith::selection::smallest : zenith::selection::largest;
  options.strategy = query.line.strategy;
  zenith::top_k_spatial_join_result<double> best;
  const double taken =
      seconds_of([&] { best = zenith::top_k_spatial_join(on, left.points(), right.points(), query.k, options); });
  print_pairs(left, right, best);
  fmt::print("{} pairs of {} rows of {} and {} rows of {}, within {:g}\n", with_commas(best.count),
             with_commas(left.rows.size()), left.file, with_commas(right.rows.size()), right.file, query.distance);
  const auto missing = left.parsed.rows() + right.parsed.rows() - left.rows.size() - right.rows.size();
  if (missing > 0) fmt::print("{} rows without a value in one of their columns are left out\n", with_commas(missing));
  fmt::print("read    {:>9}\njoin    {:>9}  {} on {}\n", format_seconds(reading), format_seconds(taken), best.strategy,
             best.backend);
  if (!query.picture.empty()) draw_picture(query, left, right, best);
  return succeeded;
}

}  // namespace zenith_study

#include <perf/study/spatial_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

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

// A table of places: columns of coordinates and one of scores, of the rows that have a value in each.
struct places {
  std::string_view option;
  std::string file;
  std::string text;
  csv_table parsed;
  std::vector<std::string> names;  // of the columns
  std::vector<std::vector<double>> columns;
  std::vector<std::size_t> rows;  // of the file, from 0

  [[nodiscard]] std::size_t dimensions() const { return columns.size() - 1; }
  [[nodiscard]] const std::vector<double>& scores() const { return columns.back(); }
  [[nodiscard]] zenith::scored_points<double> points() const {
    if (dimensions() == 2) return {{columns[0], columns[1]}, scores()};
    return {{columns[0], columns[1], columns[2]}, scores()};
  }
};

// What the score of a pair is.
struct score_rule {
  zenith::pair_score is = zenith::pair_score::sum;
  std::array<double, 2> weights{1, 1};  // of the left and of the right side
};

// `made` is filled in place: the parsed table refers to the text.
void read_places(std::string_view option, const std::string& spec, places& made) {
  const auto colon = spec.rfind(':');
  if (colon != std::string::npos) {
    for (const auto name : split_at_commas(std::string_view{spec}.substr(colon + 1))) made.names.emplace_back(name);
  }
  const auto count = made.names.size();
  if (count != 3 && count != 4) {
    reject(fmt::format("{} is '{}'; it takes FILE:x,y,score, or FILE:x,y,z,score", option, spec));
  }
  made.option = option;
  made.file = spec.substr(0, colon);
  made.text = read_input_file(made.file, option);
  made.parsed = parse_csv(made.text);
  std::vector<std::vector<double>> all;
  for (const auto& name : made.names) all.push_back(read_doubles(made.parsed, name, option));
  made.columns.resize(count);
  for (std::size_t row = 0; row < made.parsed.rows(); ++row) {
    if (std::ranges::any_of(all, [row](const auto& column) { return std::isnan(column[row]); })) continue;
    made.rows.push_back(row);
    for (std::size_t c = 0; c < count; ++c) made.columns[c].push_back(all[c][row]);
  }
}

// The library's messages count the rows that it is given; these name the row of the file.
void check_places(const places& side, const score_rule& score, double weight) {
  for (std::size_t c = 0; c < side.columns.size(); ++c) {
    const bool is_score = c + 1 == side.columns.size();
    for (std::size_t i = 0; i < side.rows.size(); ++i) {
      const double value = side.columns[c][i];
      const auto refuse = [&](std::string_view why) {
        reject(fmt::format("{}: column '{}' has {:g} in row {}; {}", side.option, side.names[c], value,
                           side.rows[i] + 1, why));
      };
      if (!std::isfinite(value)) refuse("a finite number is needed");
      if (!is_score) continue;
      if (score.is == zenith::pair_score::product && value < 0) refuse("a product takes scores of 0 and more");
      if (!std::isfinite(value * weight)) refuse("times its weight it is infinite; use smaller weights");
    }
  }
}

double parse_weight(std::string_view text, const std::string& given) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    reject(fmt::format("--score is '{}'; '{}' is not a finite number", given, text));
  }
  return value;
}

score_rule parse_score(const std::string& given) {
  constexpr std::array<std::string_view, 4> names{"sum", "product", "minimum", "maximum"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == given) return {static_cast<zenith::pair_score>(i)};
  }
  constexpr std::string_view weighted = "weighted_sum:";
  if (!given.starts_with(weighted)) {
    reject(fmt::format("--score is '{}'; it takes sum, product, minimum, maximum or weighted_sum:0.7,0.3", given));
  }
  const auto weights = split_at_commas(std::string_view{given}.substr(weighted.size()));
  if (weights.size() != 2) reject(fmt::format("--score is '{}'; it takes two weights: weighted_sum:0.7,0.3", given));
  return {zenith::pair_score::weighted_sum, {parse_weight(weights[0], given), parse_weight(weights[1], given)}};
}

double distance_of(const places& left, std::size_t a, const places& right, std::size_t b) {
  const auto along = [&](std::size_t c) { return left.columns[c][a] - right.columns[c][b]; };
  return left.dimensions() == 2 ? std::hypot(along(0), along(1)) : std::hypot(along(0), along(1), along(2));
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
                                   fmt::format("{:.4g}", distance_of(left, a, right, b))};
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
  if (left.dimensions() != right.dimensions()) {
    reject(fmt::format("--left names {} coordinates and --right {}; they must be as many", left.dimensions(),
                       right.dimensions()));
  }
  check_places(left, score, score.weights[0]);
  check_places(right, score, score.weights[1]);
  static_cast<void>(zenith::machine::local());  // the profile is read before the clock starts
  zenith::top_k_spatial_join_options options;
  options.predicate = {query.distance};
  options.score = score.is;
  options.left_weight = score.weights[0];
  options.right_weight = score.weights[1];
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

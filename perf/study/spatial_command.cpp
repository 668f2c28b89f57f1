#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include <perf/study/commands.hpp>
#include <perf/study/family_study.hpp>
#include <perf/study/files.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/spatial_figures.hpp>
#include <perf/study/spatial_file.hpp>
#include <perf/study/spatial_subject.hpp>
#include <perf/study/study_options.hpp>

namespace zenith_study {
namespace {

struct settings {
  std::string rows = "2^16,2^18";
  std::string k = "100,1000,10000";
  std::vector<std::string> kinds;
  double distance = 1;
  std::uint64_t seed = 1;
  double time_limit = 5;
  std::string output = default_output();
  sweep_options sweep{.repeat = 3};
  spatial_query query;
  bool figures = false;
};

// Numbers of pairs, and shares of all pairs.
struct wanted_pairs {
  std::vector<std::uint64_t> counts;
  std::vector<double> shares;

  [[nodiscard]] std::vector<std::uint64_t> of(spatial_sides& sides) const {
    auto all = counts;
    for (const double share : shares) {
      const double pairs = share * static_cast<double>(pairs_of(sides));
      all.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(pairs)));
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
};

// "100,1000,90%"
wanted_pairs parse_pairs(std::string_view text) {
  wanted_pairs wanted;
  for (const auto item : split_at_commas(text)) {
    if (item.ends_with('%')) {
      const auto digits = item.substr(0, item.size() - 1);
      double percent = 0;
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
      if (status != std::errc{} || end != digits.data() + digits.size() || !(percent > 0) || percent > 100) {
        reject(fmt::format("--k is '{}'; a share of all pairs is above 0 % and at most 100 %", text));
      }
      wanted.shares.push_back(percent / 100);
    } else {
      for (const auto count : parse_counts("--k", item)) wanted.counts.push_back(count);
    }
  }
  if (std::ranges::find(wanted.counts, std::uint64_t{0}) != wanted.counts.end()) {
    reject("--k is 0; there is nothing to time in the best 0");
  }
  return wanted;
}

void check_rows(const std::vector<side_rows>& rows) {
  for (const auto& one : rows) {
    if (one.left == 0 || one.right == 0 || one.most() > std::uint64_t{1} << 26) reject("--rows must be from 1 to 2^26");
  }
}

int run_study(const settings& given) {
  const auto rows = parse_side_rows("--rows", given.rows);
  const auto wanted = parse_pairs(given.k);
  check_rows(rows);
  const auto folder = output_folder(given.output);
  if (given.figures) {
    return draw_thesis_figures(
        {rows, parse_counts("--k", given.k), given.distance, given.seed, given.time_limit, given.sweep, folder});
  }
  family_study study("spatial-join", given.sweep, given.time_limit);
  // strategies that are named are the ranked join's
  const auto all = study.lines({.operation = spatial_operation(0), .every_strategy = true});
  const auto ranked = study.lines({spatial_operation(1)});
  std::vector<std::pair<std::string_view, std::string>> maps;  // of the first k's pairs of the most rows
  for (const auto kind : spatial_kinds) {
    if (!is_asked(given.kinds, kind)) continue;
    for (const auto count : rows) {
      const auto sides = draw_sides(kind, count, given.distance, given.seed);
      study.measure(kind, 0, *make_spatial_input(sides, 0), {spatial_operation(0)}, all);
      const auto ks = wanted.of(*sides);
      for (const auto k : ks) {
        const auto best = make_spatial_input(sides, k);
        study.measure(kind, k, *best, {spatial_operation(k)}, ranked);
        if (k == ks.front() && count == rows.back()) maps.emplace_back(kind, map_of(*best, kind));
      }
    }
  }
  for (const auto kind : spatial_kinds) {
    if (!is_asked(given.kinds, kind)) continue;
    fmt::print("{} points, distance {:g}\n\n{}\n", kind, given.distance, study.table_of(kind, study.with_facts({})));
  }
  fmt::print("{}",
             study.verdict("All strategies found the same pairs.", "a result is WRONG: the strategies do not agree"));
  const auto base = (folder / "spatial-join").string();
  write_file("numbers", base + ".json",
             study.as_json({{"operation", "top_k_spatial_join"},
                            {"type", "float32"},
                            {"distance", given.distance},
                            {"seed", given.seed}},
                           family_study::common_fields("kind")));
  study_chart chart{{}, "k", "k (log)", "seconds (log)"};
  chart.shows = [&](const study_row& of) {
    return side_rows{of.at("rows"), of.at("right_rows")} == rows.back() && of.at("k") > 0;
  };
  write_file("picture", base + ".svg",
             study.picture_of(fmt::format("The k best pairs of {0} and {0} points", rows.back().text()),
                              study.by_kind(chart)));
  for (const auto& [kind, map] : maps) {
    if (!map.empty()) write_file("map", fmt::format("{}-map-{}.svg", base, kind), map);
  }
  return study.status();
}

}  // namespace

void add_spatial_join(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "spatial-join", "Times joins of points and their k best pairs; with --left and --right, those of two tables");
  const auto given = std::make_shared<settings>();
  auto& sweep = given->sweep;
  add_lines(*command, sweep.backends, sweep.strategies, "Of the ranked join: threshold_first, full, ba, sfa, dfa, rj");
  command->add_option("-k,--k", given->k, "How many pairs: 100,1000, or 90% of all (with two tables one number)")
      ->capture_default_str();
  command
      ->add_option("--distance", given->distance,
                   "The farthest that points of a pair are from each other; the square of points is 1000 wide")
      ->check(finite_from_0())
      ->capture_default_str();

  auto* left =
      command
          ->add_option("--left", given->query.left, "A CSV file with its columns: FILE:x,y,score or FILE:x,y,z,score")
          ->group("Two tables");
  auto* right = command->add_option("--right", given->query.right, "The same of the other side")->group("Two tables");
  left->needs(right);
  right->needs(left);
  command
      ->add_option("--score", given->query.score,
                   "Of a pair: sum, product, minimum or maximum of both scores, or weighted_sum:0.7,0.3")
      ->group("Two tables")
      ->needs(left)
      ->capture_default_str();
  command
      ->add_option("--picture", given->query.picture,
                   "A file for a map of the best pairs, as SVG; of points in 3-D their x and y")
      ->group("Two tables")
      ->needs(left);
  command->add_flag("--smallest", given->query.smallest, "The smallest scores instead of the largest")
      ->group("Two tables")
      ->needs(left);

  command->option_defaults()->always_capture_default();
  const auto study = [&](auto* option) { return option->group("The study")->excludes(left); };
  study(command->add_option("--rows", given->rows,
                            "Points a side: 1e6, or 2^14..2^20, which doubles; 2^20x2^10: left x right"));
  std::vector<std::string> kinds{spatial_kinds.begin(), spatial_kinds.end()};
  auto* kind = study(add_kinds(*command, "--kind", given->kinds, std::move(kinds)));
  study(command->add_flag(
            "--figures", given->figures,
            "Figures 7.1 to 7.4 of the thesis with its data: by sizes, k, threads and blocks joined at once"))
      ->excludes(kind);
  study(add_seed(*command, given->seed, "Of the random points"));
  study(add_repeat(*command, sweep.repeat, 1000));
  study(add_time_limit(*command, given->time_limit));
  study(add_output(*command, given->output));
  command->callback([given, command, &status] {
    if (given->query.left.empty()) {
      if (given->figures && command->count("--rows") == 0) given->rows = thesis_rows;
      status = run_study(*given);
      return;
    }
    given->query.k = k_of_file(*command, given->k);
    given->query.distance = given->distance;
    given->query.line = only_line(given->sweep.backends, given->sweep.strategies, "--left");
    status = print_best_pairs(given->query);
  });
}

}  // namespace zenith_study

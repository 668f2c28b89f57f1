#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include <perf/study/clock.hpp>
#include <perf/study/commands.hpp>
#include <perf/study/executors.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/output_file.hpp>
#include <perf/study/progress.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/spatial_file.hpp>
#include <perf/study/spatial_picture.hpp>
#include <perf/study/statistics.hpp>
#include <perf/study/table.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/spatial_join.hpp>

namespace zenith_study {
namespace {

constexpr std::array<std::string_view, 3> kinds{"uniform", "clustered", "anticorrelated"};

struct settings {
  std::string rows = "2^16,2^18";
  std::string k = "100,1000,10000";
  std::vector<std::string> kinds;
  std::vector<std::string> backends;
  std::vector<std::string> strategies;
  double distance = 1;
  std::uint64_t seed = 1;
  int repeat = 3;
  double time_limit = 5;
  std::string output = default_output();
  spatial_query query;
};

struct measurement {
  std::string label;
  std::uint64_t rows = 0;
  std::uint64_t k = 0;  ///< 0: all pairs
  std::uint64_t pairs = 0;
  double seconds = 0;
  std::optional<double> predicted;
  bool is_wrong = false;
};

struct figure {
  std::string_view kind;
  std::vector<measurement> points;
  std::string map;  ///< of the first k's pairs of the most rows
};

struct side {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> score;

  [[nodiscard]] zenith::scored_points<float> points() const { return {{x, y}, score}; }
};

// The thesis' square of 1000, scores from 0 to 100. Clusters are the same for both sides. Anticorrelated scores rise to
// the right on the left side and to the left on the right side, so that the best points are far apart.
side draw_side(std::string_view kind, std::uint64_t rows, bool is_right, std::uint64_t seed) {
  constexpr float extent = 1000;
  std::mt19937_64 centres(seed);
  std::mt19937_64 random(seed * 2 + (is_right ? 1 : 0));
  std::uniform_real_distribution<float> place(0, extent);
  std::uniform_real_distribution<float> score(0, 100);
  std::normal_distribution<float> near(0, 5);
  std::vector<std::pair<float, float>> middles;
  for (int i = 0; i < 100; ++i) {
    const float x = place(centres);
    middles.emplace_back(x, place(centres));
  }
  side made{std::vector<float>(rows), std::vector<float>(rows), std::vector<float>(rows)};
  for (std::uint64_t i = 0; i < rows; ++i) {
    if (kind == "clustered") {
      const auto& middle = middles[random() % middles.size()];
      made.x[i] = middle.first + near(random);
      made.y[i] = middle.second + near(random);
    } else {
      made.x[i] = place(random);
      made.y[i] = place(random);
    }
    made.score[i] = kind != "anticorrelated" ? score(random)
                    : is_right               ? 100 - made.x[i] / extent * 100
                                             : made.x[i] / extent * 100;
  }
  return made;
}

// Columns, or results, in the memory of an executor's device.
struct resident_side {
  resident_side(const zenith::executor& on, const side& of) : x(on, of.x), y(on, of.y), score(on, of.score) {}

  [[nodiscard]] zenith::device_scored_points<float> points() const {
    return {{x.device(), y.device()}, score.device()};
  }

  zenith::array<float> x;
  zenith::array<float> y;
  zenith::array<float> score;
};

struct resident_pairs {
  resident_pairs(const zenith::executor& on, std::size_t most) : left(on, most), right(on, most), scores(on, most) {}

  [[nodiscard]] zenith::top_k_spatial_join_result<float> read(std::size_t count) const {
    zenith::top_k_spatial_join_result<float> found;
    found.left.resize(left.size());
    found.right.resize(right.size());
    found.scores.resize(scores.size());
    left.copy_to(found.left);
    right.copy_to(found.right);
    scores.copy_to(found.scores);
    found.left.resize(count);
    found.right.resize(count);
    found.scores.resize(count);
    found.count = count;
    return found;
  }

  zenith::array<std::uint32_t> left;
  zenith::array<std::uint32_t> right;
  zenith::array<float> scores;
};

template <class Call>
double median_seconds(int repeat, const Call& call) {
  call();
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repeat));
  for (int i = 0; i < repeat; ++i) times.push_back(seconds_of(call));
  return median(times);
}

template <class Cost>
std::optional<double> prediction(const offered_strategy& line, const Cost& cost) {
  const auto on = zenith::make_executor(line.executor);
  if (line.executor != on.backend()) return {};
  const auto* profile = zenith::machine::local().find(on.backend(), on.device());
  if (profile == nullptr || line.strategy == "loops") return {};
  return zenith::seconds(cost(*profile), *profile);
}

class figure_run {
 public:
  figure_run(std::string_view kind, const settings& given) : given_(given), made_{kind, {}, {}} {}

  void run(std::uint64_t rows, std::span<const std::uint64_t> ks, progress& bar, double done) {
    const auto left = draw_side(made_.kind, rows, false, given_.seed);
    const auto right = draw_side(made_.kind, rows, true, given_.seed);
    std::uint64_t pairs = 0;
    std::optional<zenith::spatial_join_result<>> all;
    for (const auto& line : offered_strategies(zenith::spatial_join_call::operation, given_.backends, {})) {
      bar.show(done, fmt::format("{}, {} rows, all pairs, {}", made_.kind, with_commas(rows), line.label()));
      if (is_slow(line, 0)) continue;
      const auto on = zenith::make_executor(line.executor);
      zenith::spatial_join_result<> found;
      measurement one{line.label(), rows, 0, 0, 0, {}, false};
      one.seconds = median_seconds(given_.repeat, [&] {
        found = zenith::spatial_join(on, left.points().coordinates, right.points().coordinates,
                                     {.predicate = {given_.distance}, .strategy = line.strategy});
      });
      one.pairs = pairs = found.count;
      const zenith::spatial_join_problem problem{rows, rows, pairs, 2, zenith::key_type::float32};
      one.predicted = prediction(
          line, [&](const auto& profile) { return zenith::spatial_join_cost(line.strategy, problem, profile); });
      if (!all) all = found;
      one.is_wrong = found.left != all->left || found.right != all->right;
      add(std::move(one));
      if (line.on_device) add(resident_join(line, left, right, *all));
    }
    for (const auto k : ks) {
      std::optional<zenith::top_k_spatial_join_result<float>> best;
      for (const auto& line :
           offered_strategies(zenith::top_k_spatial_join_call::operation, given_.backends, given_.strategies)) {
        bar.show(done, fmt::format("{}, {} rows, k = {}, {}", made_.kind, with_commas(rows), k, line.label()));
        if (is_slow(line, k)) continue;
        const auto on = zenith::make_executor(line.executor);
        zenith::top_k_spatial_join_result<float> found;
        measurement one{line.label(), rows, k, pairs, 0, {}, false};
        one.seconds = median_seconds(given_.repeat, [&] {
          found = zenith::top_k_spatial_join(on, left.points(), right.points(), k,
                                             {.predicate = {given_.distance}, .strategy = line.strategy});
        });
        zenith::top_k_spatial_join_problem problem;
        problem.left_rows = problem.right_rows = rows;
        problem.pairs = pairs;
        problem.k = k;
        one.predicted = prediction(line, [&](const auto& profile) {
          return zenith::top_k_spatial_join_cost(line.strategy, problem, profile);
        });
        if (!best) best = found;
        one.is_wrong = found.left != best->left || found.right != best->right || found.scores != best->scores;
        add(std::move(one));
        if (line.on_device) add(resident_top_k(line, left, right, k, pairs, *best));
      }
      if (best && k == ks.front()) made_.map = map_of(left, right, *best);
    }
  }

  [[nodiscard]] figure take() { return std::move(made_); }

 private:
  // From and to a device's memory.
  [[nodiscard]] measurement resident_join(const offered_strategy& line, const side& left, const side& right,
                                          const zenith::spatial_join_result<>& expected) const {
    const auto on = zenith::make_executor(line.executor);
    const resident_side a(on, left);
    const resident_side b(on, right);
    resident_pairs to(on, expected.count);
    measurement one{line.label() + " resident", left.x.size(), 0, expected.count, 0, {}, false};
    zenith::spatial_run run;
    one.seconds = median_seconds(given_.repeat, [&] {
      run = zenith::spatial_join(on, a.points().coordinates, b.points().coordinates, to.left.device(),
                                 to.right.device(), {.predicate = {given_.distance}, .strategy = line.strategy});
      on.synchronize();
    });
    const auto found = to.read(run.count);
    one.is_wrong = found.left != expected.left || found.right != expected.right;
    return one;
  }
  [[nodiscard]] measurement resident_top_k(const offered_strategy& line, const side& left, const side& right,
                                           std::uint64_t k, std::uint64_t pairs,
                                           const zenith::top_k_spatial_join_result<float>& expected) const {
    const auto on = zenith::make_executor(line.executor);
    const resident_side a(on, left);
    const resident_side b(on, right);
    resident_pairs to(on, k);
    measurement one{line.label() + " resident", left.x.size(), k, pairs, 0, {}, false};
    zenith::spatial_run run;
    one.seconds = median_seconds(given_.repeat, [&] {
      run = zenith::top_k_spatial_join(on, a.points(), b.points(), to.left.device(), to.right.device(),
                                       to.scores.device(), {.predicate = {given_.distance}, .strategy = line.strategy});
      on.synchronize();
    });
    const auto found = to.read(run.count);
    one.is_wrong = found.left != expected.left || found.right != expected.right || found.scores != expected.scores;
    return one;
  }

  // What took longer than the limit on fewer rows is left out.
  [[nodiscard]] bool is_slow(const offered_strategy& line, std::uint64_t k) const {
    return std::ranges::any_of(made_.points, [&](const measurement& one) {
      return one.label == line.label() && one.k == k && one.seconds > given_.time_limit;
    });
  }
  [[nodiscard]] std::string map_of(const side& left, const side& right,
                                   const zenith::top_k_spatial_join_result<float>& best) const {
    const auto copied = [](const side& of, const char* name) {
      return map_side{name, {of.x.begin(), of.x.end()}, {of.y.begin(), of.y.end()}};
    };
    std::vector<map_pair> pairs;
    for (std::size_t i = 0; i < best.count; ++i) pairs.push_back({best.left[i], best.right[i]});
    return spatial_picture(fmt::format("{} points, {} a side: the {} best pairs within {:g}", made_.kind,
                                       with_commas(left.x.size()), with_commas(best.count), given_.distance),
                           copied(left, "left"), copied(right, "right"), pairs);
  }
  void add(measurement one) { made_.points.push_back(std::move(one)); }

  const settings& given_;
  figure made_;
};

std::string table_of(const figure& of) {
  table shown(
      {{"rows a side"}, {"pairs"}, {"k"}, {"strategy", align::left}, {"", align::left}, {"time"}, {"predicted"}});
  const measurement* before = nullptr;
  for (const auto& one : of.points) {
    const bool first = before == nullptr || before->rows != one.rows || before->k != one.k;
    if (first && before != nullptr) shown.add_gap();
    before = &one;
    shown.add({first ? with_commas(one.rows) : "", first ? with_commas(one.pairs) : "",
               first ? (one.k == 0 ? "all" : with_commas(one.k)) : "", one.label, one.is_wrong ? "WRONG" : "",
               format_seconds(one.seconds), one.predicted ? format_seconds(*one.predicted) : ""});
  }
  return shown.text();
}

std::string json_of(const std::vector<figure>& figures, const settings& given) {
  using nlohmann::json;
  json all;
  all["zenith"] = ZENITH_STUDY_VERSION;
  all["problem"] = {
      {"operation", "top_k_spatial_join"}, {"type", "float32"}, {"distance", given.distance}, {"seed", given.seed}};
  all["points"] = json::array();
  for (const auto& figure : figures) {
    for (const auto& one : figure.points) {
      json point = {{"kind", figure.kind},   {"rows", one.rows},       {"pairs", one.pairs},
                    {"strategy", one.label}, {"seconds", one.seconds}, {"result", one.is_wrong ? "wrong" : "measured"}};
      point["k"] = one.k == 0 ? json("all") : json(one.k);
      if (one.predicted) point["predicted_seconds"] = *one.predicted;
      all["points"].push_back(std::move(point));
    }
  }
  return all.dump(1) + "\n";
}

// A chart a kind: time over k at the largest number of rows.
std::string picture_of(const std::vector<figure>& figures, std::uint64_t rows) {
  std::vector<std::string> labels;
  for (const auto& figure : figures) {
    for (const auto& one : figure.points) {
      if (one.k != 0 && std::ranges::find(labels, one.label) == labels.end()) labels.push_back(one.label);
    }
  }
  std::vector<line_chart> charts;
  for (const auto& figure : figures) {
    line_chart chart{std::string{figure.kind}, "k (log)", "seconds (log)", true, true, {}};
    for (const auto& label : labels) {
      line_chart::line drawn{label, {}};
      for (const auto& one : figure.points) {
        if (one.label != label || one.rows != rows || one.k == 0) continue;
        drawn.points.emplace_back(static_cast<double>(one.k), one.seconds);
      }
      chart.lines.push_back(std::move(drawn));
    }
    charts.push_back(std::move(chart));
  }
  return as_svg(fmt::format("The k best pairs of {} and {} points", with_commas(rows), with_commas(rows)), charts);
}

int run_study(const settings& given) {
  const auto rows = parse_counts("--rows", given.rows);
  const auto ks = parse_counts("--k", given.k);
  if (rows.back() > std::uint64_t{1} << 26) {
    throw zenith::error(zenith::error_code::invalid_argument, "--rows must be at most 2^26");
  }
  const auto folder = output_folder(given.output);
  std::vector<figure> figures;
  {
    progress bar("spatial-join");
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!given.kinds.empty() && std::ranges::find(given.kinds, kinds[i]) == given.kinds.end()) continue;
      figure_run run(kinds[i], given);
      for (const auto count : rows) run.run(count, ks, bar, static_cast<double>(i) / kinds.size());
      figures.push_back(run.take());
    }
  }
  bool is_wrong = false;
  for (const auto& figure : figures) {
    fmt::print("{} points, distance {:g}\n\n{}\n", figure.kind, given.distance, table_of(figure));
    is_wrong = is_wrong || std::ranges::any_of(figure.points, &measurement::is_wrong);
  }
  fmt::print("{}\n",
             is_wrong ? "a result is WRONG: the strategies do not agree" : "All strategies found the same pairs.");
  const auto base = (folder / "spatial-join").string();
  write_file(base + ".json", json_of(figures, given));
  write_file(base + ".svg", picture_of(figures, rows.back()));
  fmt::print("numbers: {0}.json\npicture: {0}.svg\n", base);
  for (const auto& figure : figures) {
    if (figure.map.empty()) continue;
    const auto file = fmt::format("{}-map-{}.svg", base, figure.kind);
    write_file(file, figure.map);
    fmt::print("map: {}\n", file);
  }
  return is_wrong ? wrong_results : succeeded;
}

}  // namespace

void add_spatial_join(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "spatial-join", "Times joins of points and their k best pairs; with --left and --right, those of two tables");
  const auto given = std::make_shared<settings>();
  command
      ->add_option("--backend", given->backends,
                   "A backend, with settings if need be: cpu, cuda:1, cpu:threads=1,isa=avx2; again for more")
      ->allow_extra_args(false)
      ->delimiter('\0');
  command
      ->add_option("--strategy", given->strategies,
                   "Of the ranked join: threshold_first, full, ba, sfa, dfa, rj; again for more")
      ->allow_extra_args(false);
  command->add_option("-k,--k", given->k, "How many pairs: 100,1000 (with two tables one number)")
      ->capture_default_str();
  command->add_option("--distance", given->distance, "The farthest that points of a pair are from each other")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();

  auto* left = command->add_option("--left", given->query.left, "A CSV file with its columns: FILE:x,y,score")
                   ->group("Two tables");
  auto* right = command->add_option("--right", given->query.right, "The same of the other side")->group("Two tables");
  left->needs(right);
  right->needs(left);
  command->add_option("--score", given->query.score, "Of a pair: sum, product, minimum or maximum of both scores")
      ->group("Two tables")
      ->needs(left)
      ->capture_default_str();
  command->add_option("--picture", given->query.picture, "A file for a map of the best pairs, as SVG")
      ->group("Two tables")
      ->needs(left);
  command->add_flag("--smallest", given->query.smallest, "The smallest scores instead of the largest")
      ->group("Two tables")
      ->needs(left);

  command->option_defaults()->always_capture_default();
  const auto study = [&](auto* option) { option->group("The study")->excludes(left); };
  study(command->add_option("--rows", given->rows, "Points a side: 1e6, or 2^14..2^20, which doubles"));
  study(command
            ->add_option("--kind", given->kinds,
                         fmt::format("{}; again for more, all by default", fmt::join(kinds, ", ")))
            ->check(CLI::IsMember(std::vector<std::string>(kinds.begin(), kinds.end())))
            ->allow_extra_args(false));
  study(command->add_option("--seed", given->seed, "Of the random points")->check(CLI::NonNegativeNumber));
  study(command->add_option("--repeat", given->repeat, "Timed repetitions, their median counts")
            ->check(CLI::Range(1, 1000)));
  study(command
            ->add_option("--time-limit", given->time_limit,
                         "Seconds: a strategy that takes longer is left out of larger sets of points")
            ->check(CLI::Range(0.001, 1e6)));
  study(command->add_option("--output", given->output, "Folder for numbers and pictures, else ZENITH_STUDY_OUTPUT"));
  command->callback([given, command, &status] {
    if (given->query.left.empty()) {
      status = run_study(*given);
      return;
    }
    given->query.k = command->count("--k") == 0 ? 10 : parse_count("--k", given->k);
    given->query.distance = given->distance;
    given->query.backends = given->backends;
    given->query.strategies = given->strategies;
    status = print_best_pairs(given->query);
  });
}

}  // namespace zenith_study

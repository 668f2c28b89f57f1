#include <perf/study/skyline_iterations.hpp>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include <perf/study/clock.hpp>
#include <perf/study/exit_status.hpp>
#include <perf/study/files.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/placed.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/series.hpp>
#include <perf/study/table.hpp>
#include <zenith/skyline.hpp>

namespace zenith_study {
namespace {

constexpr std::string_view operation = zenith::skyline_call::operation;

struct iterations {
  std::string line;
  std::vector<zenith::skyline_round> rounds;  ///< seconds are medians
};

// Throws `unsupported` for a strategy that the backend does not offer.
iterations iterations_of(const zenith::matrix_view<const float>& points, const std::string& backend,
                         const std::string& strategy, int repeat, std::vector<std::uint64_t>& ids) {
  const auto on = zenith::make_executor(backend);
  zenith::skyline_statistics seen;
  std::vector<std::vector<double>> seconds;  // of each round
  for (int i = 0; i < repeat; ++i) {
    ids = zenith::skyline(on, points, {.strategy = strategy, .statistics = &seen}).ids;
    seconds.resize(seen.by_round.size());
    for (std::size_t round = 0; round < seconds.size(); ++round) {
      seconds[round].push_back(seen.by_round[round].seconds);
    }
  }
  for (std::size_t round = 0; round < seconds.size(); ++round) {
    seen.by_round[round].seconds = median(std::move(seconds[round]));
  }
  return {fmt::format("{}/{}", backend, strategy), std::move(seen.by_round)};
}

class pictures {
 public:
  explicit pictures(const iterations_request& given) : given_(given) {
    for (const auto& backend : given.backends.empty() ? compared_backends() : given.backends) {
      for (const auto& strategy : given.strategies) asked_.emplace_back(backend, strategy);
      if (!given.strategies.empty()) continue;
      for (const auto* strategy : {"skyalign", "bitmap_tiles"}) {
        if (offers(zenith::make_executor(backend), operation, strategy)) asked_.emplace_back(backend, strategy);
      }
    }
    if (asked_.empty()) reject("no --backend offers \"skyalign\" or \"bitmap_tiles\"; --strategy names others");
  }

  int draw() {
    for (const auto of : given_.correlations) {
      for (const auto columns : given_.columns) measure(of, columns);
    }
    const auto base = (given_.folder / "skyline-iterations").string();
    const auto heading = fmt::format("Skyline of {} rows by iteration (0: before the first)", with_commas(given_.rows));
    numbers_["operation"] = operation;
    numbers_["rows"] = given_.rows;
    numbers_["seed"] = given_.seed;
    write_file("numbers", base + ".json", numbers_.dump(1) + "\n");
    write_file("picture", base + "-pruned.svg", as_svg(heading, pruned_));
    write_file("picture", base + "-time.svg", as_svg(heading, times_));
    fmt::print("{}\n",
               are_equal_ ? "All strategies found the same ids." : "a result is WRONG: the strategies do not agree");
    return are_equal_ ? succeeded : wrong_results;
  }

 private:
  void measure(correlation of, std::uint64_t columns) {
    const auto name = correlation_names[static_cast<std::size_t>(of)];
    const auto drawn = standard_points(of, given_.rows, static_cast<unsigned>(columns), given_.seed);
    const auto points = zenith::matrix_view<const float>::row_major(drawn, given_.rows, columns);
    const auto title = fmt::format("{}, {} columns", name, columns);
    line_chart pruned{title, "iteration", "rows pruned", false, false, {}};
    line_chart times{title, "iteration", "seconds (log)", false, true, {}};
    table shown({{"", align::left}, {"iteration"}, {"pruned"}, {"in the skyline"}, {"time"}});
    std::vector<std::uint64_t> expected;  // those of the first; a skyline is not empty
    for (const auto& [backend, strategy] : asked_) {
      std::vector<std::uint64_t> ids;
      const auto found = iterations_of(points, backend, strategy, given_.repeat, ids);
      if (expected.empty()) expected = ids;
      are_equal_ = are_equal_ && ids == expected;
      if (!shown.empty()) shown.add_gap();
      line_chart::line of_rows{found.line, {}};
      line_chart::line of_time{found.line, {}};
      for (std::size_t i = 0; i < found.rounds.size(); ++i) {
        const auto& round = found.rounds[i];
        shown.add({i == 0 ? found.line : "", std::to_string(i), with_commas(round.pruned), with_commas(round.members),
                   format_seconds(round.seconds)});
        of_rows.points.emplace_back(i, round.pruned);
        of_time.points.emplace_back(i, round.seconds);
        numbers_["points"].push_back({{"correlation", name},
                                      {"columns", columns},
                                      {"executor", backend},
                                      {"strategy", strategy},
                                      {"iteration", i},
                                      {"pruned", round.pruned},
                                      {"members", round.members},
                                      {"seconds", round.seconds}});
      }
      pruned.lines.push_back(std::move(of_rows));
      times.lines.push_back(std::move(of_time));
    }
    pruned_.push_back(std::move(pruned));
    times_.push_back(std::move(times));
    fmt::print("{} rows of {} {} columns, skyline {}, by iteration (figure 10)\n\n{}\n", with_commas(given_.rows),
               columns, name, with_commas(expected.size()), shown.text());
  }

  const iterations_request& given_;
  std::vector<std::pair<std::string, std::string>> asked_;  ///< backend and strategy
  nlohmann::json numbers_;
  std::vector<line_chart> pruned_;
  std::vector<line_chart> times_;
  bool are_equal_ = true;
};

}  // namespace

int draw_iterations(const iterations_request& given) { return pictures(given).draw(); }

}  // namespace zenith_study

#include <perf/study/spatial_figures.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>

#include <perf/study/family_study.hpp>
#include <perf/study/files.hpp>
#include <perf/study/series.hpp>

namespace zenith_study {
namespace {

constexpr const char* same_pairs = "All strategies found the same pairs.";
constexpr const char* other_pairs = "a result is WRONG: the strategies do not agree";

// What the thesis compares, and our best strategy beside it.
sweep_options lines_of_thesis(sweep_options asked) {
  if (asked.strategies.empty()) asked.strategies = {"ba", "threshold_first"};
  if (asked.backends.empty()) asked.backends = compared_backends();
  return asked;
}

// 1, 2, 4 … and all that the machine has.
std::vector<int> thread_counts() {
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<int> counts;
  for (int one = 1; one < all; one *= 2) counts.push_back(one);
  counts.push_back(all);
  return counts;
}

class figures {
 public:
  explicit figures(const figures_request& given) : given_(given), options_(lines_of_thesis(given.sweep)) {}

  int draw() {
    by_size();
    by_threads();
    by_blocks(block_parameter::at_once, {1, 2, 4, 8, 16, 32, 128, 1024},
              "Figure 7.4: by blocks that are joined at once", "figure-7.4.svg");
    by_blocks(block_parameter::fanout, {2, 4, 8, 16, 32, 64}, "By the size of a block, which is a leaf of the index",
              "fanout.svg");
    return status_;
  }

 private:
  [[nodiscard]] std::shared_ptr<spatial_sides> draw_rows(side_rows rows) const {
    return draw_sides(thesis_kind, rows, given_.distance, given_.seed);
  }
  [[nodiscard]] side_rows largest() const { return given_.rows.back(); }
  [[nodiscard]] std::string question() const {
    return fmt::format("The {} best pairs of {} points", given_.k.back(), largest().text());
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (given_.folder / ("spatial-join-" + name)).string();
  }

  void print(const family_study& study, const std::string& title, std::string_view operation,
             const std::string& numbers) {
    fmt::print("{}\n\n{}\n{}\n", title, study.table_of(thesis_kind, study.with_facts({})),
               study.verdict(same_pairs, other_pairs));
    write_file("numbers", path(numbers + ".json"),
               study.as_json({{"operation", std::string{operation}},
                              {"type", "float32"},
                              {"distance", given_.distance},
                              {"seed", given_.seed}},
                             family_study::common_fields("kind")));
    status_ = std::max(status_, study.status());
  }

  void by_size() {
    family_study study("spatial-join, sizes", options_, given_.time_limit);
    const auto all = study.lines({spatial_operation(given_.k.back())});
    for (const auto rows : given_.rows) {
      const auto sides = draw_rows(rows);
      for (const auto k : given_.k) {
        study.measure(thesis_kind, k, *make_spatial_input(sides, k), {spatial_operation(k)}, all);
      }
    }
    print(study, "Figures 7.1 and 7.2: by sizes and k", spatial_operation(1), "sizes");
    std::uint64_t most = 0;
    for (const auto rows : given_.rows) most = std::max(most, rows.left);
    for (const bool is_large : {true, false}) {
      std::vector<study_chart> charts;
      for (const auto rows : given_.rows) {
        if ((rows.left == most) != is_large) continue;
        study_chart chart{rows.text(), "k", "k (log)", "seconds (log)"};
        chart.shows = [rows](const study_row& of) { return side_rows{of.at("rows"), of.at("right_rows")} == rows; };
        chart.predicted = predicted_seconds;
        charts.push_back(std::move(chart));
      }
      if (charts.empty()) continue;
      write_file("picture", path(is_large ? "figure-7.1.svg" : "figure-7.2.svg"),
                 study.picture_of(is_large ? "Figure 7.1: large inputs" : "Figure 7.2: small inputs", charts));
    }
  }

  void by_threads() {
    family_study study("spatial-join, threads", options_);
    const auto k = given_.k.back();
    const auto best = make_spatial_input(draw_rows(largest()), k);
    auto options = options_;
    std::vector<std::string> notes;
    for (const int threads : thread_counts()) {
      options.backends = {fmt::format("cpu:threads={}", threads)};
      study.measure(thesis_kind, k, *best, {spatial_operation(k)}, list_series({spatial_operation(k)}, options, notes),
                    {{"threads", threads}});
    }
    print(study, "Figure 7.3: by threads", spatial_operation(1), "threads");
    study_chart chart{{}, "threads", "threads", "seconds (log)"};
    chart.predicted = predicted_seconds;
    chart.name = [](const study_row& of) { return of.line().strategy; };
    write_file("picture", path("figure-7.3.svg"), study.picture_of("Figure 7.3: " + question(), {chart}));
  }

  void by_blocks(block_parameter which, std::vector<std::uint32_t> values, const char* title, const char* picture) {
    const std::string name(name_of(which));
    auto options = options_;
    options.strategies = {"ba"};
    family_study study("spatial-join, " + name, options);
    auto all = study.lines({block_operation()});
    std::erase_if(all, [](const series& one) { return one.resident; });
    study.measure(thesis_kind, 0, *make_block_input(draw_rows(largest()), given_.k.back(), which, std::move(values)),
                  {block_operation()}, all);
    print(study, fmt::format("{}; with the build of both indexes", title), block_operation(), name.c_str());
    study_chart chart{{}, name, name + " (log)", "seconds (log)"};
    write_file("picture", path(picture), study.picture_of(fmt::format("{}: {}", title, question()), {chart}));
  }

  static double predicted_seconds(const study_row& of) { return of.first().predicted.value_or(0); }

  const figures_request& given_;
  sweep_options options_;
  int status_ = succeeded;
};

}  // namespace

int draw_thesis_figures(const figures_request& given) { return figures(given).draw(); }

}  // namespace zenith_study

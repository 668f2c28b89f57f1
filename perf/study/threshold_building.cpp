#include <perf/study/threshold_building.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include <perf/study/clock.hpp>
#include <perf/study/exit_status.hpp>
#include <perf/study/files.hpp>
#include <perf/study/floor.hpp>
#include <perf/study/line_chart.hpp>
#include <perf/study/quantity.hpp>
#include <perf/study/series.hpp>
#include <perf/study/table.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith_study {
namespace {

struct kind_of_table {
  std::string_view name;
  zenith::table_layout layout;
  zenith::table_partitioning partitioning = {};
  zenith::angle_splits splits = {};
};

constexpr std::array<kind_of_table, 4> every_kind{{
    {"clusters", zenith::table_layout::clusters},
    {"partitions at random", zenith::table_layout::partitions, zenith::table_partitioning::random},
    {"partitions by angle", zenith::table_layout::partitions, zenith::table_partitioning::angle},
    {"partitions by angle, regular", zenith::table_layout::partitions, zenith::table_partitioning::angle,
     zenith::angle_splits::regular},
}};

constexpr std::size_t asked_rows = 16;

struct building {
  std::string line;  ///< the executor and the kind of table
  std::uint64_t rows = 0;
  double seconds = 0;  ///< the median
  double floor = 0;    ///< of one read
  bool is_right = false;
};

// Points of one correlation, by rows and as columns.
struct points {
  std::vector<float> drawn;
  std::vector<std::vector<float>> values;
  zenith::column_set<float> columns;
  std::vector<std::uint64_t> best;

  points(const building_request& given, correlation of, std::uint64_t rows)
      : drawn(standard_points(of, rows, given.columns, given.seed)), values(columns_of(drawn, given.columns)) {
    for (const auto& column : values) columns.add(column);
    best = best_of(zenith::make_executor("cpu"), columns, zenith::top_k_options{.strategy = "scan"});
  }

  template <class Source, class Options>
  [[nodiscard]] std::vector<std::uint64_t> best_of(const zenith::executor& on, const Source& from,
                                                   const Options& options) const {
    const std::vector<float> weights(values.size(), 1);
    return zenith::top_k<std::uint64_t>(on, from, weights, std::min(asked_rows, values.front().size()), options)
        .indices;
  }
};

// Of a table that is built some times.
template <class Build>
building time_of(const points& from, const zenith::executor& on, int repeat, const Build& build) {
  building done;
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) {
    using table_type = decltype(build());
    std::optional<table_type> made;
    times.push_back(seconds_of([&] {
      made.emplace(build());
      on.synchronize();
    }));
    if (i == 0) done.is_right = from.best_of(on, *made, zenith::table_query_options{}) == from.best;
  }
  done.seconds = median(std::move(times));
  return done;
}

class buildings {
 public:
  explicit buildings(const building_request& given) : given_(given) {}

  int draw() {
    for (const auto of : given_.correlations) {
      const auto name = correlation_names[static_cast<std::size_t>(of)];
      std::vector<building> all;
      for (const std::uint64_t part : {16, 4, 1}) {
        if (given_.rows / part > 0) measure(of, given_.rows / part, all);
      }
      print(name, all);
      charts_.push_back(chart_of(name, all));
    }
    const auto base = (given_.folder / "threshold-building").string();
    numbers_["operation"] = "threshold_table.build";
    numbers_["columns"] = given_.columns;
    numbers_["block_rows"] = given_.block_rows;
    numbers_["seed"] = given_.seed;
    write_file("numbers", base + ".json", numbers_.dump(1) + "\n");
    write_file("picture", base + ".svg",
               as_svg(fmt::format("Building threshold tables of {} columns", given_.columns), charts_));
    fmt::print("{}\n", are_right_ ? "Every table answers as a scan of its columns does."
                                  : "a table is WRONG: it does not answer as a scan of its columns does");
    return are_right_ ? succeeded : wrong_results;
  }

 private:
  void measure(correlation of, std::uint64_t rows, std::vector<building>& all) {
    const points from(given_, of, rows);
    const auto threads = static_cast<int>(std::thread::hardware_concurrency());
    const double floor =
        median(measure_read_floor(std::as_bytes(std::span(from.drawn)), threads, std::max(3, given_.repeat)).seconds);
    for (const auto& backend : given_.backends.empty() ? compared_backends() : given_.backends) {
      const auto on = zenith::make_executor(backend);
      for (const auto& kind : every_kind) {
        zenith::table_options options;
        options.layout = kind.layout;
        options.partitioning = kind.partitioning;
        options.splits = kind.splits;
        options.block_rows = given_.block_rows;
        building one;
        if (on.backend() == "cuda") {
          if (kind.layout != zenith::table_layout::clusters) continue;
          one = time_of(from, on, given_.repeat,
                        [&] { return zenith::device_threshold_table<float>::build(on, from.columns, options); });
        } else {
          one = time_of(from, on, given_.repeat,
                        [&] { return zenith::threshold_table<float>::build(on, from.columns, options); });
        }
        one.line = fmt::format("{}, {}", backend, kind.name);
        one.rows = rows;
        one.floor = floor;
        are_right_ = are_right_ && one.is_right;
        numbers_["points"].push_back({{"correlation", correlation_names[static_cast<std::size_t>(of)]},
                                      {"executor", backend},
                                      {"table", kind.name},
                                      {"rows", rows},
                                      {"seconds", one.seconds},
                                      {"read_seconds", floor},
                                      {"is_right", one.is_right}});
        all.push_back(std::move(one));
      }
    }
  }

  static void print(std::string_view name, const std::vector<building>& all) {
    table shown({{"rows"}, {"built by", align::left}, {"time"}, {"reads of the columns"}, {"", align::left}});
    for (const auto& one : all) {
      shown.add({with_commas(one.rows), one.line, format_seconds(one.seconds),
                 fmt::format("{:.1f}", one.seconds / std::max(one.floor, 1e-9)), one.is_right ? "" : "WRONG"});
    }
    fmt::print("Building tables of {} points (figure 11)\n\n{}\n", name, shown.text());
  }

  static line_chart chart_of(std::string_view name, const std::vector<building>& all) {
    line_chart chart{std::string{name}, "rows (log)", "seconds (log)", true, true, {}};
    line_chart::line floor{"one read of the columns", {}};
    for (const auto& one : all) {
      const auto same = [&](const line_chart::line& line) { return line.label == one.line; };
      auto found = std::find_if(chart.lines.begin(), chart.lines.end(), same);
      if (found == chart.lines.end()) found = chart.lines.insert(found, {one.line, {}});
      const auto rows = static_cast<double>(one.rows);
      found->points.emplace_back(rows, one.seconds);
      if (floor.points.empty() || floor.points.back().first < rows) floor.points.emplace_back(rows, one.floor);
    }
    chart.lines.push_back(std::move(floor));
    return chart;
  }

  const building_request& given_;
  nlohmann::json numbers_;
  std::vector<line_chart> charts_;
  bool are_right_ = true;
};

}  // namespace

int draw_building(const building_request& given) { return buildings(given).draw(); }

}  // namespace zenith_study

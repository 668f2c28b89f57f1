#include <perf/study/calibrate_tables.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <perf/study/clock.hpp>
#include <perf/study/standard_points.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith_study {
namespace {

constexpr std::uint64_t counts[] = {1 << 14, 1 << 17, 1 << 20};
constexpr std::uint64_t ks[] = {8, 256, 2048};
constexpr unsigned weight_counts[] = {2, 4, 8};
constexpr unsigned width = 8;
constexpr std::string_view strategies[] = {"blocks", "scan", "full"};
constexpr time_limits limits{.least_repeats = 3, .most_repeats = 100, .enough_seconds = 0.004};

// A table where the executor's memory is.
struct placed_table {
  zenith::threshold_table<float> host;
  std::optional<zenith::device_threshold_table<float>> there;

  placed_table(const zenith::executor& on, std::span<const float> points, std::uint64_t rows)
      : host(zenith::threshold_table<float>::build(
            zenith::matrix_view<const float>::row_major(points.first(rows * width), rows, width))) {
    if (on.settings().target->memory == zenith::memory_space::device) there.emplace(on, host);
  }
  void query(const zenith::executor& on, std::span<const float> weights, std::uint64_t k,
             const zenith::table_query_options& options) const {
    if (there) {
      static_cast<void>(zenith::top_k(on, *there, weights, k, options));
    } else {
      static_cast<void>(zenith::top_k(on, host, weights, k, options));
    }
  }
};

// Eighths of an octave by which a share is below 1, as the model counts them.
std::uint32_t eighths_of(double share) { return static_cast<std::uint32_t>(std::floor(-8 * std::log2(share))); }

void measure_table(const zenith::device_profile& profile, const zenith::executor& on, const placed_table& table,
                   std::uint64_t rows, std::vector<measured_cost>& points) {
  for (const auto used : weight_counts) {
    std::vector<float> weights(width);
    std::fill_n(weights.begin(), used, 1.0F);
    for (const auto k : ks) {
      if (k >= rows / 8) continue;  // "blocks" scans
      for (const auto strategy : strategies) {
        if (!profile.offers_kernel(zenith::threshold_table_call::operation, strategy)) continue;
        zenith::threshold_statistics seen;
        table.query(on, weights, k, {.strategy = strategy, .statistics = &seen});
        const double share =
            static_cast<double>(std::max<std::uint64_t>(seen.rows_evaluated, 1)) / static_cast<double>(rows);
        const zenith::threshold_table_problem problem{rows,
                                                      k,
                                                      used,
                                                      zenith::key_type::float32,
                                                      on.settings().target->memory,
                                                      zenith::table_options{}.block_rows,
                                                      eighths_of(std::min(share, 1.0))};
        const double seconds =
            lower_quartile_seconds([&] { table.query(on, weights, k, {.strategy = strategy}); }, limits);
        points.push_back({zenith::threshold_table_cost(strategy, problem, profile), seconds});
      }
    }
  }
}

}  // namespace

void measure_table_points(const zenith::device_profile& profile, const zenith::executor& on,
                          const zenith::progress_function& progress, std::vector<measured_cost>& points) {
  if (!profile.offers_kernel(zenith::threshold_table_call::operation, "blocks")) return;
  double done = 0;
  for (const auto kind : {correlation::correlated, correlation::independent, correlation::anticorrelated}) {
    const auto values = standard_points(kind, *std::ranges::max_element(counts), width, 7);
    for (const auto rows : counts) {
      progress(done++ / static_cast<double>(3 * std::size(counts)),
               "threshold tables, " + std::string{correlation_names[static_cast<std::size_t>(kind)]} + ", " +
                   std::to_string(rows) + " rows");
      measure_table(profile, on, placed_table(on, values, rows), rows, points);
    }
  }
}

}  // namespace zenith_study

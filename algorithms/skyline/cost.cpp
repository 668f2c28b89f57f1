#include <algorithm>
#include <cmath>
#include <string>

#include <algorithms/skyline/choices.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace skyline_detail {
namespace {

// The size of a skyline is known only afterwards. What is expected is that of so many independent columns as a sample
// says, or as there are.
struct estimate {
  double rows;
  double columns;
  double skyline;
  double left;   ///< by the prefilter
  double pairs;  ///< of a row that is left and a row of the skyline that is compared with it

  explicit estimate(const skyline_problem& problem)
      : rows(static_cast<double>(problem.rows)),
        columns(problem.columns),
        skyline(expected_skyline(rows, independent(problem))),
        left(rows_left(rows, skyline, independent(problem) / columns)),
        // a row that is dominated is so by one of the first rows in the order
        pairs(skyline * skyline / 2 + (left - skyline) * skyline / 20) {}

 private:
  static double independent(const skyline_problem& problem) {
    return problem.independent_columns > 0 ? problem.independent_columns : static_cast<double>(problem.columns);
  }
  // Rows that one of few pivots does not dominate, as measured: about four times the skyline of independent columns;
  // of anticorrelated ones, which are worth more than they are, most rows.
  static double rows_left(double rows, double skyline, double worth) {
    const double independent = rows * (1 - std::pow(1 - skyline / std::max(rows, 1.0), 4));
    const double share = std::clamp((worth - 1.15) / 0.35, 0.0, 1.0);
    return std::max(independent, share * 0.7 * rows);
  }
};

// What a strategy works on: images column by column, or on a host the rows as they are.
enum class layout : std::uint8_t { images, rows };

// Prefilter and order, as every strategy does them, and images where it has them.
cost prepared(const skyline_problem& problem, const device_profile& on, const estimate& of,
              layout works_on = layout::images) {
  const double bytes = of.rows * of.columns * static_cast<double>(size_of(problem.type));
  const auto set = static_cast<std::uint64_t>(2 * bytes);
  const bool is_host = on.grain_bytes > 0;
  const bool by_rows = is_host && works_on == layout::rows;
  const int cores = is_host ? cores_for(bytes, on) : 0;
  cost all;
  if (!by_rows) {
    all.phases.push_back({"images",
                          {{set, bytes, bytes}},
                          {{"skyline.image", of.rows * of.columns, 0.5e-9}},
                          is_host ? 2.0 : 8.0,
                          cores});
  }
  const double values = of.rows * of.columns;
  const work prefilter =
      by_rows ? work{"skyline.rows.prefilter", values, 1.4e-9} : work{"skyline.prefilter", values, 4.5e-9};
  all.phases.push_back({"prefilter", {{set, 2 * bytes, 0}}, {prefilter}, is_host ? 4.0 : 8.0, cores});
  // codes, keys and places are found value by value on a host, and all at once on a GPU
  const double steps = of.left * std::log2(std::max(of.left, 2.0));
  const work order = by_rows   ? work{"skyline.rows.order", steps * of.columns, 0.6e-9}
                     : is_host ? work{"skyline.order.values", steps * of.columns, 2.3e-9}
                               : work{"skyline.order", steps, 4e-9};
  all.phases.push_back({"order",
                        {{set, of.left * of.columns * 16, of.left * of.columns * 8}},
                        {order},
                        is_host ? 8.0 : 48.0,  // a GPU sorts by digits
                        is_host ? cores_for(of.left * 64, on) : 0});
  if (problem.space == memory_space::host && on.host_to_device > 0) {
    all.to_device_bytes = bytes;
    all.pieces = of.columns;
    all.to_host_bytes = of.skyline * 8;
  }
  return all;
}

// Rounds of blocks that grow from 1024 to 8192 rows, of about nine launches each, or from 2^15 to 2^20 on a GPU, of
// about twenty.
void add_rounds(cost& to, const device_profile& on, const estimate& of, std::vector<work> operations) {
  const double rounds = on.grain_bytes > 0
                            ? std::min(4.0, std::log2(of.left / 1024 + 1)) + of.left / 8192 + 1
                            : std::min(3.0, std::log2(of.left / 32768 + 1) / 2) + of.left / (1 << 20) + 1;
  double seconds = 0;
  for (const auto& one : operations) seconds += one.count * one.default_seconds;
  // a worker is worth waking for as long as it takes to read a grain, some 50 us
  const int worth = static_cast<int>(std::min(1024.0, seconds / rounds / 50e-6)) + 1;
  to.phases.push_back({"rounds",
                       {},
                       std::move(operations),
                       (on.grain_bytes > 0 ? 9 : 20) * rounds,
                       on.grain_bytes > 0 ? std::min(on.cores, worth) : 0});
}

double compare_seconds(const skyline_problem& problem, const device_profile& on) {
  const double each = on.grain_bytes > 0 ? 0.04e-9 : 0.06e-9;
  return size_of(problem.type) == 8 ? 2 * each : each;
}
std::string_view compare_rate(const skyline_problem& problem) {
  return size_of(problem.type) == 8 ? "skyline.dominance/8" : "skyline.dominance/4";
}

// The rounds of a strategy that compares the values of `pairs` rows.
cost by_values(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
               std::vector<work> more = {}, layout works_on = layout::images) {
  auto all = prepared(problem, on, of, works_on);
  more.insert(more.begin(), {compare_rate(problem), pairs * of.columns, compare_seconds(problem, on)});
  add_rounds(all, on, of, std::move(more));
  return all;
}

// Of tiles of 64 points, masks skip the more the more columns there are, as measured.
cost by_masks(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
              layout works_on = layout::rows) {
  return by_values(problem, on, of, pairs * (0.3 + 1.6 / std::max(of.columns, 4.0)),
                   {{"skyline.mask", pairs / 64, 1e-9}, {"skyline.cell", of.left * of.columns, 4e-9}}, works_on);
}

}  // namespace

cost sfs_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_values(problem, on, of, of.pairs, {}, layout::rows);
}

// All rows are ordered, and by what says less of which row dominates many.
cost salsa_cost(const skyline_problem& problem, const device_profile& on) {
  estimate of(problem);
  of.pairs += (of.rows - of.left) * 64;
  of.left = of.rows;
  return by_values(problem, on, of, 1.5 * of.pairs);
}

// A row is compared with rows that are themselves dominated, and what is left is moved once a window of 1024.
cost ggs_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  const double moved = of.skyline / 1024 * of.left * of.columns / 2;
  return by_values(problem, on, of, of.pairs + of.left * 1024, {{"skyline.move", moved, 0.5e-9}}, layout::rows);
}

cost skyalign_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs);
}

cost no_quartile_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, 1.05 * of.pairs);
}

cost padded_cost(const skyline_problem& problem, const device_profile& on) {
  estimate of(problem);
  of.left *= 1.5;
  return by_masks(problem, on, of, of.pairs, layout::images);
}

// Every row is compared with all before it, until one dominates it: mostly one of the first.
cost no_sync_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  return by_masks(problem, on, of, of.pairs * (1 + 0.1 * (of.left / of.skyline - 1)));
}

// Masks are tested row by row, values with those that neither level tells apart: the fewer the more columns.
cost hybrid_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  auto all = prepared(problem, on, of, layout::rows);
  add_rounds(all, on, of,
             {{"skyline.pivot", of.pairs * 4 / of.columns, 1e-9}, {"skyline.cell", of.left * of.columns, 4e-9}});
  return all;
}

// One worker. How many rows of the tree a row is compared with, is measured.
cost bskytree_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  auto all = prepared(problem, on, of, layout::rows);
  all.phases.back().operations.clear();  // there is no order
  const double compared = of.left * std::sqrt(of.skyline);
  add_rounds(all, on, of, {{"skyline.tree", compared, 9e-9}});
  all.phases.back().cores = std::min(all.phases.back().cores, 1);
  return all;
}

// That of a skyline by values without a prefilter. How many rows may dominate a row is not asked: there is one
// strategy, and the devices rank alike.
cost band_cost(const skyline_problem& problem, const device_profile& on) {
  estimate of(problem);
  of.left = of.rows;
  of.pairs = of.skyline * of.skyline + of.rows * of.skyline / 20;
  return by_values(problem, on, of, of.pairs);
}

// Masks skip the more tiles the more there are: the exponent is measured, on a host and on a GPU.
cost bitmap_tiles_cost(const skyline_problem& problem, const device_profile& on) {
  const estimate of(problem);
  auto all = prepared(problem, on, of, layout::rows);
  const bool is_host = on.grain_bytes > 0;
  const double tests = of.left * of.columns * std::pow(of.skyline / (is_host ? 512 : 256) + 1, 0.71);
  const double cells = of.left * of.columns;
  const double tiles = 2 * of.skyline * of.columns;
  if (is_host) {
    add_rounds(all, on, of,
               {{"skyline.rows.tests", tests, 0.35e-9},
                {"skyline.rows.cell", cells, 1.6e-9},
                {"skyline.rows.tile", tiles, 1.6e-9}});
  } else {
    add_rounds(
        all, on, of,
        {{"skyline.bitmap.chunks", tests, 0.24e-9}, {"skyline.cell", cells, 4e-9}, {"skyline.tile", tiles, 4e-9}});
  }
  return all;
}

}  // namespace skyline_detail

decision decide(const skyline_problem& problem, const machine& on) {
  return detail::decide(skyline_detail::choices, problem, on.devices(), "auto");
}

cost skyline_cost(std::string_view name, const skyline_problem& problem, const device_profile& on) {
  for (const auto& one : skyline_detail::strategies) {
    if (one.name == name) return one.model(problem, on);
  }
  std::string names;
  for (const auto& one : skyline_detail::strategies) names += (names.empty() ? "" : ", ") + std::string{one.name};
  throw error(error_code::invalid_argument,
              "skyline_cost: strategy is '" + std::string{name} + "'; the strategies with a cost model are: " + names);
}

}  // namespace zenith

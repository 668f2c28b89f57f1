#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <algorithms/skyline/choices.hpp>
#include <algorithms/skyline/cost_parts.hpp>
#include <algorithms/skyline/family.hpp>

namespace zenith::skyline_detail {
namespace {

// A band of rows that fewer than k others dominate is about k skylines of a k-th of the rows: a row is in one with the
// probability that none of n / k others dominates it, which is near 1 where k of n do so, and near 0 where many more
// do.
estimate estimate_band(const band_problem& problem) {
  estimate of(problem);
  const double most = std::clamp(static_cast<double>(problem.most), 1.0, std::max(of.rows, 1.0));
  const double all = of.groups * most;
  of.skyline = std::min(of.rows, all * skyline_of(of.rows / all, of.worth * of.columns));
  of.left = of.rows;
  of.pairs = of.skyline * of.skyline + of.rows * of.skyline / 20;
  return of;
}

// What a band's strategy by bitmaps does before its rounds: the best rows are found and put in order, a few corners of
// them are compared with all rows, and the dominators of those that are left are counted among them.
cost band_prefiltered(const band_problem& problem, const device_profile& on, const estimate& of) {
  const double values = values_of(of);
  const double bytes = values * static_cast<double>(size_of(problem.type));
  const double pivots = skyline_family::band_pivots_for(problem.rows, problem.most);
  const double wide = goes_by_fours(problem) ? 1 : 2.2;
  cost all;
  all.phases.push_back(
      {"call", {}, {{"skyline.rows.call", 1, 6e-6}, {"skyline.band.pivot", pivots * (of.columns + 10), 6e-9}}, 0, 1});
  const int cores = cores_for(32 * values, on);
  if (pivots > 0) {
    all.phases.push_back({"pivots",
                          {{static_cast<std::uint64_t>(bytes), 2 * bytes, 0}},
                          {{"skyline.rows.prefilter", wide * values, 1.0e-9}},
                          2 * region(cores, on),
                          cores});
    all.phases.push_back({"count",
                          {},
                          {{"skyline.band.count", rows_screened(of) * of.columns, 1.8e-9 * by_shorter_vectors(on)}},
                          region(cores, on),
                          cores});
  }
  add_compaction(all, on, of);
  return all;
}

}  // namespace

// By values without a prefilter. The first block is compared with itself before anything is out, and where some of 64
// rows reach another, each is asked which it is.
cost band_by_sum_cost(const band_problem& problem, const device_profile& on) {
  const auto of = estimate_band(problem);
  // a block is some launches and answers to the host
  if (!is_host(on)) return by_values_on_gpu(problem, on, of, of.pairs, 60 + 9 * of.rows / 2048);
  const double block = std::min(of.rows, 2048.0);
  const double in_block = std::min(of.skyline, block);
  const double pairs = of.pairs - in_block * in_block;
  // a sample of few rows hardly tells that few are comparable
  const double reached = std::clamp(64 * std::pow(2.0, -0.85 * of.worth * of.columns), 0.1, 1.0);
  cost all;
  const int cores = cores_for(16 * values_of(of), on);
  all.phases.push_back({"images",
                        {},
                        {{"skyline.rows.call", 1, 3e-6}, {"skyline.rows.image", values_of(of), 0.7e-9}},
                        region(cores, on),
                        cores});
  add_rounds(all, on, of, {}, in_blocks(by_values(on, of), of),
             {{"skyline.rows.sort", of.sorted(), 7e-9},
              {"skyline.band.block", block * block / 2, (0.025 * of.columns + 4.5 * reached) * 1e-9},
              {"skyline.rows.pairs", pairs * of.columns * twice_if_wide(problem), 0.0335e-9}});
  return all;
}

cost band_by_bitmaps_cost(const band_problem& problem, const device_profile& on) {
  auto of = estimate_band(problem);
  if (!is_host(on)) {
    if (problem.most <= skyline_family::most_dominators_among_pivots) {
      of.left = std::max(of.skyline, of.rows_left(0.7));
    }
    // masks spare a row of the band most tiles, the more columns there are; one that is not in it meets its dominators
    const double tests = of.skyline * std::sqrt(of.skyline / 256 + 1) / of.columns;
    const double dominators = (of.left - of.skyline) * std::min<double>(problem.most, of.rows);
    return on_gpu(problem, on, of, 50 + of.columns, sort_launches(of),
                  {{"skyline.band.gpu.tests", tests, 0.36e-6}, {"skyline.band.gpu.dominators", dominators, 2.6e-9}});
  }
  if (skyline_family::band_pivots_for(problem.rows, problem.most) > 0)
    of.left = std::max(of.skyline, of.rows_left(0.7));
  const double tiles = std::pow(of.skyline / 512 + 1, 0.72);
  // those of a row that is left, as measured; in most tiles there is none of them
  const double dominators = (0.7 * problem.most + 2) * std::sqrt(1 - of.skyline / std::max(of.rows, 1.0));
  auto all = band_prefiltered(problem, on, of);
  auto shared = in_blocks({on, 128, 64 + 16 * of.columns, of.columns / 64}, of);
  shared.busy = std::min(shared.busy, 6.0);
  const double sample = std::min(of.left, std::clamp(of.left / 8, 256.0, 1024.0));
  add_rounds(all, on, of,
             {2.1e-9 + 1.75e-9 * sample * std::log2(std::max(sample, 2.0)) / std::max(of.left, 1.0), digits_of_cell},
             shared,
             {{"skyline.rows.sort", of.sorted(), 7e-9},
              {"skyline.rows.tests", of.left * of.columns * tiles, 0.5e-9},
              {"skyline.band.reached", of.left * std::min(dominators, tiles), 17e-9},
              {"skyline.band.values", of.left * dominators * twice_if_wide(problem), 3e-9},
              {"skyline.rows.begin", 1, 5e-6}});
  return all;
}

cost band_by_groups(const band_problem& problem, const device_profile& on, band_model ungrouped) {
  if (are_incomparable(problem)) return incomparable_cost(problem, on);
  const auto of = estimate_band(problem);
  if (!is_host(on) || !goes_by_groups(of)) return ungrouped(problem, on);
  auto all = groups_on_host(problem, on, of, of.pairs_in_groups());
  if (of.rows / of.groups <= skyline_family::most_settled_rows) return all;
  for (auto& phase : ungrouped(problem, on).phases) all.phases.push_back(std::move(phase));
  return all;
}

}  // namespace zenith::skyline_detail

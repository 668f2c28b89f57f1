#include <algorithm>
#include <cmath>

#include <algorithms/spatial_join/choices.hpp>
#include <algorithms/spatial_join/cost_parts.hpp>
#include <algorithms/spatial_join/placed_rows.hpp>

namespace zenith::spatial_join_detail {
namespace {

// What a device's join does with the left rows, in groups (`group_sizes`): it counts their partners, and writes them.
// Where rows have many candidates they are taken in the order of cells, and where these are more still, the rows of a
// cell share them: each then lists as many as there are cells around it, whatever their points. Fitted to 2^20 points
// and 3 to 512 partners in two and three dimensions (perf/notes/spatial-join.md).
void add_groups(cost& to, const spatial_join_problem& problem, const device_profile& on) {
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double tests = tests_of(problem);
  const double of_a_row = tests / std::max(1.0, left);
  const double cells = problem.dimensions == 3 ? 27 : 9;
  constexpr auto sizes = spatial_join_family::sizes_of_groups<void>;
  const bool is_ordered = left >= sizes.groups && of_a_row > sizes.few;
  const double candidate_bytes = 4 + problem.dimensions * static_cast<double>(size_of(problem.type));
  const double most_shared = sizes.together / candidate_bytes * sizes.eighths / 8;
  if (is_ordered) to.phases.push_back(placing(left, problem, on, "order"));
  for (const bool writes : {false, true}) {
    const bool shares =
        is_ordered && of_a_row >= (writes ? sizes.crowded * cells : sizes.many) && of_a_row <= most_shared;
    phase walk{writes ? "write" : "count",
               {{static_cast<std::uint64_t>(left * 64 + pairs * 8), 0, writes ? pairs * 8 : 0}},
               {{"spatial_join.group_row", left, is_ordered ? 14e-9 : 4e-9},
                {"spatial_join.listed", shares ? left * cells : 0, writes ? 4.4e-9 : 2.2e-9},
                // a lane tests some candidates, one after the other, and all lanes wait at the same time
                {"spatial_join.chain", std::min(of_a_row, double{sizes.some}) * on.cores, 0.7e-6}},
               4,
               0};
    if (shares) {
      walk.operations.push_back({"spatial_join.shared_test", tests, 0.2e-9});
    } else if (is_ordered) {
      walk.operations.push_back({"spatial_join.ordered_test", tests, 0.34e-9});
    } else {
      walk.operations.push_back({"spatial_join.group_test", tests, 0.6e-9});
    }
    to.phases.push_back(std::move(walk));
  }
}

// Workers who scatter and gather rows of the same memory take its lines from each other, with each doubling of their
// number as much again.
work taken_lines(double rows, int workers) {
  return {"spatial_join.taken_lines", rows * std::log2(std::max(1, workers)), 3e-9};
}

// Rows of so large a working set that its lines have left the own caches of the cores at work.
work far_rows(double rows, double set, int workers, const device_profile& on) {
  const auto own = std::min(static_cast<std::size_t>(on.rate("core.own_levels", 0)), on.levels.size());
  const double near = own == 0 ? 0 : static_cast<double>(on.levels[own - 1].bytes) * std::max(1, workers) / on.cores;
  return {"spatial_join.far_row", own == 0 ? 0 : rows * std::clamp(1 - near / std::max(1.0, set), 0.0, 1.0), 24e-9};
}

// What a host's join does with the left rows: it moves them to buckets, lists the partners of 256 at a time and sorts
// them, and writes them by rows. Where a group has too many partners the rest of them is only counted, and where lists
// have no space for all, or are not made, partners are looked for again when they are written, by a worker for a part
// of the rows.
void add_lists(cost& to, const spatial_join_problem& problem, const device_profile& on) {
  constexpr double kept_partners = spatial_join_family::kept_partners;
  constexpr double space = 32;  // partners of a row in a group's lists
  const auto left = static_cast<double>(problem.left_rows);
  const auto pairs = static_cast<double>(problem.pairs);
  const double tests = tests_of(problem);
  const double partners = pairs / std::max(1.0, left);
  const double parts = std::clamp(std::floor(left / 8192), 1.0, std::max(64.0, 4.0 * on.cores));
  const double groups = std::ceil(left / 256);
  const int by_parts = cores_of(parts * (1 << 19), on);
  const int by_groups = cores_of(groups * 256 * 512, on);
  const double of_set = left * 64 + pairs * 8;
  const auto set = static_cast<std::uint64_t>(of_set);
  const double in_group = std::min(1.0, space / std::max(1.0, partners));
  // more than kept_partners are sorted by comparisons
  const double sorted_lists = std::clamp((partners - kept_partners / 2) / kept_partners, 0.0, 1.0);
  const double again = in_group < 1 ? 1 : 1 - std::min(1.0, kept_partners / std::max(1.0, partners));
  const auto add_search = [&](phase& into, double tested, double sorted) {
    const double compared = sorted * pairs * std::log2(partners + 2);
    into.operations.push_back({"spatial_join.counted_test", tested * tests, 3.8e-9});
    into.operations.push_back({"spatial_join.sorted", compared, 4.9e-9});
  };
  to.phases.push_back({"buckets", {{set, left * 16, left * 12}}, {{"spatial_join.bucket", left, 4e-9}}, 2, by_parts});
  phase list{"list",
             {{set, 0, std::min(pairs, left * kept_partners) * 4}},
             {{"spatial_join.listed_row", left, 13e-9},
              {"spatial_join.listed_test", tests * in_group, 1.2e-9},
              far_rows(left, of_set, by_groups, on),
              taken_lines(left, by_groups)},
             1,
             by_groups};
  add_search(list, 1 - in_group, sorted_lists * in_group);
  to.phases.push_back(std::move(list));
  phase write{"write",
              {{set, 0, pairs * 8}},
              {{"spatial_join.written_row", left, 3e-9},
               {"spatial_join.written", pairs, 0.8e-9},
               {"spatial_join.listed_row", left * again, 13e-9}},
              2,
              by_parts};
  add_search(write, again, again);
  to.phases.push_back(std::move(write));
}

// Memory for the pairs, in vectors that are new: the system clears pages of 4 KiB, or large ones where there are whole
// ones, and their owner fills them with zeros. Of many workers, few gain by each other.
void add_pages(cost& to, double pairs, const device_profile& on) {
  constexpr double kept_bytes = 1 << 18;
  constexpr double short_bytes = 4 << 20;
  constexpr int most_workers = 3;
  const double bytes = std::max(0.0, pairs * 8 - kept_bytes);
  to.phases.push_back({"pages",
                       {},
                       {{"spatial_join.fresh_byte", std::min(bytes, short_bytes), 0.36e-9},
                        {"spatial_join.large_page_byte", std::max(0.0, bytes - short_bytes), 0.13e-9}},
                       2,
                       std::min(most_workers, cores_for(bytes, on))});
}

}  // namespace

cost grid_cost(const spatial_join_problem& problem, const device_profile& on) {
  cost all;
  add_call(all, false, on);
  all.phases.push_back(reading(problem, problem.dimensions, on));
  // only the right side goes to cells
  all.phases.push_back(placing(static_cast<double>(problem.right_rows), problem, on));
  if (is_gpu(on)) {
    add_groups(all, problem, on);
  } else {
    auto& place = all.phases.back();
    place.operations.push_back(taken_lines(static_cast<double>(problem.right_rows), place.cores));
    add_lists(all, problem, on);
  }
  const auto pairs = static_cast<double>(problem.pairs);
  if (on.grain_bytes > 0) add_pages(all, pairs, on);
  // the columns' extremes, and how many pairs there are
  add_waits(all, 2, on);
  add_transfers(all, problem, problem.dimensions, pairs, 2, on);
  return all;
}

}  // namespace zenith::spatial_join_detail

#include <algorithms/skyline/cost_parts.hpp>

#include <cstdint>
#include <utility>

namespace zenith::skyline_detail {
namespace {

void add_transfers(cost& to, const skyline_problem& problem, const device_profile& on, const estimate& of) {
  if (problem.space != memory_space::host || on.host_to_device <= 0) return;
  to.to_device_bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  to.to_host_bytes = of.skyline * 8;
}

// The keys, and their sort: by digits, of which each is two regions, where every worker has 4096 rows.
void add_order(cost& to, const device_profile& on, const estimate& of, const row_ordering& how) {
  const double values = of.left * of.columns;
  if (how.cell_seconds > 0) {
    const int cores = cores_for(32 * values, on);
    to.phases.push_back({"cells",
                         {},
                         {{"skyline.rows.cell", values, how.cell_seconds * by_shorter_vectors(on)}},
                         3 * region(cores, on),
                         cores});
  }
  const int sorting = static_cast<int>(std::clamp(of.left / 4096, 1.0, static_cast<double>(on.cores)));
  to.phases.push_back({"sort",
                       {},
                       {{"skyline.rows.order", of.sorted(), 1.5e-9}, compared_keys(of.left)},
                       (2 * how.digits + 2) * region(sorting, on),
                       sorting});
}

// Rounds of a GPU, whose blocks grow from 2^15 to 2^20 rows.
double gpu_rounds(const estimate& of) {
  return std::min(3.0, std::log2(of.left / 32768 + 1) / 2) + of.left / (1 << 20) + 1;
}

}  // namespace

// The models' sizes are asked for by every strategy in turn: the last is kept.
double skyline_of(double rows, double columns) {
  struct known {
    double rows = -1;
    double columns = -1;
    double size = 0;
  };
  static thread_local known last;
  if (last.rows != rows || last.columns != columns) last = {rows, columns, expected_skyline(rows, columns)};
  return last.size;
}

double region(int workers, const device_profile& on) {
  return workers > 1 ? 3 * std::log2(on.cores) / std::log2(workers) : 0;
}

double by_shorter_vectors(const device_profile& on) {
  constexpr double of_64_bytes = 0.63;
  const double measured = on.rate("core.vector", 0) / on.rate("core.estimate", 1);
  return std::sqrt(measured > 0 ? std::max(1.0, measured / of_64_bytes) : 64.0 / std::clamp(on.simd_bytes, 16, 64));
}

shared_rounds in_blocks(round_sharing all, const estimate& of) {
  constexpr double most = 8192;
  const double share = of.skyline / std::max(of.left, 1.0);
  double size = 1024;
  double blocks = 0;
  for (double at = 0; at < of.left && blocks < most_blocks; at += size, size = std::min(2 * size, most), ++blocks) {
    const double rows = std::min(size, of.left - at);
    if (at > 0) all.add_others(rows, share * at);
    all.add_itself(share * rows);
  }
  return all.all(std::max({1.0, blocks, of.left / most}), 2);
}

work compared_keys(double rows) {
  return {"skyline.rows.compared_keys", rows < 512 ? rows * std::log2(std::max(rows, 2.0)) : 0.0, 4e-9};
}

void add_compaction(cost& to, const device_profile& on, const estimate& of) {
  const int cores = cores_for(32 * of.rows, on);
  const double listed = std::min(of.rows, 32 * of.left);
  to.phases.push_back(
      {"compact", {}, {{"skyline.rows.row", 0.006 * of.rows + 0.1 * listed, 4.6e-9}}, region(cores, on), cores});
}

void add_rounds(cost& all, const device_profile& on, const estimate& of, const row_ordering& order,
                const shared_rounds& shared, std::vector<work> more) {
  add_order(all, on, of, order);
  const double cores = std::ceil(shared.busy);
  for (auto& one : more) {
    one.default_seconds *= by_shorter_vectors(on);
    one.count *= cores / shared.busy;
  }
  const int workers = static_cast<int>(cores);
  all.phases.push_back({"rounds", {}, std::move(more), shared.launches * region(workers, on), workers});
  // rows are moved by one worker, those of the skyline twice
  all.phases.push_back({"moves",
                        {},
                        {{"skyline.rows.step", shared.blocks, 0.2e-6},
                         {"skyline.rows.move", shared.moves * of.skyline * of.columns, 0.6e-9}},
                        0,
                        1});
}

cost groups_on_host(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs) {
  const double values = values_of(of);
  const double bytes = values * static_cast<double>(size_of(problem.type));
  constexpr int most_cores = 8;  // 16 are some 7 times as fast as one, as measured
  const int cores = std::min(cores_for(64 * values, on), most_cores);
  const int sorting =
      static_cast<int>(std::clamp(of.rows / 4096, 1.0, static_cast<double>(std::min(on.cores, most_cores))));
  cost all;
  all.phases.push_back({"call", {}, {{"skyline.rows.call", 1, 2e-6}, {"skyline.groups.samples", 256, 40e-9}}, 0, 1});
  all.phases.push_back({"order",
                        {{static_cast<std::uint64_t>(bytes), bytes, 0}},
                        {{"skyline.groups.key", values, 1.5e-9}, {"skyline.groups.order", of.rows, 30e-9}},
                        18 * region(sorting, on),
                        sorting});
  all.phases.push_back(
      {"groups",
       {{static_cast<std::uint64_t>(bytes), bytes, 0}},
       {{"skyline.groups.row", of.rows, 100e-9},
        {"skyline.groups.value", values, 1.5e-9},
        {"skyline.groups.pairs", pairs * of.columns * twice_if_wide(problem), 0.2e-9 * by_shorter_vectors(on)}},
       region(cores, on),
       cores});
  add_compaction(all, on, of);
  return all;
}

cost incomparable_cost(const skyline_problem& problem, const device_profile& on) {
  estimate of(problem);
  of.skyline = of.left = of.rows;
  if (!is_host(on)) return on_gpu(problem, on, of, 8, 0, {});
  const double values = values_of(of);
  const double bytes = values * static_cast<double>(size_of(problem.type));
  const int cores = cores_for(16 * values, on);
  cost all;
  all.phases.push_back({"images",
                        {{static_cast<std::uint64_t>(bytes), bytes, 0}},
                        {{"skyline.rows.call", 1, 2e-6}, {"skyline.rows.image", values, 0.7e-9}},
                        region(cores, on),
                        cores});
  add_compaction(all, on, of);
  return all;
}

double sort_launches(const estimate& of) { return of.left > 8192 ? 32 : 0; }

cost on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double launches,
            double sorting, std::vector<work> more) {
  const double bytes = values_of(of) * static_cast<double>(size_of(problem.type));
  const auto set = static_cast<std::uint64_t>(2 * bytes);
  cost all;
  all.phases.push_back(
      {"prefilter", {{set, 2 * bytes, 0}}, {{"skyline.gpu.prefilter", values_of(of), 1.6e-9}}, launches, 0});
  all.phases.push_back({"order",
                        {{set, of.left * of.columns * 12, of.left * of.columns * 8}},
                        {{"skyline.gpu.order", of.left, 40e-9}},
                        sorting,
                        0});
  all.phases.push_back({"rounds", {}, std::move(more), 40 * (gpu_rounds(of) - 1), 0});
  add_transfers(all, problem, on, of);
  return all;
}

cost by_values_on_gpu(const skyline_problem& problem, const device_profile& on, const estimate& of, double pairs,
                      double launches) {
  return on_gpu(problem, on, of, launches + of.columns, sort_launches(of),
                {{"skyline.gpu.image", values_of(of), 1e-9},
                 {"skyline.gpu.pairs", pairs * of.columns * twice_if_wide(problem), 0.06e-9}});
}

}  // namespace zenith::skyline_detail

#include <algorithms/spatial_join/cost_parts.hpp>

#include <algorithm>
#include <cmath>

namespace zenith::spatial_join_detail {

int cores_of(double bytes, const device_profile& on) { return on.grain_bytes > 0 ? cores_for(bytes, on) : 0; }
double workers_of(double bytes, const device_profile& on) {
  return on.grain_bytes > 0 ? cores_for(bytes, on) : on.cores;
}

double unpredicted(double pairs, double rows) { return std::min(pairs, 6 * rows); }

double share_in_reach(double k, double pairs) { return std::sqrt(std::min(1.0, 2 * k / std::max(1.0, pairs))); }

// Cells are as wide as the distance: 9 squares around a circle, 27 cubes around a ball. Where points crowd there are
// more.
double tests_of(const spatial_join_problem& problem) {
  const double times = problem.dimensions == 3 ? 6.5 : 3;
  return std::max(times * static_cast<double>(problem.pairs), static_cast<double>(problem.tests));
}

double tests_of_some(const top_k_spatial_join_problem& problem, double share, const device_profile& on) {
  const double part = share * share;
  // a device's cells are as many as before
  if (is_gpu(on) || problem.tests == 0) return tests_of(problem) * part;
  const double all = static_cast<double>(problem.left_rows) * static_cast<double>(problem.right_rows);
  spatial_join_problem usual = problem;
  usual.tests = 0;
  return std::max(tests_of(usual) * part, std::min(static_cast<double>(problem.tests) * share, all * part));
}

phase reading(const spatial_join_problem& problem, unsigned columns, const device_profile& on) {
  const double bytes = static_cast<double>(problem.left_rows + problem.right_rows) * columns *
                       static_cast<double>(size_of(problem.type));
  return {"extremes", {{static_cast<std::uint64_t>(bytes), bytes, 0}}, {}, 2, cores_of(bytes, on)};
}

phase placing(double rows, const spatial_join_problem& problem, const device_profile& on, std::string_view name) {
  const double bytes = rows * (problem.dimensions + 1) * static_cast<double>(size_of(problem.type));
  constexpr double row_bytes = 128;  // as the kernels say that a row is worth
  return {name,
          {{static_cast<std::uint64_t>(2 * bytes), 3 * bytes, 2 * bytes}},
          {{"spatial_join.place", rows, is_gpu(on) ? 12e-9 : 7e-9}},
          is_gpu(on) ? 5.0 : 3.0,
          cores_of(rows * row_bytes, on)};
}

phase selecting(double pairs, double rows, double k, const device_profile& on) {
  return {"select",
          {{static_cast<std::uint64_t>(pairs * 24), pairs * 24, pairs * 16}},
          {{"spatial_join.select", pairs, is_gpu(on) ? 4e-9 : 1e-9},
           {"spatial_join.select_unpredicted", is_gpu(on) ? 0 : unpredicted(pairs, rows), 3e-9},
           {"spatial_join.order", k * std::log2(k + 2), is_gpu(on) ? 4e-9 : 1.9e-9}},
          8,
          on.grain_bytes > 0 ? 1 : 0};
}

void add_call(cost& to, bool has_pool, const device_profile& on) {
  if (!is_gpu(on)) to.phases.push_back({"call", {}, {{"spatial_join.host_call", has_pool ? 1.5 : 1.0, 5e-6}}, 0, 1});
}

void add_waits(cost& to, double waits, const device_profile& on) {
  if (!is_gpu(on)) return;
  to.phases.push_back(
      {"wait", {}, {{"spatial_join.call", 1, 20e-6}, {"spatial_join.wait", waits, on.link_latency}}, 0, 1});
}

namespace {

// Seconds of one copy of so many bytes, when the one before it has been queued.
double copy_seconds(double bytes, bool is_back, const device_profile& on) {
  cost copied;
  (is_back ? copied.to_host_bytes : copied.to_device_bytes) = bytes;
  return bytes > 0 ? seconds(copied, on) - on.link_latency : 0;
}

}  // namespace

// Each column is a copy of its own, which begins as slowly as a short one does, and no kernel runs before the last has
// arrived. Of the results, each column is a copy as well, into memory that the host has filled with zeros.
void add_transfers(cost& to, const spatial_join_problem& problem, unsigned columns, double pairs,
                   unsigned result_columns, const device_profile& on) {
  if (problem.space != memory_space::host || on.host_to_device <= 0) return;
  const auto value = static_cast<double>(size_of(problem.type));
  const double left = copy_seconds(static_cast<double>(problem.left_rows) * value, false, on);
  const double right = copy_seconds(static_cast<double>(problem.right_rows) * value, false, on);
  // the rate is a factor: the copies' seconds are known of the link
  to.phases.push_back({"columns",
                       {},
                       {{"spatial_join.wait", 1, on.link_latency}, {"spatial_join.copy", columns * (left + right), 1}},
                       2.0 * columns,
                       1});
  const double bytes = pairs * 4;
  const double others = result_columns - 1;
  to.phases.push_back({"results",
                       {},
                       {{"spatial_join.zero", bytes * result_columns, 0.17e-9},
                        {"spatial_join.copy", others * copy_seconds(bytes, true, on), 1}},
                       others,
                       1});
  to.to_host_bytes = bytes;
}

}  // namespace zenith::spatial_join_detail

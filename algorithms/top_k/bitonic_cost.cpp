#include <algorithms/top_k/bitonic_cost.hpp>

#include <bit>

#include <algorithms/top_k/cost_terms.hpp>

namespace zenith::top_k_detail {
namespace {

constexpr std::string_view call_rate = "top_k.bitonic.call";
constexpr rate_names load_rate{"top_k.bitonic.load/4", "top_k.bitonic.load/8"};
constexpr rate_names compare_rate{"top_k.bitonic.compare/4", "top_k.bitonic.compare/8"};
constexpr rate_names select_rate{"top_k.bitonic.select/4", "top_k.bitonic.select/8"};
constexpr rate_names sort_rate{"top_k.bitonic.sort/4", "top_k.bitonic.sort/8"};

// Combined steps: a lane that holds x = 16 items does log2(x) steps of the network between two trips to shared memory.
constexpr double x = 16;
constexpr double combined = 4;

struct network {
  double comparators = 0;
  double moved = 0;  // D_I + D_O of all combined steps, in items

  network& operator+=(const network& other) {
    comparators += other.comparators;
    moved += other.moved;
    return *this;
  }
};

// Local sort: runs of 2, 4 … k, log2 of the new length steps for each.
network sort_runs(double items, double k) {
  network sum;
  for (double run = 2; run <= k; run *= 2) {
    const double steps = std::log2(run);
    // the first x items of a lane are sorted before they are written to shared memory at all
    sum += {steps * items / 2, run <= x ? 0 : 2 * items * std::ceil(steps / combined)};
  }
  return sum;
}

// Halves the items `times` times: merge compares each pair of runs, rebuild sorts the bitonic runs of k that stay.
network merge_and_rebuild(double items, double k, double times) {
  network sum;
  const double steps = std::log2(k);
  for (; times > 0; times -= 1) {
    items /= 2;
    sum += {items + steps * items / 2, 3 * items + 2 * items * std::ceil(steps / combined)};
  }
  return sum;
}

// One kernel of section 7.2: max(T_g, T_s), with `read` bytes of global memory going in and `left` items coming out;
// and the comparisons, by which a GPU whose shared memory is fast is bound.
phase kernel_phase(std::string_view name, const network& steps, double loaded, double read, double left, key_type type,
                   double tiles) {
  // delta_i, what bank conflicts multiply a step's time by. Padding and chunk permutation leave few; the paper's own
  // sum for k = 32 is T_s = 17.5 D / B_S, where the steps alone move 11.3 D.
  constexpr double delta = 1.55;
  // of one multiprocessor; on an H200
  const double typical_comparison = size_of(type) == 4 ? 0.11e-9 : 0.25e-9;
  const double e = entry_bytes(type);
  // a tile is one multiprocessor's work, however many others are idle
  phase one{name, {}, {}, 1, static_cast<int>(std::clamp(tiles, 1.0, 1e6))};
  // T_g = D / B_G + 1/x D / B_G
  one.memory.push_back({static_cast<std::uint64_t>(read), read, left * e});
  // T_s = sum of delta_i (D_Ii + D_Oi) / B_S; what a tile works on lies in the fastest level
  one.memory.push_back({0, delta * (steps.moved + loaded) * e, 0});
  one.operations.push_back({compare_rate(type), steps.comparators, typical_comparison});
  return one;
}

// Runs that are longer than half a tile go through global memory, step by step, while their distance is a tile's.
void add_global_steps(cost& to, double items, double k, double tile, double e) {
  const auto passes = [&](std::string_view name, double over, double times) {
    const double bytes = over * e * times;
    to.phases.push_back({name, {{static_cast<std::uint64_t>(over * e), bytes, bytes}}, {}, times, 0});
  };
  double steps = 0;
  for (double run = 2 * tile; run <= k; run *= 2) steps += std::log2(run / tile) + 1;
  passes("global sort", items, steps);
  for (double left = items / 2; left >= k; left /= 2) passes("global merge", left, std::log2(k / tile) + 3);
}

// A SortReducer, then BitonicReducers, each of which divides the items by x, until one run of k is left.
cost gpu_cost(const top_k_problem& problem, double k) {
  const auto type = problem.type;
  const double e = entry_bytes(type);
  const double lane_items = 128 / e;  // a lane's items are the shortest run
  const double tile = 256 * lane_items;
  k = std::max(k, lane_items);
  double items = std::ceil(static_cast<double>(problem.count) / k) * k;
  const auto reduction_of = [&] {
    return std::min(x, static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(items / k)))));
  };
  const double D = static_cast<double>(problem.count) * static_cast<double>(size_of(type));

  cost total;
  if (2 * k > tile && items > tile) {
    const network steps = sort_runs(items, std::min(k, tile));
    total.phases.push_back(kernel_phase("sort_tiles", steps, items, D, items, type, items / tile));
    add_global_steps(total, items, k, tile, e);
    return total;
  }
  double reduction = reduction_of();
  network steps = sort_runs(items, k);
  steps += merge_and_rebuild(items, k, std::log2(reduction));
  total.phases.push_back(kernel_phase("sort_reduce", steps, items, D, items / reduction, type, items / tile));
  for (items /= reduction; items > k; items /= reduction) {
    reduction = reduction_of();
    steps = merge_and_rebuild(items, k, std::log2(reduction));
    total.phases.push_back(kernel_phase("bitonic_reduce", steps, 0, items * e, items / reduction, type, items / tile));
  }
  // the results
  total.phases.push_back({"emit", {}, {}, 1, 0});
  return total;
}

// Appendix C: each core takes its share a tile at a time, and merges what a tile leaves into its best so far. A lane of
// a SIMD register runs a network of its own, so that a core is left with k items a lane, which are selected from. The
// tile lies in L1, or in L2 for a large k; the network is bound by its comparisons.
cost cpu_cost(const top_k_problem& problem, double k, const device_profile& on) {
  const auto type = problem.type;
  const auto n = static_cast<double>(problem.count);
  const auto w = static_cast<double>(size_of(type));
  const double e = entry_bytes(type);
  constexpr double entry_word = 8;
  constexpr double tile_bytes = 16 * 1024;
  constexpr double typical_call = 0.28e-6;
  constexpr double typical_load = 0.1e-9;
  constexpr double typical_selection = 4.2e-9;
  constexpr double typical_sort = 0.35e-9;

  const double lanes = std::max(1.0, on.simd_bytes / entry_word);
  const double rows = std::max(k, tile_bytes / (lanes * e));
  // a step over a register of entries, two registers where an image has 64 bits
  const double typical_comparison = 1.1e-9 / lanes * (w / 4);
  const int cores = cores_for(n * w * (std::log2(k) + 1), on);
  const double tiles = cores * std::ceil(n / cores / (rows * lanes));
  network of_a_tile = sort_runs(rows * lanes, k);
  of_a_tile += merge_and_rebuild(rows * lanes, k, std::log2(rows / k));
  of_a_tile += merge_and_rebuild(2 * k * lanes, k, 1);

  cost total;
  total.phases.push_back({"call", {}, {{call_rate, 1, typical_call}}, 0, 1});
  // a tile is read, then worked on: the two do not overlap
  total.phases.push_back({"read", {{static_cast<std::uint64_t>(n * w), n * w, 0}}, {}, 0, cores});
  total.phases.push_back({"tiles",
                          {},
                          {{load_rate(type), tiles * rows * lanes, typical_load},
                           {compare_rate(type), tiles * of_a_tile.comparators, typical_comparison}},
                          cores > 1 ? 1.0 : 0.0,
                          cores});
  phase finish{"finish", {}, {{select_rate(type), cores * lanes * k, typical_selection}}, 0, 1};
  if (problem.order == ordering::sorted) {
    finish.operations.push_back({sort_rate(type), sort_comparisons(static_cast<double>(problem.k)), typical_sort});
  }
  total.phases.push_back(std::move(finish));
  return total;
}

}  // namespace

cost bitonic_on_gpu(const top_k_problem& problem) {
  return gpu_cost(problem, static_cast<double>(std::bit_ceil(std::max<std::uint64_t>(problem.k, 1))));
}

cost bitonic_cost(const top_k_problem& problem, const device_profile& on) {
  const auto k = static_cast<double>(std::bit_ceil(std::max<std::uint64_t>(problem.k, 1)));
  cost total;
  if (on.kind == device_kind::gpu) {
    constexpr double typical_call = 12e-6;
    total = bitonic_on_gpu(problem);
    total.phases.push_back({"call", {}, {{call_rate, 1, typical_call}}, 0, 1});
  } else {
    total = cpu_cost(problem, k, on);
  }
  add_transfers(total, problem, on);
  return total;
}

}  // namespace zenith::top_k_detail

#include <algorithms/top_k/bitonic_cost.hpp>

#include <bit>

#include <algorithms/top_k/cost_terms.hpp>

namespace zenith::top_k_detail {
namespace {

constexpr std::string_view call_rate = "top_k.bitonic.call";
constexpr rate_names compare_rate{"top_k.bitonic.compare/4", "top_k.bitonic.compare/8"};

// x, the items of one lane: what each kernel divides the number of items by. The paper found 16 to be best.
constexpr double x = 16;
// Combined steps: a lane that holds x items does log2(x) steps of the network between two trips to shared memory.
constexpr double combined = 4;
// delta_i, what bank conflicts multiply a step's time by. Padding and chunk permutation leave few; the paper's own sum
// for k = 32 is T_s = 17.5 D / B_S, where the steps alone move 11.3 D.
constexpr double delta = 1.55;

struct network {
  double comparators = 0;  // of all items
  double moved = 0;        // D_I + D_O of all combined steps, in items
};

// Sorts runs of `from` items into runs of `to`, `from` being sorted: log2 of the new length steps for each doubling.
network sort_runs(double items, double from, double to) {
  network sum;
  for (double run = 2 * from; run <= to; run *= 2) {
    const double steps = std::log2(run);
    sum.comparators += steps * items / 2;
    // the first x items of a lane are sorted before they are written to shared memory at all
    sum.moved += run <= x ? 0 : 2 * items * std::ceil(steps / combined);
  }
  return sum;
}

// Halves the items `times` times: merge compares each pair of runs, rebuild sorts the bitonic runs of k that stay.
network merge_and_rebuild(double items, double k, double times) {
  network sum;
  const double steps = std::log2(k);
  for (; times > 0; times -= 1) {
    items /= 2;
    sum.comparators += items + steps * items / 2;
    sum.moved += 3 * items + 2 * items * std::ceil(steps / combined);
  }
  return sum;
}

// max(T_g, T_s) of one kernel over `items` items, `read` bytes of them in global memory, that leaves `left`.
phase kernel_phase(std::string_view name, const network& steps, double read, double left, const top_k_problem& problem,
                   const device_profile& on) {
  const double e = entry_bytes(problem.type);
  const bool is_gpu = on.kind == device_kind::gpu;
  phase one{name, {}, {}, 0, 0};
  // T_g = D / B_G + 1/x D / B_G
  one.memory.push_back({static_cast<std::uint64_t>(read), read, left * e});
  if (is_gpu) {
    // T_s = sum of delta_i (D_Ii + D_Oi) / B_S; a tile's working set is that of the fastest level
    one.memory.push_back({0, delta * steps.moved * e, 0});
    one.launches = 1;
  } else {
    // on a CPU the tile lives in registers and L1, and the network is bound by its comparisons (appendix C)
    constexpr double typical_comparison = 0.5e-9;
    one.operations.push_back({compare_rate(problem.type), steps.comparators, typical_comparison});
    one.cores = cores_for(read, on);
    one.launches = one.cores > 1 ? 1 : 0;
  }
  return one;
}

}  // namespace

cost bitonic_cost(const top_k_problem& problem, const device_profile& on) {
  const double e = entry_bytes(problem.type);
  const auto k = static_cast<double>(std::bit_ceil(std::max<std::uint64_t>(problem.k, 1)));
  double items = std::ceil(static_cast<double>(problem.count) / k) * k;
  const auto reduce = [&] {
    return std::min(x, static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(items / k))));
  };

  cost total;
  if (on.kind == device_kind::cpu) {
    constexpr double typical_call = 1e-6;
    total.phases.push_back({"call", {}, {{call_rate, 1, typical_call}}, 0, 1});
  }
  double reduction = reduce();
  network first = sort_runs(items, 1, k);
  const network merges = merge_and_rebuild(items, k, std::log2(reduction));
  first.comparators += merges.comparators;
  first.moved += merges.moved + items;
  const double D = static_cast<double>(problem.count) * static_cast<double>(size_of(problem.type));
  total.phases.push_back(kernel_phase("sort_reduce", first, D, items / reduction, problem, on));
  for (items /= reduction; items > k; items /= reduction) {
    reduction = reduce();
    const network steps = merge_and_rebuild(items, k, std::log2(reduction));
    total.phases.push_back(kernel_phase("bitonic_reduce", steps, items * e, items / reduction, problem, on));
  }
  add_transfers(total, problem, on);
  return total;
}

}  // namespace zenith::top_k_detail

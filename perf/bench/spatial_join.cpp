// Spatial joins of two sets of points spread evenly over [0, 1000]^2, distance 1, scores 0 … 100, all in: the k best
// pairs by every strategy, and all pairs. Beside them the workload on which a score spares nothing: the better a left
// point is, the further it is from the better right points.
//
//   zenith-bench-spatial-join [--benchmark_filter=threshold_first/whole/rows:1048576] …

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <zenith/zenith.hpp>

namespace {

enum class workload { whole, against };

struct side {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> scores;

  [[nodiscard]] zenith::scored_points<float> points() const { return {{x, y}, scores}; }
};

side make_side(workload kind, std::size_t rows, bool is_right) {
  std::mt19937 random(is_right ? 2 : 1);
  std::uniform_real_distribution<float> place(0, 1000);
  side made{std::vector<float>(rows), std::vector<float>(rows), std::vector<float>(rows)};
  for (std::size_t i = 0; i < rows; ++i) {
    made.x[i] = place(random);
    made.y[i] = place(random);
    const auto whole = static_cast<float>(random() % 101);
    made.scores[i] = kind == workload::whole ? whole : (is_right ? 1000 - made.x[i] : made.x[i]) / 10;
  }
  return made;
}

const std::pair<side, side>& sides_of(workload kind, std::size_t rows) {
  static std::map<std::pair<workload, std::size_t>, std::pair<side, side>> known;
  auto& at = known[{kind, rows}];
  if (at.first.x.empty()) at = {make_side(kind, rows, false), make_side(kind, rows, true)};
  return at;
}

void run_top_k(benchmark::State& state, workload kind, const std::string& strategy, std::size_t rows, std::size_t k,
               const std::string& on) {
  const auto& [left, right] = sides_of(kind, rows);
  const auto ex = zenith::make_executor(on);
  zenith::spatial_join_statistics counted;
  for (auto _ : state) {
    benchmark::DoNotOptimize(zenith::top_k_spatial_join(
        ex, left.points(), right.points(), k, {.predicate = {1}, .strategy = strategy, .statistics = &counted}));
  }
  state.counters["rounds"] = static_cast<double>(counted.rounds);
  state.counters["left_rows"] = static_cast<double>(counted.left_rows);
  state.counters["candidates"] = static_cast<double>(counted.candidates);
}

void run_all(benchmark::State& state, std::size_t rows, const std::string& on) {
  const auto& [left, right] = sides_of(workload::whole, rows);
  const auto ex = zenith::make_executor(on);
  std::size_t pairs = 0;
  for (auto _ : state) {
    pairs = zenith::spatial_join(ex, left.points().coordinates, right.points().coordinates, {.predicate = {1}}).count;
  }
  state.counters["pairs"] = static_cast<double>(pairs);
}

// Points, scores and results in the memory of the executor's device.
struct resident_side {
  resident_side(const zenith::executor& on, const side& of) : x(on, of.x), y(on, of.y), scores(on, of.scores) {}

  [[nodiscard]] zenith::device_scored_points<float> points() const {
    return {{x.device(), y.device()}, scores.device()};
  }

  zenith::array<float> x;
  zenith::array<float> y;
  zenith::array<float> scores;
};

void run_resident(benchmark::State& state, workload kind, const std::string& strategy, std::size_t rows, std::size_t k,
                  const std::string& on) {
  const auto ex = zenith::make_executor(on);
  const resident_side left(ex, sides_of(kind, rows).first);
  const resident_side right(ex, sides_of(kind, rows).second);
  const auto a = left.points();
  const auto b = right.points();
  const bool is_all = k == 0;
  if (is_all) k = zenith::count_spatial_join(ex, a.coordinates, b.coordinates, {.predicate = {1}}).count;
  zenith::array<std::uint32_t> to_left(ex, k);
  zenith::array<std::uint32_t> to_right(ex, k);
  zenith::array<float> to_scores(ex, k);
  for (auto _ : state) {
    if (is_all) {
      (void)zenith::spatial_join(ex, a.coordinates, b.coordinates, to_left.device(), to_right.device(),
                                 {.predicate = {1}});
    } else {
      (void)zenith::top_k_spatial_join(ex, a, b, to_left.device(), to_right.device(), to_scores.device(),
                                       {.predicate = {1}, .strategy = strategy});
    }
    ex.synchronize();
  }
  state.counters["pairs"] = static_cast<double>(k);
}

// Of indexes: the same points, trees made before.
const std::pair<zenith::spatial_index<float, 2>, zenith::spatial_index<float, 2>>& indexes_of(workload kind,
                                                                                              std::size_t rows) {
  using index = zenith::spatial_index<float, 2>;
  static std::map<std::pair<workload, std::size_t>, std::pair<index, index>> all;
  const auto found = all.find({kind, rows});
  if (found != all.end()) return found->second;
  const auto& [left, right] = sides_of(kind, rows);
  return all[{kind, rows}] = {index::build(left.points()), index::build(right.points())};
}

void run_build(benchmark::State& state, zenith::bulk_order order, std::size_t rows, const std::string& on) {
  const auto& [left, right] = sides_of(workload::whole, rows);
  const auto ex = zenith::make_executor(on);
  for (auto _ : state) {
    benchmark::DoNotOptimize(zenith::spatial_index<float, 2>::build(ex, left.points(), {16, order}));
  }
}

// A build on the device, of points there.
void run_resident_build(benchmark::State& state, std::size_t rows, const std::string& on) {
  const auto ex = zenith::make_executor(on);
  const resident_side points(ex, sides_of(workload::whole, rows).first);
  for (auto _ : state) {
    benchmark::DoNotOptimize(zenith::device_spatial_index<float, 2>::build(ex, points.points(), {16}));
    ex.synchronize();
  }
}

void run_index(benchmark::State& state, workload kind, const char* strategy, std::size_t rows, std::size_t k,
               const std::string& on) {
  const auto& [left, right] = indexes_of(kind, rows);
  const auto ex = zenith::make_executor(on);
  for (auto _ : state) {
    (void)zenith::top_k_spatial_join(ex, left, right, k, {.predicate = zenith::within{1}, .strategy = strategy});
  }
}

void run_index_all(benchmark::State& state, std::size_t rows, const std::string& on) {
  const auto& [left, right] = indexes_of(workload::whole, rows);
  const auto ex = zenith::make_executor(on);
  std::size_t pairs = 0;
  for (auto _ : state) pairs = zenith::spatial_join(ex, left, right, {.predicate = zenith::within{1}}).count;
  state.counters["pairs"] = static_cast<double>(pairs);
}

void run_index_resident(benchmark::State& state, std::size_t rows, const std::string& on) {
  const auto ex = zenith::make_executor(on);
  const zenith::device_spatial_index<float, 2> left(ex, indexes_of(workload::whole, rows).first);
  const zenith::device_spatial_index<float, 2> right(ex, indexes_of(workload::whole, rows).second);
  const auto pairs = zenith::count_spatial_join(ex, left, right, {.predicate = zenith::within{1}}).count;
  zenith::array<std::uint32_t> to_left(ex, pairs);
  zenith::array<std::uint32_t> to_right(ex, pairs);
  for (auto _ : state) {
    (void)zenith::spatial_join(ex, left, right, to_left.device(), to_right.device(), {.predicate = zenith::within{1}});
    ex.synchronize();
  }
}

void run_range(benchmark::State& state, std::size_t rows, std::size_t k, const std::string& on) {
  const auto& [left, right] = indexes_of(workload::whole, rows);
  const auto ex = zenith::make_executor(on);
  for (auto _ : state) {
    (void)zenith::top_k_range(ex, left, zenith::spatial_ball<float, 2>{{500, 500}, 100}, k);
  }
}

template <class Run>
void add(const std::string& name, const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(7);
}

void add_all() {
  std::vector<std::string> executors{"cpu:threads=1"};
  const auto threads = std::thread::hardware_concurrency();
  if (threads > 1) executors.push_back("cpu:threads=" + std::to_string(threads));
  for (const auto& info : zenith::backends()) {
    if (info.name == "cuda" && info.usable) executors.emplace_back("cuda");
  }
  for (const auto& on : executors) {
    for (const std::size_t rows : {std::size_t{1} << 15, std::size_t{1} << 20}) {
      const auto where = "/rows:" + std::to_string(rows) + "/";
      for (const auto kind : {workload::whole, workload::against}) {
        for (const char* strategy : {"threshold_first", "full", "ba", "sfa", "dfa", "rj"}) {
          for (const std::size_t k : {100, 1000, 10000}) {
            add(strategy + std::string(kind == workload::whole ? "/whole" : "/against") + where +
                    "k:" + std::to_string(k) + "/" + on,
                [=](auto& state) { run_top_k(state, kind, strategy, rows, k, on); });
          }
        }
        for (const char* strategy : {"ba", "sfa", "dfa", "rj"}) {
          for (const std::size_t k : {100, 1000, 10000}) {
            add("index_" + std::string{strategy} + (kind == workload::whole ? "/whole" : "/against") + where +
                    "k:" + std::to_string(k) + "/" + on,
                [=](auto& state) { run_index(state, kind, strategy, rows, k, on); });
          }
        }
      }
      if (zenith::make_executor(on).settings().target->memory == zenith::memory_space::device) {
        for (const char* strategy : {"threshold_first", "full"}) {
          for (const std::size_t k : {100, 1000, 10000}) {
            add(strategy + std::string("/resident") + where + "k:" + std::to_string(k) + "/" + on,
                [=](auto& state) { run_resident(state, workload::whole, strategy, rows, k, on); });
          }
        }
        add("build/resident" + where + on, [=](auto& state) { run_resident_build(state, rows, on); });
        add("index_all/resident" + where + on, [=](auto& state) { run_index_resident(state, rows, on); });
        add("all/resident" + where + on, [=](auto& state) { run_resident(state, workload::whole, {}, rows, 0, on); });
      }
      add("index_all" + where + on, [=](auto& state) { run_index_all(state, rows, on); });
      add("range" + where + "k:100/" + on, [=](auto& state) { run_range(state, rows, 100, on); });
      add("build" + where + on,
          [=](auto& state) { run_build(state, zenith::bulk_order::sort_tile_recursive, rows, on); });
      add("build_hilbert" + where + on, [=](auto& state) { run_build(state, zenith::bulk_order::hilbert, rows, on); });
      add("all" + where + on, [=](auto& state) { run_all(state, rows, on); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

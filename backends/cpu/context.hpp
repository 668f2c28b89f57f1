#pragma once

/// \file
/// The CPU's device context (core/device/context.hpp): kernels run in the unit of the executor's instruction set, on as
/// many workers as the launch is worth; memory is the host's.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <backends/cpu/collecting.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/kernel_launch.hpp>
#include <backends/cpu/launch.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/parallel_sort.hpp>
#include <backends/cpu/scratch.hpp>
#include <core/device/context.hpp>
#include <core/device/counts.hpp>
#include <core/device/list.hpp>
#include <core/device/pieces.hpp>

namespace zenith::cpu_backend {

/// `Kernels` is the family's list, which the units were compiled from, `entries` the functions of one unit.
template <class Kernels>
class context {
 public:
  static constexpr bool runs_on_host = true;
  static constexpr device::u32 most_samples = 16384;
  static constexpr bool samples_broadly = false;

  context(const execution& on, const kernel_entry* entries)
      : isa_(find_isa(on.isa)),
        threads_(on.threads),
        memory_(scratch_resource(on)),
        entries_(entries),
        launch_state_(memory_) {
    constexpr std::size_t usual_buffers = 32;
    owned_.reserve(usual_buffers);
  }

  void count_into(device::named_counts* counts) { counts_ = counts; }

  template <class T>
  T* buffer(std::uint64_t n) {
    require_outside("buffer");
    owned_.emplace_back(memory_, lines_of(n * sizeof(T)));
    return reinterpret_cast<T*>(owned_.back().data());
  }
  template <class T>
  T* zeroed(std::uint64_t n) {
    T* const at = buffer<T>(n);
    fill_zero(at, n);
    return at;
  }
  void release(const void* at) {
    require_outside("release");
    std::erase_if(owned_, [at](const auto& one) { return one.data() == at; });
  }
  template <class T>
  void fill_zero(T* at, std::uint64_t n) {
    if (n > 0) std::memset(static_cast<void*>(at), 0, n * sizeof(T));
  }
  template <class T>
  void copy(T* to, const T* from, std::uint64_t n) {
    std::copy_n(from, n, to);
  }
  template <class T>
  const T* input(const T* from, std::uint64_t /*n*/, memory_space /*space*/) {
    return from;
  }
  void fetch(std::span<const device::fetched_array> arrays, const std::uint32_t* begins, std::uint64_t n,
             std::uint64_t length) {
    require_outside("fetch");
    device::copy_pieces(arrays, begins, n, length);
  }
  template <class T>
  T* output(T* to, std::uint64_t /*n*/, memory_space /*space*/) {
    return to;
  }
  device::event_counter counter(std::string_view name) {
    if (counts_ == nullptr) return {};
    auto* const at = buffer<std::uint64_t>(1);
    *at = 0;
    counted_.emplace_back(name, at);
    return {at};
  }

  template <device::item_kernel K>
  void for_each(std::uint64_t n, const K& run) {
    launch(run, n, cost_of(run, n), threads_);
  }
  template <device::team_kernel K>
  void for_teams(std::uint64_t n, const K& run) {
    launch(run, n, cost_of(run, n), threads_);
  }
  template <device::team_kernel... K>
  void for_teams_in_turn(const device::turn<K>&... turns) {
    (for_teams(turns.n, turns.kernel), ...);
  }
  template <device::tile_kernel K>
  void for_tiles(const K& run) {
    const std::uint64_t n = run.source.size();
    const std::uint64_t bytes = n * bytes_of_item(run.source);
    int threads = threads_;
    if constexpr (device::collecting<K>) {
      const auto workers = workers_of(run.survivors);
      threads = static_cast<int>(workers.size());
      for (auto& mine : workers) {
        mine.count = 0;
        mine.bound = *run.survivors.bound;
        *mine.shared = shared_bound(mine.bound);
      }
    }
    launch(run, n, bytes, threads);
    if constexpr (device::collecting<K>) gather(run.survivors);
  }

  template <class Entry>
  device::collection<Entry> collect(std::uint64_t n, std::uint64_t k, std::uint64_t /*expected*/) {
    const std::uint64_t full = full_buffer(n, k);
    const std::uint64_t capacity = full + most_items_of_a_tile;
    const std::uint64_t workers = most_workers(n);
    auto* const mine = buffer<collecting_worker<Entry>>(workers);
    // no limit: a worker whose buffer is full drops what cannot be among the k best
    device::collection<Entry> to{buffer<Entry>(workers * capacity),
                                 buffer<device::u32>(1),
                                 buffer<Entry>(1),
                                 ~device::u32{0},
                                 static_cast<device::u32>(k),
                                 mine};
    auto* const shared = buffer<std::uint64_t>(1);
    auto* const spare = buffer<Entry>(workers * (capacity + spare_slack));
    for (std::uint64_t i = 0; i < workers; ++i) {
      mine[i] = {to.entries + i * capacity,
                 spare + i * (capacity + spare_slack),
                 0,
                 static_cast<std::uint32_t>(full),
                 to.k,
                 Entry::worst(),
                 shared,
                 &isa_,
                 make_space<Entry>};
    }
    *to.count = 0;
    *to.bound = Entry::worst();
    collecting_.emplace_back(mine, workers);
    return to;
  }
  template <class Entry>
  void kth_best(Entry* entries, std::uint64_t n, std::uint64_t rank, Entry* to) {
    require_outside("kth_best");
    const scratch<Entry> spare(memory_, n + spare_slack);
    *to = kth_of<Entry>(isa_, {entries, n}, rank, spare.data());
  }
  template <class Entry>
  const Entry* select_best(const device::collection<Entry>& of, std::uint64_t k) {
    require_outside("select_best");
    const std::uint64_t held = *of.count;
    if (held < k) std::fill_n(of.entries + held, k - held, Entry::worst());
    return select_best(of.entries, held, std::min(held, k));
  }
  template <class Entry>
  const Entry* select_best(Entry* entries, std::uint64_t n, std::uint64_t k) {
    require_outside("select_best");
    order_best<Entry>(isa_, memory_, threads_, {entries, n}, k);
    return entries;
  }

  template <class Op, class T>
  void reduce(const T* from, std::uint64_t n, T* to) {
    require_outside("reduce");
    *to = std::accumulate(from + 1, from + n, from[0], Op{});
  }
  template <class T>
  void exclusive_scan(const T* from, std::uint64_t n, T* to) {
    require_outside("exclusive_scan");
    T sum{};
    for (std::uint64_t i = 0; i < n; ++i) {
      const T value = from[i];
      to[i] = sum;
      sum += value;
    }
    to[n] = sum;
  }
  void histogram(const device::u32* from, std::uint64_t n, std::uint64_t bins, device::u32* to) {
    require_outside("histogram");
    fill_zero(to, bins);
    for (std::uint64_t i = 0; i < n; ++i) ++to[from[i]];
  }
  template <device::item_test Test>
  void compact(std::uint64_t n, const Test& test, device::u32* to, device::u32* count) {
    require_outside("compact");
    const int workers = workers_for(threads_, device::compaction_cost(test, n));
    *count = static_cast<device::u32>(compact_on(workers, n, device::part_test_of(test), to));
  }
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, std::uint64_t n, int /*bits*/ = 8 * sizeof(Key), int /*ignored*/ = 0) {
    require_outside("sort_pairs");
    if (n > 1) sort_stably(memory_, keys, values, n, threads_);
  }
  template <class Key, class Value>
  void sort_segments(Key* keys, Value* values, std::uint64_t n, const device::u32* offsets, std::uint64_t segments,
                     std::uint64_t longest) {
    require_outside("sort_segments");
    if (longest < worth_worker) {
      return sort_short_segments(memory_, keys, values, n, offsets, segments, threads_);
    }
    for (std::uint64_t s = 0; s < segments; ++s) {
      sort_pairs(keys + offsets[s], values + offsets[s], offsets[s + 1] - offsets[s]);
    }
  }
  template <class Key, class Value>
  void merge_pairs(const Key* a, const Value* a_values, std::uint64_t a_count, const Key* b, const Value* b_values,
                   std::uint64_t b_count, Key* keys, Value* values) {
    require_outside("merge_pairs");
    std::uint64_t i = 0;
    std::uint64_t j = 0;
    for (std::uint64_t at = 0; at < a_count + b_count; ++at) {
      const bool from_a = j == b_count || (i < a_count && !(b[j] < a[i]));
      keys[at] = from_a ? a[i] : b[j];
      values[at] = from_a ? a_values[i] : b_values[j];
      ++(from_a ? i : j);
    }
  }

  template <device::state_test Test, class Phase>
  void when(const Test& test, const Phase& phase) {
    if (!test()) return;
    const bool outer = std::exchange(in_phase_, true);
    phase();
    in_phase_ = outer;
  }
  template <device::state_test Test>
  bool decide(const Test& test) {
    require_outside("decide");
    return test();
  }
  template <class T>
  T read(const T* at) {
    require_outside("read");
    return *at;
  }
  [[nodiscard]] std::string_view variant() const { return isa_.name; }
  [[nodiscard]] int threads() const { return threads_; }
  void finish() {
    require_outside("finish");
    if (counts_ == nullptr) return;
    for (const auto& [name, at] : counted_) counts_->add(name, std::exchange(*at, 0));
  }

 private:
  void require_outside(const char* word) const {
    if (in_phase_) throw std::logic_error(std::string{word} + ": a phase of `when` may only launch");
  }

  template <class Source>
  static std::uint64_t bytes_of_item(const Source& /*source*/) {
    if constexpr (device::formula_source<Source>) return Source::streams * sizeof(typename Source::key);
    return sizeof(typename Source::key);
  }

  /// A launch of fewer items has no chunk for more.
  [[nodiscard]] std::uint64_t most_workers(std::uint64_t items) const {
    return std::clamp<std::uint64_t>(items / least_chunk + 1, 1, static_cast<std::uint64_t>(threads_));
  }

  template <class K>
  static std::uint64_t cost_of(const K& run, std::uint64_t n) {
    if constexpr (requires { run.launch_cost(n); }) {
      return run.launch_cost(n);
    } else {
      return n * device::item_cost_of<K>;
    }
  }

  template <class K>
  void launch(const K& run, std::uint64_t n, std::uint64_t bytes, int threads) {
    static_assert(device::scratch_bytes_of<K> <= device::most_scratch_bytes);
    constexpr unsigned position = device::position_in<K>(Kernels{});
    launch_on(threads, launch_state_,
              {entries_[position], &run, n, bytes, device::scratch_bytes_of<K>, device::team_kernel<K>});
  }

  template <class Entry>
  std::span<collecting_worker<Entry>> workers_of(const device::collection<Entry>& of) const {
    const auto found = std::ranges::find(collecting_, of.workers, &std::pair<void*, std::uint64_t>::first);
    return {static_cast<collecting_worker<Entry>*>(of.workers), static_cast<std::size_t>(found->second)};
  }
  /// Moves what the workers hold to the front of the collection, whose part of it each has filled.
  template <class Entry>
  void gather(const device::collection<Entry>& of) const {
    std::uint64_t count = 0;
    for (const auto& mine : workers_of(of)) {
      if (mine.entries != of.entries + count) std::copy_n(mine.entries, mine.count, of.entries + count);
      count += mine.count;
    }
    *of.count = static_cast<device::u32>(count);
  }

  const isa_table& isa_;
  int threads_;
  std::pmr::memory_resource& memory_;
  const kernel_entry* entries_;
  launch_state launch_state_;
  bool in_phase_ = false;
  device::named_counts* counts_ = nullptr;
  std::vector<std::pair<std::string, std::uint64_t*>> counted_;
  std::vector<std::pair<void*, std::uint64_t>> collecting_;  ///< of a collection, its workers and how many they are
  std::vector<scratch<line>> owned_;
};

}  // namespace zenith::cpu_backend

#pragma once

/// \file
/// The device context (core/device/context.hpp) on a GPU. Everything is enqueued on the executor's stream; whatever
/// depends on the data is decided on the device, so that only `decide`, `read` and `finish` ever wait.

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <backends/cuda/primitives/chained.hpp>
#include <backends/cuda/primitives/kernels.hpp>
#include <backends/cuda/primitives/library.hpp>
#include <backends/cuda/tile/runs.hpp>
#include <backends/cuda/tile/turns.hpp>
#include <backends/cuda/top_k/strategies.hpp>
#include <core/device/context.hpp>
#include <core/device/counts.hpp>
#include <core/device/pieces.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

class context {
 public:
  static constexpr bool runs_on_host = false;
  static constexpr u32 most_samples = tuning::most_samples;
  static constexpr bool samples_broadly = true;

  explicit context(const execution& on) : current_(on.device), memory_(on) {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() {
    // the caller's memory may go when this has failed: nothing may still be copying from or to it
    if (touches_host_) simt::settle(memory_.stream());
  }

  /// Who wants events counted. Before the first `counter`.
  void count_into(device::named_counts* counts) { counts_ = counts; }

  // ---- memory

  template <class T>
  T* buffer(u64 n) {
    require_outside("buffer");
    return memory_.allocate<T>(n);
  }
  template <class T>
  T* zeroed(u64 n) {
    require_outside("zeroed");
    return memory_.allocate_zeroed<T>(n);
  }
  void release(const void* at) {
    require_outside("release");
    memory_.release(at);
  }
  template <class T>
  void fill_zero(T* at, u64 n) {
    if (gate_ == nullptr) {
      if (n > 0) simt::fill_zero(at, n * sizeof(T), memory_.stream());
    } else {
      using word = word_of<T>;
      for_each(n * sizeof(T) / sizeof(word), clear_words<word>{reinterpret_cast<word*>(at)});
    }
  }
  template <class T>
  void copy(T* to, const T* from, u64 n) {
    if (gate_ == nullptr) {
      if (n > 0) simt::copy(to, from, n * sizeof(T), memory_.stream());
    } else {
      for_each(n, copy_items<T>{to, from});
    }
  }
  template <class T>
  const T* input(const T* from, u64 n, memory_space space) {
    require_outside("input");
    if (space == memory_space::device) return from;
    T* const here = memory_.allocate<T>(n);
    if (n > 0) {
      touches_host_ = true;
      simt::copy(here, from, n * sizeof(T), memory_.stream());
    }
    return here;
  }
  void fetch(std::span<const device::fetched_array> arrays, const u32* begins, u64 n, u64 length) {
    require_outside("fetch");
    if (n == 0 || length == 0) return;
    std::vector<u32> list(n);
    touches_host_ = true;
    simt::copy(list.data(), begins, n * sizeof(u32), memory_.stream());
    simt::synchronize(memory_.stream());
    simt::copy_pieces(arrays, list, length, memory_.stream());
  }
  /// What lies on the host is delivered whole: kernels must write all of it.
  template <class T>
  T* output(T* to, u64 n, memory_space space) {
    require_outside("output");
    if (space == memory_space::device) return to;
    T* const here = memory_.allocate<T>(n);
    if (n > 0) deliveries_.push_back({to, here, n * sizeof(T)});
    return here;
  }
  device::event_counter counter(std::string_view name) {
    require_outside("counter");
    if (counts_ == nullptr) return {};
    u64* const at = memory_.allocate_zeroed<u64>(1);
    counted_.emplace_back(name, at);
    return {at};
  }

  // ---- launches

  template <device::item_kernel K>
  void for_each(u64 n, const K& run) {
    if (n == 0) return;
    using kernel = run_items<K>;
    simt::launch(kernel{run, n, gate_},
                 {.grid = blocks(n, kernel::block_size, tuning::most_blocks), .stream = memory_.stream()});
  }
  template <device::team_kernel K>
  void for_teams(u64 n, const K& run) {
    static_assert(device::scratch_bytes_of<K> <= device::most_scratch_bytes);
    if (n == 0) return;
    simt::launch(run_teams<K>{run, n, gate_}, {.grid = blocks(n, 1, tuning::most_team_blocks),
                                               .shared_bytes = device::scratch_bytes_of<K>,
                                               .stream = memory_.stream()});
  }
  /// No more blocks than the device holds at once: they wait for each other.
  template <device::team_kernel... K>
  void for_teams_in_turn(const device::turn<K>&... turns) {
    using kernel = run_turns<K...>;
    static_assert(kernel::scratch_bytes <= device::most_scratch_bytes);
    const u64 most = std::max({turns.n...});
    if (most == 0) return;
    const unsigned grid = most == 1 ? 1 : blocks(most, 1, resident_grid<kernel>(kernel::scratch_bytes));
    u32* const arrived = grid == 1 ? memory_.allocate<u32>(1) : memory_.allocate_zeroed<u32>(1);
    simt::launch(
        kernel{turn_list<K...>::of(turns...), arrived, gate_},
        {.grid = grid, .shared_bytes = kernel::scratch_bytes, .stream = memory_.stream(), .waits_within = grid > 1});
  }
  template <device::tile_kernel K>
  void for_tiles(const K& run) {
    static_assert(device::scratch_bytes_of<K> <= device::most_scratch_bytes);
    using kernel = run_tiles<K>;
    constexpr auto shared = device::scratch_bytes_of<K>;
    const unsigned grid = blocks(run.source.size(), team_items(run.source), resident_grid<kernel>(shared));
    simt::launch(kernel{run, gate_}, {.grid = grid, .shared_bytes = shared, .stream = memory_.stream()});
  }

  // ---- selection

  /// One array and a counter. Above its capacity the counter counts on, which is what a strategy asks about.
  template <class Entry>
  device::collection<Entry> collect(u64 n, u64 k, u64 expected) {
    require_outside("collect");
    const u64 capacity = std::min(n, expected + k);
    device::collection<Entry> to{memory_.allocate<Entry>(capacity), memory_.allocate<u32>(1),
                                 memory_.allocate<Entry>(1), static_cast<u32>(capacity), static_cast<u32>(k)};
    for_each(1, begin_collection<Entry>{to.count, to.bound});
    return to;
  }
  // Defined in primitives/selection.cu for the entries that there are: their kernels take long to compile.
  template <class Entry>
  void kth_best(Entry* entries, u64 n, u64 rank, Entry* to);
  template <class Entry>
  const Entry* select_best(const device::collection<Entry>& of, u64 k);
  template <class Entry>
  const Entry* select_best(Entry* entries, u64 n, u64 k);

  // ---- primitives

  template <class Op, class T>
  void reduce(const T* from, u64 n, T* to) {
    require_outside("reduce");
    if (n == 0) return fill_zero(to, 1);
    const u64 parts = blocks(n, tuning::part_items, tuning::most_parts);
    const u64 part = (n + parts - 1) / parts;
    const u64 used = (n + part - 1) / part;
    T* const found = used == 1 ? to : memory_.allocate<T>(used);
    for_teams(used, reduce_part<Op, T>{from, n, part, found});
    if (used > 1) for_teams(1, reduce_part<Op, T>{found, used, used, to});
  }
  template <class T>
  void exclusive_scan(const T* from, u64 n, T* to) {
    require_outside("exclusive_scan");
    if (n >= tuning::most_scanned) return library::exclusive_scan(memory_, as_word(from), n, as_word(to));
    using word = std::remove_pointer_t<decltype(as_word(to))>;
    const u64 tiles = n / tuning::scanned_items + 1;
    simt::launch(scan_tile<word>{as_word(from), n, chain(tiles, sizeof(word) == 8), as_word(to)},
                 {.grid = static_cast<unsigned>(tiles), .stream = memory_.stream()});
  }
  void histogram(const u32* from, u64 n, u64 bins, u32* to) {
    require_outside("histogram");
    fill_zero(to, bins);
    if (n == 0) return;
    if (bins > tuning::most_bins_in_scratch) return for_each(n, count_in_place{from, to});
    const u64 teams = blocks(n, tuning::histogram_team_items, tuning::most_histogram_teams);
    for_teams(teams, count_in_scratch{from, n, bins, to, teams});
  }
  template <device::item_test Test>
  void compact(u64 n, const Test& test, u32* to, u32* count) {
    require_outside("compact");
    if (n == 0) return fill_zero(count, 1);
    const u64 tiles = (n + tuning::compacted_items - 1) / tuning::compacted_items;
    simt::launch(compact_tile<Test>{test, n, chain(tiles), to, count},
                 {.grid = static_cast<unsigned>(tiles), .stream = memory_.stream()});
  }
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, int bits = 8 * sizeof(Key), int ignored = 0) {
    require_outside("sort_pairs");
    library::sort_pairs(memory_, as_word(keys), as_word(values), n, bits, ignored);
  }
  template <class Key, class Value>
  void sort_segments(Key* keys, Value* values, u64 n, const u32* offsets, u64 segments, u64 longest) {
    require_outside("sort_segments");
    if (n == 0 || segments == 0) return;
    if (std::min(n, longest) <= tuning::most_sorted_in_block) {
      return library::sort_short_segments(memory_, as_word(keys), as_word(values), offsets, segments,
                                          std::min(n, longest));
    }
    // two stable sorts, by key and then by segment: CUB's segmented sort took a minute and a half to compile
    Key* const sorted_keys = memory_.allocate<Key>(n);
    Value* const sorted_values = memory_.allocate<Value>(n);
    u32* const order = memory_.allocate<u32>(n);
    u32* const segment = memory_.allocate<u32>(n);
    copy(sorted_keys, static_cast<const Key*>(keys), n);
    for_each(n, number_items{order});
    library::sort_pairs(memory_, as_word(sorted_keys), order, n);
    for_each(n, find_segment{offsets, segments, order, segment});
    library::sort_pairs(memory_, segment, order, n, static_cast<int>(std::bit_width(segments + 1)));
    for_each(n, gather_pairs<Key, Value>{order, keys, values, sorted_keys, sorted_values});
    for_each(n, put_in_segments<Key, Value>{offsets, segments, sorted_keys, sorted_values, keys, values});
  }
  template <class Key, class Value>
  void merge_pairs(const Key* a, const Value* a_values, u64 a_count, const Key* b, const Value* b_values, u64 b_count,
                   Key* keys, Value* values) {
    require_outside("merge_pairs");
    for_each(a_count + b_count,
             device::merge_item<Key, Value>{a, a_values, a_count, b, b_values, b_count, keys, values});
  }

  /// A word more than core/device/context.hpp has: algorithms/top_k/stored_keys.hpp.
  template <class T>
  void top_k(const top_k_call& call) {
    require_outside("top_k");
    top_k_runner<T, filter_strategy>::run(memory_.on(), call);
  }

  // ---- decisions

  /// The phase is enqueued in any case; its kernels return at once when the test, made once, failed.
  template <device::state_test Test, class Phase>
  void when(const Test& test, const Phase& phase) {
    u32* const gate = memory_.allocate<u32>(1);
    simt::launch(latch<Test>{test, gate, gate_}, {.stream = memory_.stream()});
    const inside_phase now(gate_, gate);
    phase();
  }
  template <device::state_test Test>
  bool decide(const Test& test) {
    require_outside("decide");
    auto* const told = static_cast<u32*>(page().get());
    simt::launch(latch<Test>{test, told, nullptr}, {.stream = memory_.stream()});
    return fetched<u32>() != 0;
  }
  template <class T>
  T read(const T* at) {
    require_outside("read");
    static_assert(sizeof(T) <= page_bytes);
    // stored by a kernel: a copy of few bytes takes longer
    using word = word_of<T>;
    for_each(sizeof(T) / sizeof(word),
             copy_items<word>{static_cast<word*>(page().get()), reinterpret_cast<const word*>(at)});
    return fetched<T>();
  }
  [[nodiscard]] std::string_view variant() const { return "warp tiles"; }
  [[nodiscard]] int threads() const { return 0; }

  void finish() {
    require_outside("finish");
    if (deliveries_.empty() && counted_.empty()) {
      if (std::exchange(touches_host_, false)) simt::synchronize(memory_.stream());
      return;
    }
    // the caller's memory is written when nothing can fail any more
    simt::synchronize(memory_.stream());
    touches_host_ = true;
    std::vector<u64> counts(counted_.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      simt::copy(&counts[i], counted_[i].second, sizeof(u64), memory_.stream());
      simt::fill_zero(counted_[i].second, sizeof(u64), memory_.stream());
    }
    for (const auto& one : deliveries_) simt::copy(one.to, one.from, one.bytes, memory_.stream());
    simt::synchronize(memory_.stream());
    touches_host_ = false;
    for (std::size_t i = 0; i < counts.size(); ++i) counts_->add(counted_[i].first, counts[i]);
  }

 private:
  struct delivery {
    void* to;
    const void* from;
    std::size_t bytes;
  };

  /// Puts the outer phase's gate back, also when the phase throws.
  class inside_phase {
   public:
    inside_phase(const u32*& gate, const u32* now) : gate_(gate), outer_(std::exchange(gate, now)) {}
    inside_phase(const inside_phase&) = delete;
    inside_phase& operator=(const inside_phase&) = delete;
    ~inside_phase() { gate_ = outer_; }

   private:
    const u32*& gate_;
    const u32* outer_;
  };

  void require_outside(const char* word) const {
    if (gate_ != nullptr) throw std::logic_error(std::string{word} + ": a phase of `when` may only launch");
  }

  /// What a T is cleared and copied by.
  template <class T>
  using word_of = std::conditional_t<alignof(T) % sizeof(u32) == 0, u32, unsigned char>;

  static unsigned blocks(u64 items, u64 each, unsigned most) {
    return static_cast<unsigned>(std::clamp<u64>((items + each - 1) / each, 1, most));
  }
  /// As many blocks as the device holds at once.
  template <class Kernel>
  static unsigned resident_grid(std::size_t shared_bytes) {
    const int resident = simt::limits().multiprocessors * simt::resident_blocks<Kernel>(shared_bytes);
    return static_cast<unsigned>(std::max(resident, 1));
  }
  /// Items that a team reads at a time.
  template <class Source>
  static u64 team_items(const Source& /*source*/) {
    if constexpr (device::block_source<Source>) {
      return u64{Source::block_items} * tuning::team_threads;
    } else {
      return u64{tile_layout<Source>::items} * tuning::team_warps;
    }
  }

  /// Words of the library are unsigned; what is moved or added modulo 2^n may be anything of their width.
  template <class T>
  static auto* as_word(T* at) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    using word = std::conditional_t<sizeof(T) == 4, u32, u64>;
    return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const word, word>*>(at);
  }

  /// Of a launch with so many tiles. `is_wide`: of sums of any size.
  tile_chain chain(u64 tiles, bool is_wide = false) {
    if (tiles == 1) return {};
    u64* const words = memory_.allocate_zeroed<u64>((is_wide ? 2 : 1) * tiles + 1);
    return {reinterpret_cast<u32*>(words), words + 1, is_wide ? words + 1 + tiles : nullptr};
  }

  void sort_entries(ordered::entry32* entries, u64 n);
  void sort_entries(ordered::entry64* entries, u64 n);

  // A page that the host can read, when something is asked for.
  static constexpr std::size_t page_bytes = 4096;
  simt::host_page& page() {
    if (!page_) page_.emplace(page_bytes);
    touches_host_ = true;
    return *page_;
  }
  template <class T>
  T fetched() {
    simt::synchronize(memory_.stream());
    touches_host_ = false;
    T value;
    page_->read(&value, 0, sizeof(T));
    return value;
  }

  simt::device_guard current_;
  std::optional<simt::host_page> page_;
  call_memory memory_;
  device::named_counts* counts_ = nullptr;
  std::vector<std::pair<std::string, u64*>> counted_;
  std::vector<delivery> deliveries_;
  const u32* gate_ = nullptr;
  bool touches_host_ = false;
};

static_assert(device::device_context<context>);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

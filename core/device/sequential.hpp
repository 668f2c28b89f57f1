#pragma once

/// \file
/// The sequential context: one thread and the standard library. It runs every strategy as its text says, so it is the
/// second oracle of the tests, what debuggers and sanitizers see through, and the meaning of context.hpp. It refuses
/// what the concept forbids but other devices would not notice.

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <core/device/context.hpp>
#include <core/device/counts.hpp>
#include <core/device/pieces.hpp>
#include <core/device/plain_team.hpp>
#include <zenith/backend.hpp>

namespace zenith::device {

namespace detail {

template <class Entry>
class sequential_sink {
 public:
  explicit sequential_sink(const collection<Entry>& to) : to_(to) {}
  Entry bound() const { return *to_.bound; }

  template <class Team, class Tile, class Make>
  void append(Team&, const Tile& items, u64 flags, const Make& make) {
    for (; flags != 0; flags &= flags - 1) {
      const Entry entry = make(items.first + static_cast<u32>(__builtin_ctzll(flags)));
      if (better(*to_.bound, entry)) continue;
      if (*to_.count < to_.capacity) to_.entries[*to_.count] = entry;
      ++*to_.count;
    }
  }
  template <class Team>
  void close(Team&) {}

 private:
  const collection<Entry>& to_;
};

/// Teams run one after another.
struct waits_for_nobody {
  template <class Test>
  static void until(const Test& test) {
    if (!test()) throw std::logic_error("wait_until: no other team runs that could make it true");
  }
};

}  // namespace detail

class sequential_context {
 public:
  static constexpr bool runs_on_host = true;
  static constexpr u32 most_samples = 4096;
  static constexpr bool samples_broadly = false;

  sequential_context() = default;
  explicit sequential_context(const execution& /*on*/) {}

  void count_into(named_counts* counts) { counts_ = counts; }

  template <class T>
  T* buffer(u64 n) {
    require_outside("buffer");
    owned_.push_back(std::make_unique_for_overwrite<line[]>((n * sizeof(T) + sizeof(line) - 1) / sizeof(line)));
    // what is read before it is written shows
    std::memset(owned_.back().get(), 0xa5, (n * sizeof(T) + sizeof(line) - 1) / sizeof(line) * sizeof(line));
    return reinterpret_cast<T*>(owned_.back().get());
  }
  template <class T>
  T* zeroed(u64 n) {
    T* const at = buffer<T>(n);
    fill_zero(at, n);
    return at;
  }
  void release(const void* at) {
    require_outside("release");
    const auto found = std::ranges::find(owned_, at, [](const auto& one) -> const void* { return one.get(); });
    if (found == owned_.end()) throw std::logic_error("release: no buffer begins there");
    owned_.erase(found);
  }
  template <class T>
  void fill_zero(T* at, u64 n) {
    if (n > 0) std::memset(static_cast<void*>(at), 0, n * sizeof(T));
  }
  template <class T>
  void copy(T* to, const T* from, u64 n) {
    std::copy_n(from, n, to);
  }
  template <class T>
  const T* input(const T* from, u64 /*n*/, memory_space /*space*/) {
    return from;
  }
  void fetch(std::span<const device::fetched_array> arrays, const u32* begins, u64 n, u64 length) {
    require_outside("fetch");
    device::copy_pieces(arrays, begins, n, length);
  }
  template <class T>
  T* output(T* to, u64 /*n*/, memory_space /*space*/) {
    return to;
  }
  event_counter counter(std::string_view name) {
    if (counts_ == nullptr) return {};
    u64* const at = buffer<u64>(1);
    *at = 0;
    counted_.emplace_back(name, at);
    return {at};
  }

  template <item_kernel K>
  void for_each(u64 n, const K& run) {
    for (u64 i = 0; i < n; ++i) run(i);
  }
  template <team_kernel K>
  void for_teams(u64 n, const K& run) {
    for (u64 i = 0; i < n; ++i) {
      const auto memory = scratch_for<K>();
      plain_team<detail::sequential_sink, detail::waits_for_nobody> team(i, 0, 0, memory.get());
      run(team, i);
    }
  }
  template <team_kernel... K>
  void for_teams_in_turn(const turn<K>&... turns) {
    (for_teams(turns.n, turns.kernel), ...);
  }
  template <tile_kernel K>
  void for_tiles(const K& run) {
    const auto memory = scratch_for<K>();
    plain_team<detail::sequential_sink, detail::waits_for_nobody> team(0, 0, run.source.size(), memory.get());
    run(team);
  }

  /// Little capacity: so that tests see what happens when more reach the bound than were expected.
  template <class Entry>
  collection<Entry> collect(u64 n, u64 k, u64 expected) {
    const u64 capacity = std::min(n, std::max(expected, k));
    collection<Entry> to{buffer<Entry>(capacity), buffer<u32>(1), buffer<Entry>(1), static_cast<u32>(capacity),
                         static_cast<u32>(k)};
    *to.count = 0;
    *to.bound = Entry::worst();
    return to;
  }
  template <class Entry>
  void kth_best(Entry* entries, u64 n, u64 rank, Entry* to) {
    require_outside("kth_best");
    std::sort(entries, entries + n, [](const Entry& a, const Entry& b) { return better(a, b); });
    *to = entries[rank - 1];
  }
  template <class Entry>
  const Entry* select_best(const collection<Entry>& of, u64 k) {
    require_outside("select_best");
    if (*of.count > of.capacity) throw std::logic_error("select_best: the collection lost some");
    for (u64 i = *of.count; i < k; ++i) of.entries[i] = Entry::worst();
    std::sort(of.entries, of.entries + *of.count, [](const Entry& a, const Entry& b) { return better(a, b); });
    return of.entries;
  }

  template <class Entry>
  const Entry* select_best(Entry* entries, u64 n, u64 k) {
    require_outside("select_best");
    if (n < k) throw std::logic_error("select_best: there are fewer entries");
    std::sort(entries, entries + n, [](const Entry& a, const Entry& b) { return better(a, b); });
    return entries;
  }

  template <class Op, class T>
  void reduce(const T* from, u64 n, T* to) {
    require_outside("reduce");
    *to = std::accumulate(from + 1, from + n, from[0], Op{});
  }
  template <class T>
  void exclusive_scan(const T* from, u64 n, T* to) {
    require_outside("exclusive_scan");
    T sum{};
    for (u64 i = 0; i < n; ++i) {
      const T value = from[i];
      to[i] = sum;
      sum += value;
    }
    to[n] = sum;
  }
  void histogram(const u32* from, u64 n, u64 bins, u32* to) {
    require_outside("histogram");
    fill_zero(to, bins);
    for (u64 i = 0; i < n; ++i) ++to[from[i]];
  }
  template <item_test Test>
  void compact(u64 n, const Test& test, u32* to, u32* count) {
    require_outside("compact");
    *count = 0;
    for (u64 i = 0; i < n; ++i) {
      if (test(i)) to[(*count)++] = static_cast<u32>(i);
    }
  }
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, int bits = 8 * sizeof(Key), int ignored = 0) {
    require_outside("sort_pairs");
    for (u64 i = 0; i < n && bits < static_cast<int>(8 * sizeof(Key)); ++i) {
      if (keys[i] >> bits != 0) throw std::logic_error("sort_pairs: a longer key");
    }
    std::vector<std::pair<Key, Value>> all(n);
    for (u64 i = 0; i < n; ++i) all[i] = {keys[i], values[i]};
    std::ranges::stable_sort(all, {}, [ignored](const auto& pair) { return pair.first >> ignored; });
    for (u64 i = 0; i < n; ++i) {
      keys[i] = all[i].first;
      values[i] = all[i].second;
    }
  }
  template <class Key, class Value>
  void sort_segments(Key* keys, Value* values, u64 /*n*/, const u32* offsets, u64 segments, u64 longest) {
    require_outside("sort_segments");
    for (u64 s = 0; s < segments; ++s) {
      const u64 length = offsets[s + 1] - offsets[s];
      if (length > longest) throw std::logic_error("sort_segments: a segment is longer than the longest");
      sort_pairs(keys + offsets[s], values + offsets[s], length);
    }
  }
  template <class Key, class Value>
  void merge_pairs(const Key* a, const Value* a_values, u64 a_count, const Key* b, const Value* b_values, u64 b_count,
                   Key* keys, Value* values) {
    require_outside("merge_pairs");
    u64 i = 0;
    u64 j = 0;
    for (u64 at = 0; at < a_count + b_count; ++at) {
      const bool from_a = j == b_count || (i < a_count && !(b[j] < a[i]));
      keys[at] = from_a ? a[i] : b[j];
      values[at] = from_a ? a_values[i] : b_values[j];
      ++(from_a ? i : j);
    }
  }

  template <state_test Test, class Phase>
  void when(const Test& test, const Phase& phase) {
    if (!test()) return;
    const bool outer = std::exchange(in_phase_, true);
    phase();
    in_phase_ = outer;
  }
  template <state_test Test>
  bool decide(const Test& test) {
    require_outside("decide");
    return test();
  }
  template <class T>
  T read(const T* at) {
    require_outside("read");
    return *at;
  }
  [[nodiscard]] std::string_view variant() const { return "sequential"; }
  [[nodiscard]] int threads() const { return 1; }
  void finish() {
    require_outside("finish");
    if (counts_ == nullptr) return;
    for (const auto& [name, at] : counted_) counts_->add(name, std::exchange(*at, 0));
  }

 private:
  struct alignas(64) line {
    unsigned char bytes[64];
  };

  void require_outside(const char* word) const {
    if (in_phase_) throw std::logic_error(std::string{word} + ": a phase of `when` may only launch");
  }
  template <class K>
  static std::unique_ptr<line[]> scratch_for() {
    static_assert(scratch_bytes_of<K> <= most_scratch_bytes);
    auto memory = std::make_unique_for_overwrite<line[]>(scratch_bytes_of<K> / sizeof(line) + 1);
    std::memset(memory.get(), 0xa5, (scratch_bytes_of<K> / sizeof(line) + 1) * sizeof(line));
    return memory;
  }

  bool in_phase_ = false;
  named_counts* counts_ = nullptr;
  std::vector<std::pair<std::string, u64*>> counted_;
  std::vector<std::unique_ptr<line[]>> owned_;
};

static_assert(device_context<sequential_context>);

}  // namespace zenith::device

#pragma once

/// \file
/// The device context of core/device/context.hpp on Kokkos. One thread at a time is inside Kokkos, so a context holds a
/// session for its life; whatever it launches runs in the order of the space's default instance.

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <backends/kokkos/launch.hpp>
#include <backends/kokkos/memory.hpp>
#include <backends/kokkos/primitives.hpp>
#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>
#include <core/device/context.hpp>
#include <core/device/counts.hpp>
#include <core/device/pieces.hpp>
#include <zenith/backend.hpp>

namespace zenith::kokkos_backend {

/// `Teams` says how teams run: host_teams or device_teams (launch.hpp). A space that has one can be asked for the
/// other, so that tests see a device's teams on a host.
template <class Teams>
class context_on {
 public:
  static constexpr bool runs_on_host = is_host_space;
  /// A sample of a device's goes to the host (`kth_best`), and so do its survivors, which a larger sample makes fewer.
  static constexpr u32 most_samples = is_host_space ? 1U << 14 : 1U << 16;
  static constexpr bool samples_broadly = true;  // no team sees the items in order: the bound does not rise

  explicit context_on(const execution& /*on*/) {}
  context_on(const context_on&) = delete;
  context_on& operator=(const context_on&) = delete;
  ~context_on() {
    // What runs may use what is freed next. A space that failed has said so before, or says so to the next call.
    try {
      wait();
    } catch (...) {
    }
  }

  void count_into(device::named_counts* counts) { counts_ = counts; }

  template <class T>
  T* buffer(u64 n) {
    require_outside("buffer");
    owned_.emplace_back();  // first, so that nothing is lost when there is no memory to note it
    owned_.back() = block(bytes_of<T>(n));
    return static_cast<T*>(owned_.back().at());
  }
  template <class T>
  T* zeroed(u64 n) {
    T* const at = buffer<T>(n);
    fill_zero(at, n);
    return at;
  }
  void release(const void* at) {
    require_outside("release");
    wait();  // for what runs and still uses it
    std::erase_if(owned_, [at](const block& one) { return one.at() == at; });
  }
  template <class T>
  void fill_zero(T* at, u64 n) {
    zero(at, n);
  }
  template <class T>
  void copy(T* to, const T* from, u64 n) {
    copy_within(to, from, n);
  }
  template <class T>
  const T* input(const T* from, u64 n, memory_space where) {
    if (is_host_space || where == memory_space::device) return from;
    T* const mirror = buffer<T>(n);
    copy_from_host(mirror, from, n);
    return mirror;
  }
  void fetch(std::span<const device::fetched_array> arrays, const u32* begins, u64 n, u64 length) {
    require_outside("fetch");
    if constexpr (is_host_space) {
      wait();
      device::copy_pieces(arrays, begins, n, length);
    } else {
      std::vector<u32> list(n);
      copy_to_host(list.data(), begins, n);
      for (const auto& one : arrays) {
        std::vector<std::byte> pieces(n * length * one.item_bytes);
        device::copy_pieces(pieces.data(), one, list.data(), n, length);
        copy_from_host(one.to, pieces.data(), pieces.size());
      }
    }
  }
  template <class T>
  T* output(T* to, u64 n, memory_space where) {
    if (is_host_space || where == memory_space::device) return to;
    T* const mirror = buffer<T>(n);
    const auto [caller, bytes] = bytes_at(to, n);
    mirrored_.push_back({caller, bytes_at(mirror, n).first, bytes});
    return mirror;
  }
  device::event_counter counter(std::string_view name) {
    if (counts_ == nullptr) return {};
    u64* const at = buffer<u64>(1);
    fill_zero(at, 1);
    counted_.emplace_back(name, at);
    return {at};
  }

  template <device::item_kernel K>
  void for_each(u64 n, const K& run) {
    launch_items(n, run);
  }
  template <device::team_kernel K>
  void for_teams(u64 n, const K& run) {
    static_assert(device::scratch_bytes_of<K> <= device::most_scratch_bytes);
    Teams::launch_teams(n, run);
  }
  template <device::team_kernel... K>
  void for_teams_in_turn(const device::turn<K>&... turns) {
    (for_teams(turns.n, turns.kernel), ...);
  }
  template <device::tile_kernel K>
  void for_tiles(const K& run) {
    static_assert(device::scratch_bytes_of<K> <= device::most_scratch_bytes);
    Teams::launch_tiles(run);
  }

  /// One array, for some more than are expected.
  template <class Entry>
  device::collection<Entry> collect(u64 n, u64 k, u64 expected) {
    constexpr u64 most = std::numeric_limits<u32>::max();
    const u64 capacity = std::min({n, expected + expected / 4 + k, most});
    device::collection<Entry> to{buffer<Entry>(capacity), buffer<u32>(1), buffer<Entry>(1), static_cast<u32>(capacity),
                                 static_cast<u32>(k)};
    fill_zero(to.count, 1);
    launch_items(1, assign<Entry>{to.bound, Entry::worst()});
    return to;
  }
  template <class Entry>
  void kth_best(Entry* entries, u64 n, u64 rank, Entry* to) {
    require_outside("kth_best");
    kth_best_to(entries, n, rank, to);
  }
  template <class Entry>
  const Entry* select_best(const device::collection<Entry>& of, u64 k) {
    require_outside("select_best");
    const u32 held = read(of.count);
    if (held > of.capacity) throw std::logic_error("select_best: the collection lost some");
    if (held < k) fill_zero(of.entries + held, k - held);  // the worst entry
    select_best_in_place(of.entries, held, std::min<u64>(held, k));
    return of.entries;
  }

  template <class Entry>
  const Entry* select_best(Entry* entries, u64 n, u64 k) {
    require_outside("select_best");
    select_best_in_place(entries, static_cast<u32>(n), k);
    return entries;
  }

  template <class Op, class T>
  void reduce(const T* from, u64 n, T* to) {
    require_outside("reduce");
    reduce_to<Op>(from, n, to);
  }
  template <class T>
  void exclusive_scan(const T* from, u64 n, T* to) {
    require_outside("exclusive_scan");
    scan_to(from, n, to);
  }
  void histogram(const u32* from, u64 n, u64 bins, u32* to) {
    require_outside("histogram");
    histogram_to(from, n, bins, to);
  }
  template <device::item_test Test>
  void compact(u64 n, const Test& test, u32* to, u32* count) {
    require_outside("compact");
    compact_to(n, test, to, count);
  }
  template <class Key, class Value>
  void sort_pairs(Key* keys, Value* values, u64 n, int /*bits*/ = 8 * sizeof(Key), int /*ignored*/ = 0) {
    require_outside("sort_pairs");
    sort_in_place(keys, values, n);
  }
  template <class Key, class Value>
  void sort_segments(Key* keys, Value* values, u64 n, const u32* offsets, u64 segments, u64 /*longest*/) {
    require_outside("sort_segments");
    sort_segments_in_place(keys, values, n, offsets, segments);
  }
  template <class Key, class Value>
  void merge_pairs(const Key* a, const Value* a_values, u64 a_count, const Key* b, const Value* b_values, u64 b_count,
                   Key* keys, Value* values) {
    require_outside("merge_pairs");
    merge_to(device::merge_item<Key, Value>{a, a_values, a_count, b, b_values, b_count, keys, values});
  }

  /// The host decides: it makes the test where it can see the space's memory, and otherwise fetches one word.
  template <device::state_test Test, class Phase>
  void when(const Test& test, const Phase& phase) {
    if (!holds(test)) return;
    const within inside(in_phase_);
    phase();
  }
  template <device::state_test Test>
  bool decide(const Test& test) {
    require_outside("decide");
    return holds(test);
  }
  template <class T>
  T read(const T* at) {
    require_outside("read");
    return fetched(at);
  }
  [[nodiscard]] std::string_view variant() const { return space::name(); }
  [[nodiscard]] int threads() const { return runs_on_host ? concurrency() : 0; }
  void finish() {
    require_outside("finish");
    wait();
    for (const auto& each : mirrored_) copy_to_host(each.to, each.from, each.bytes);
    if (counts_ == nullptr) return;
    for (const auto& [name, at] : counted_) {
      counts_->add(name, fetched(at));
      fill_zero(at, 1);
    }
  }

 private:
  struct delivery {
    unsigned char* to;
    const unsigned char* from;
    std::size_t bytes;
  };

  /// A phase, also one that ends by throwing.
  class within {
   public:
    explicit within(bool& in_phase) : in_phase_(in_phase), outer_(std::exchange(in_phase, true)) {}
    within(const within&) = delete;
    within& operator=(const within&) = delete;
    ~within() { in_phase_ = outer_; }

   private:
    bool& in_phase_;
    bool outer_;
  };

  void require_outside(const char* word) const {
    if (in_phase_) throw std::logic_error(std::string{word} + ": a phase of `when` may only launch");
  }
  template <class T>
  T fetched(const T* at) {
    if constexpr (is_host_space) {
      wait();
      return *at;
    } else {
      T value;
      copy_to_host(&value, at, 1);
      return value;
    }
  }
  template <class Test>
  bool holds(const Test& test) {
    if constexpr (is_host_space) {
      wait();
      return test();
    } else {
      auto* const answer = static_cast<u32*>(answer_.at());
      launch_items(1, ask<Test>{test, answer});
      return fetched(answer) != 0;
    }
  }

  session inside_;  // first, so that it ends last
  bool in_phase_ = false;
  device::named_counts* counts_ = nullptr;
  block answer_{sizeof(u32)};
  std::vector<delivery> mirrored_;
  std::vector<std::pair<std::string, u64*>> counted_;
  std::vector<block> owned_;
};

using context = context_on<std::conditional_t<is_host_space, host_teams, device_teams>>;

static_assert(device::device_context<context>);

}  // namespace zenith::kokkos_backend

#pragma once

/// \file
/// The device-wide primitives of core/device/context.hpp. What Kokkos has is Kokkos'; orders are the standard
/// library's, on the host, where a device's arrays are copied and back.

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include <backends/kokkos/launch.hpp>
#include <backends/kokkos/memory.hpp>
#include <backends/kokkos/space.hpp>
#include <core/device/compact_in_parts.hpp>
#include <core/device/context.hpp>
#include <core/device/merge.hpp>

namespace zenith::kokkos_backend {

template <class T>
struct assign {
  T* to;
  T value;

  ZENITH_FN void operator()(u64 /*i*/) const { *to = value; }
};

/// A test of device state, asked where that is.
template <class Test>
struct ask {
  Test test;
  u32* to;

  ZENITH_FN void operator()(u64 /*i*/) const { *to = test() ? 1 : 0; }
};

/// What an operation takes no notice of. Kokkos' own minimum and maximum begin with the largest finite number.
template <class Op, class T>
inline constexpr T nothing = T{};
template <class T>
inline constexpr T nothing<device::least, T> = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                                    : std::numeric_limits<T>::max();
template <class T>
inline constexpr T nothing<device::greatest, T> = std::numeric_limits<T>::has_infinity
                                                      ? -std::numeric_limits<T>::infinity()
                                                      : std::numeric_limits<T>::lowest();

template <class Op, class T>
struct reduction {
  using value_type = T;

  const T* from;

  ZENITH_FN void operator()(std::int64_t i, T& all) const { all = Op{}(all, from[i]); }
  ZENITH_FN void init(T& all) const { all = nothing<Op, T>; }
  ZENITH_FN void join(T& all, const T& more) const { all = Op{}(all, more); }
#if KOKKOS_VERSION < 40000
  ZENITH_FN void join(volatile T& all, const volatile T& more) const {
    all = Op{}(static_cast<T>(all), static_cast<T>(more));
  }
#endif
};

template <class Op, class T>
void reduce_to(const T* from, u64 count, T* to) {
  static_assert(std::is_arithmetic_v<T>);
  Kokkos::parallel_reduce("zenith::reduce", range(count), reduction<Op, T>{from},
                          Kokkos::View<T, memory, unmanaged>(to));
}

/// Sums of those before each, in place too.
template <class T>
struct prefix_sums {
  using value_type = T;

  const T* from;
  T* to;
  std::int64_t count;

  ZENITH_FN void operator()(std::int64_t i, T& sum, bool is_final) const {
    const T value = i < count ? from[i] : T{};
    if (is_final) to[i] = sum;
    sum += value;
  }
};

template <class T>
void scan_to(const T* from, u64 count, T* to) {
  Kokkos::parallel_scan("zenith::exclusive_scan", range(count + 1),
                        prefix_sums<T>{from, to, static_cast<std::int64_t>(count)});
}

/// The items of a test behind the number of those before them.
template <class Test>
struct compaction {
  using value_type = u32;

  Test test;
  u32* to;
  u32* count;
  std::int64_t last;

  ZENITH_FN void operator()(std::int64_t i, u32& at, bool is_final) const {
    const bool is_in = test(static_cast<u64>(i));
    if (is_final && is_in) to[at] = static_cast<u32>(i);
    at += is_in ? 1 : 0;
    if (is_final && i == last) *count = at;
  }
};

/// That of a host.
[[nodiscard]] u32 compact_on_host(u64 count, const device::part_test& test, u32* to);

template <class Test>
void compact_to(u64 count, const Test& test, u32* to, u32* found) {
  if constexpr (is_host_space) {
    wait();
    *found = compact_on_host(count, device::part_test_of(test), to);
  } else {
    zero(found, 1);
    if (count == 0) return;
    Kokkos::parallel_scan("zenith::compact", range(count),
                          compaction<Test>{test, to, found, static_cast<std::int64_t>(count) - 1});
  }
}

struct count_value {
  const u32* from;
  u32* to;

  ZENITH_FN void operator()(u64 i) const { (void)device::atomic_add(to + from[i], 1); }
};

inline void histogram_to(const u32* from, u64 count, u64 bins, u32* to) {
  zero(to, bins);
  if (is_host_space && concurrency() == 1) {
    for (u64 i = 0; i < count; ++i) ++to[from[i]];
  } else {
    launch_items(count, count_value{from, to});
  }
}

template <class Key, class Value>
void merge_to(const device::merge_item<Key, Value>& of) {
  if (!is_host_space || concurrency() > 1) return launch_items(of.a_count + of.b_count, of);
  u64 i = 0;
  u64 j = 0;
  for (u64 at = 0; at < of.a_count + of.b_count; ++at) {
    const bool from_a = j == of.b_count || (i < of.a_count && !(of.b[j] < of.a[i]));
    of.keys[at] = from_a ? of.a[i] : of.b[j];
    of.values[at] = from_a ? of.a_values[i] : of.b_values[j];
    ++(from_a ? i : j);
  }
}

template <class Key, class Value>
struct keyed {
  Key key;
  Value value;
};

/// Sorts keys and values within [offsets[s], offsets[s + 1]) for each segment s.
template <class Key, class Value>
void sort_within(Key* keys, Value* values, u64 count, const u32* offsets, u64 segments) {
  const auto all = std::make_unique_for_overwrite<keyed<Key, Value>[]>(static_cast<std::size_t>(count));
  for (u64 s = 0; s < segments; ++s) {
    const u64 begin = offsets[s];
    const u64 size = offsets[s + 1] - begin;
    for (u64 i = 0; i < size; ++i) all[i] = {keys[begin + i], values[begin + i]};
    std::stable_sort(all.get(), all.get() + size, [](const auto& a, const auto& b) { return (a.key) < (b.key); });
    for (u64 i = 0; i < size; ++i) {
      keys[begin + i] = all[i].key;
      values[begin + i] = all[i].value;
    }
  }
}

template <class Key, class Value>
void sort_in_place(Key* keys, Value* values, u64 count) {
  if (count < 2) return;
  const on_host<Key> host_keys(keys, count);
  const on_host<Value> host_values(values, count);
  const u32 whole[] = {0, static_cast<u32>(count)};
  sort_within(host_keys.begin(), host_values.begin(), count, whole, 1);
  host_keys.give_back();
  host_values.give_back();
}

template <class Key, class Value>
void sort_segments_in_place(Key* keys, Value* values, u64 count, const u32* offsets, u64 segments) {
  if (count < 2 || segments == 0) return;
  const on_host<Key> host_keys(keys, count);
  const on_host<Value> host_values(values, count);
  const on_host<const u32> host_offsets(offsets, segments + 1);
  sort_within(host_keys.begin(), host_values.begin(), count, host_offsets.begin(), segments);
  host_keys.give_back();
  host_values.give_back();
}

struct is_better {
  template <class Entry>
  bool operator()(const Entry& a, const Entry& b) const {
    return better(a, b);
  }
};

template <class Entry>
void kth_best_to(Entry* entries, u64 count, u64 rank, Entry* to) {
  const on_host<Entry> all(entries, count);
  Entry* const kth = all.begin() + (rank - 1);
  std::nth_element(all.begin(), kth, all.end(), is_better{});
  if constexpr (is_host_space) {
    *to = *kth;
  } else {
    all.give_back();
    copy_from_host(to, kth, 1);
  }
}

template <class Entry>
void select_best_in_place(Entry* entries, u64 count, u64 k) {
  const on_host<Entry> all(entries, count);
  if (k < count) std::nth_element(all.begin(), all.begin() + k, all.end(), is_better{});
  std::sort(all.begin(), all.begin() + k, is_better{});
  all.give_back(k);
}

}  // namespace zenith::kokkos_backend

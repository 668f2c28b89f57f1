#pragma once

/// \file
/// The suite's item kernels, and its tests of items and of state.

#include <core/device/context.hpp>

namespace zenith::device_suite {

using device::u32;
using device::u64;

/// A number that tells a from b: no two teams, lanes or items of the suite get the same.
ZENITH_FN u64 mixed(u64 a, u64 b) {
  u64 x = a * 0x9e3779b97f4a7c15ULL + b * 0xd1b54a32d192ed03ULL + 0x2545f4914f6cdd1dULL;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

struct visit {
  u32* visits;

  ZENITH_FN void operator()(u64 i) const { (void)device::atomic_add(visits + i, 1); }
};

template <class T>
struct write_value {
  T* to;
  T value;

  ZENITH_FN void operator()(u64 i) const { to[i] = value; }
};

template <class T>
struct copy_items {
  T* to;
  const T* from;

  ZENITH_FN void operator()(u64 i) const { to[i] = from[i]; }
};

/// Adds to one word, which no launch before or after may overtake: word = word * 3 + value.
struct then {
  u32* word;
  u32 value;

  ZENITH_FN void operator()(u64 /*i*/) const { *word = *word * 3 + value; }
};

struct take_tickets {
  u32* next;
  u32* owner;

  ZENITH_FN void operator()(u64 i) const { owner[device::atomic_add(next, 1)] = static_cast<u32>(i); }
};

/// What the atomic operations leave in memory, and what they say was there before.
template <class T>
struct use_atomics {
  const T* values;
  T* sum;
  T* most;
  T* least;
  T* bits;
  T* stored;
  u32* wrong;

  ZENITH_FN void operator()(u64 i) const {
    const T value = values[i];
    (void)device::atomic_add(sum, value);
    const T most_before = device::atomic_max(most, value);
    const T least_before = device::atomic_min(least, value);
    (void)device::atomic_or(bits, static_cast<T>(value & static_cast<T>(0x5555)));
    const bool below = device::atomic_load(most) < value || device::atomic_load(most) < most_before;
    const bool above = value < device::atomic_load(least) || least_before < device::atomic_load(least);
    device::atomic_store(stored + i, static_cast<T>(value + 1));
    if (below || above || device::atomic_load(stored + i) != static_cast<T>(value + 1))
      (void)device::atomic_add(wrong, 1);
  }
};

struct add_signed {
  std::int32_t* sum;
  const std::int32_t* values;

  ZENITH_FN void operator()(u64 i) const { (void)device::atomic_add(sum, values[i]); }
};

template <class Image>
struct raise_to {
  device::running_threshold<Image> threshold;
  const Image* images;
  u32* wrong;

  ZENITH_FN void operator()(u64 i) const {
    threshold.raise(images[i]);
    if (threshold.get() < images[i]) (void)device::atomic_add(wrong, 1);
  }
};

/// Appends every item that is not a multiple of 3.
struct append_some {
  device::appender<ordered::entry64> to;

  ZENITH_FN void operator()(u64 i) const {
    if (i % 3 != 0) to.append(ordered::entry64::make(mixed(i, 5), static_cast<u32>(i)));
  }
};

struct count_events {
  device::event_counter ones;
  device::event_counter indices;
  u32* counting;

  ZENITH_FN void operator()(u64 i) const {
    ones.add(1);
    indices.add(i);
    if (ones.is_on() || indices.is_on()) (void)device::atomic_add(counting, 1);
  }
};

// ---- tests

struct is_set {
  const u32* word;

  ZENITH_FN bool operator()() const { return *word != 0; }
};

struct is_below {
  const u32* word;
  u32 limit;

  ZENITH_FN bool operator()() const { return *word < limit; }
};

struct has_bits {
  const u32* words;
  u32 bits;

  ZENITH_FN bool operator()(u64 i) const { return (words[i] & bits) == bits; }
};

struct has_flag {
  static constexpr bool is_flag = true;

  const std::uint8_t* flags;

  ZENITH_FN bool operator()(u64 i) const { return flags[i] == 2; }
};

/// In the order in which suite.hpp says them.
using item_kernels =
    device::list<visit, write_value<u32>, write_value<u64>, write_value<ordered::entry32>,
                 write_value<ordered::entry64>, copy_items<u32>, then, take_tickets, use_atomics<u32>, use_atomics<u64>,
                 add_signed, raise_to<u32>, raise_to<u64>, append_some, count_events>;

}  // namespace zenith::device_suite

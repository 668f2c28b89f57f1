#pragma once

/// \file
/// The device context: what a strategy asks of a device. A strategy is a function template over it, read from top to
/// bottom like the paper's algorithm; backends implement it, and `sequential_context` (sequential.hpp) says what it
/// means.
///
/// Memory is the device's. Everything is enqueued in order; only `decide`, `read`, `fetch` and `finish` wait.
///
///     buffer<T>(n)                 uninitialised scratch of n T, aligned to 64 bytes; freed with the context
///     zeroed<T>(n)                 the same of zero bytes
///     release(at)                  frees such memory before the context does: nothing that is enqueued later may use
///                                  it
///     fill_zero(at, n)             n T become zero bytes
///     copy(to, from, n)            n T within the device
///     input(from, n, space)        n T of the caller's, where kernels can read them
///     fetch(arrays, begins, n, length)
///                                  pieces of arrays of `count` items in the host's memory (pieces.hpp): of each one
///                                  to[i length + r] = from[begins[i] + r] for i < n, r < length, where begins[i] + r <
///                                  count. Waits for `begins`, the device's, and until the arrays were read
///     output(to, n, space)         n T of the caller's, where kernels can write them; `finish` delivers
///     counter(name)                counts events for who asked for them (shared_state.hpp)
///
///     for_each(n, kernel)          an item kernel on n items
///     for_teams(n, kernel)         a team kernel on n items, a team each
///     for_tiles(kernel)            a tile kernel on the tiles of its `source`
///     for_teams_in_turn(turn{n, kernel}, turn{n, kernel}, …)
///                                  for_teams(n, kernel), one after the other: what one has written the next sees. One
///                                  launch where the device can, so that a turn costs a barrier and not a launch; a
///                                  turn of one team costs hardly more. Turns of many items are better launches of
///                                  their own: all of them have the registers and the scratch of the largest
///
///     collect<Entry>(n, k, expected)
///                                  a collection for n items of which k are wanted and about so many reach the bound
///     kth_best(entries, n, rank, to)
///                                  the rank-th best (from 1) of n entries, to *to; the entries end in any order
///     select_best(collection, k)   its k best, best first, then the worst entry if it holds fewer; none was lost
///     select_best(entries, n, k)   the same of an array of at least k, which ends in any order
///
///     reduce<Op>(from, n, to)      *to = op over from[0, n); Op: plus, least, greatest
///     exclusive_scan(from, n, to)  to[i] = from[0] + … + from[i - 1] for i = 0 … n; `to` has n + 1 elements
///     histogram(from, n, bins, to) to[b] = how often b stands in from[0, n); no value reaches `bins`
///     compact(n, test, to, count)  those i < n for which test(i), ascending; *count = how many
///     sort_pairs(keys, values, n, bits, ignored)
///                                  by rising unsigned key, stable, in place; keys are less than 2^bits. Without `bits`
///                                  they may be any. Keys that differ in their lowest `ignored` bits alone may end in
///                                  any order; these are fewer than a key's. A device's time goes with the bits that
///                                  are left
///     sort_segments(keys, values, n, offsets, segments, longest)
///                                  the same within [offsets[s], offsets[s + 1]) for each s; no segment is longer than
///                                  `longest`, which may be n
///     merge_pairs(a, a_values, a_count, b, b_values, b_count, keys, values)
///                                  two sorted sequences; of equals, a's first
///
///     when(test, phase)            phase() if test(). The phase may only launch (the four above, fill_zero, copy): a
///                                  device that decides by itself runs its host code in any case
///     decide(test)                 whether test(), known to the host
///     read(at)                     *at, on the host
///     variant(), threads()         what runs inside (an instruction set, a space), and on how many host threads or 0
///     runs_on_host                 whether teams are the host's own threads, known when a strategy is compiled:
///     threads()
///                                  is above 0 where it is true, and 0 where it is not. A strategy that has a text for
///                                  hosts and one for devices chooses by `if constexpr`
///     finish()                     delivers outputs that lie elsewhere, and then waits; call it last
///
/// Operations, scans and sorts count up to 2^32 - 1 items.

#include <concepts>
#include <span>
#include <string_view>

#include <core/device/kernel.hpp>
#include <core/device/pieces.hpp>
#include <core/device/shared_state.hpp>
#include <core/entry.hpp>
#include <zenith/types.hpp>

namespace zenith::device {

struct plus {
  template <class T>
  ZENITH_FN T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct least {
  template <class T>
  ZENITH_FN T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct greatest {
  template <class T>
  ZENITH_FN T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// One of the launches of `for_teams_in_turn`.
template <team_kernel K>
struct turn {
  u64 n;
  K kernel;
};
template <class K>
turn(u64, K) -> turn<K>;

namespace detail {

struct probe_test {
  ZENITH_FN bool operator()() const { return false; }
};
struct probe_item_test {
  ZENITH_FN bool operator()(u64 i) const { return i == 0; }
};
struct probe_phase {
  void operator()() const {}
};

}  // namespace detail

template <class C>
concept device_context = requires(C& on, u64 n, u32* words, u64* longs, float* keys, ordered::entry32* entries,
                                  collection<ordered::entry32>& survivors, memory_space space,
                                  std::span<const fetched_array> arrays) {
  { on.template buffer<u32>(n) } -> std::same_as<u32*>;
  { on.template zeroed<u32>(n) } -> std::same_as<u32*>;
  on.release(words);
  on.fill_zero(words, n);
  on.copy(words, words, n);
  { on.input(keys, n, space) } -> std::same_as<const float*>;
  on.fetch(arrays, words, n, n);
  { on.output(keys, n, space) } -> std::same_as<float*>;
  { on.counter(std::string_view{}) } -> std::same_as<event_counter>;

  { on.template collect<ordered::entry32>(n, n, n) } -> std::same_as<collection<ordered::entry32>>;
  on.kth_best(entries, n, n, entries);
  { on.select_best(survivors, n) } -> std::same_as<const ordered::entry32*>;
  { on.select_best(entries, n, n) } -> std::same_as<const ordered::entry32*>;

  on.template reduce<plus>(words, n, words);
  on.exclusive_scan(words, n, words);
  on.histogram(words, n, n, words);
  on.compact(n, detail::probe_item_test{}, words, words);
  on.sort_pairs(words, words, n);
  on.sort_pairs(longs, words, n);
  on.sort_pairs(words, words, n, int{});
  on.sort_pairs(words, words, n, int{}, int{});
  on.sort_segments(words, words, n, words, n, n);
  on.merge_pairs(words, words, n, words, words, n, words, words);

  on.when(detail::probe_test{}, detail::probe_phase{});
  { on.decide(detail::probe_test{}) } -> std::same_as<bool>;
  { on.read(words) } -> std::same_as<u32>;
  { on.variant() } -> std::convertible_to<std::string_view>;
  { on.threads() } -> std::same_as<int>;
  on.finish();

  { C::runs_on_host } -> std::convertible_to<bool>;

  // Tuning.
  { C::most_samples } -> std::convertible_to<u32>;      // that kth_best takes in its stride
  { C::samples_broadly } -> std::convertible_to<bool>;  // whether a sample is cheap and its bound stays to the end
  // template <item_kernel K> void for_each(u64 n, const K&)
  // template <team_kernel K> void for_teams(u64 n, const K&)
  // template <team_kernel... K> void for_teams_in_turn(const turn<K>&...)
  // template <tile_kernel K> void for_tiles(const K&)
};

/// phase() as long as test(), `most` times at most. Returns how often. Waits before each round.
template <class Context, state_test Test, class Phase>
u64 repeat_while(Context& on, const Test& test, const Phase& phase, u64 most) {
  u64 rounds = 0;
  while (rounds < most && on.decide(test)) {
    phase();
    ++rounds;
  }
  return rounds;
}

}  // namespace zenith::device

#pragma once

/// \file
/// Kernels: trivially copyable structs whose members are their arguments. Which kind one is, its call operator says.
///
///     void operator()(u64 i) const                                  an item kernel: one of n independent items
///     template <class Team> void operator()(Team& team, u64 i) const    a team kernel: item i is a whole team's work
///     template <class Team> void operator()(Team& team) const           a tile kernel: the team asks for its tiles of
///                                                                   the member `source`
///
/// A kernel may say
///     static constexpr u32 wanted_teams      that a multiprocessor is to hold: its teams get registers for that
///     static constexpr u32 team_lanes        of its teams, where a GPU's whole team would wait more than it works: a
///                                            multiple of 32; of `for_teams` alone
///     static constexpr u32 scratch_bytes     of the team's own memory, at most 80 KiB, undefined at first
///     static constexpr u64 item_cost         about how many bytes an item reads, or what takes as long, or for
///     u64 launch_cost(u64 n) const           n items: how many workers a launch is worth
///
/// and must be marked: functions by ZENITH_FN, lambdas by ZENITH_BODY, nothing virtual, no exceptions, no standard
/// containers.

#include <concepts>
#include <type_traits>

#include <core/device/function.hpp>
#include <core/device/source.hpp>

namespace zenith::device {

template <class K>
concept kernel = std::is_trivially_copyable_v<K> && std::is_trivially_destructible_v<K>;

template <class K>
concept item_kernel = kernel<K> && requires(const K& run) {
  { run(u64{}) } -> std::same_as<void>;  // no lvalue: a tile kernel would take it for a team
};

/// Stands for every team where a kernel's kind is asked for.
struct any_team {};

template <class K>
concept team_kernel = kernel<K> && requires(const K& run, any_team& team, u64 i) {
  { run(team, i) } -> std::same_as<void>;
};

template <class K>
concept tile_kernel = kernel<K> && requires(const K& run, any_team& team) {
  { run.source.size() } -> std::same_as<u64>;
  { run(team) } -> std::same_as<void>;
};

/// A test of device state, or of an item.
template <class P>
concept state_test = kernel<P> && requires(const P& test) {
  { test() } -> std::same_as<bool>;
};
template <class P>
concept item_test = kernel<P> && requires(const P& test, u64 i) {
  { test(i) } -> std::same_as<bool>;
};

inline constexpr u32 most_scratch_bytes = 80 * 1024;

template <class K>
inline constexpr u32 scratch_bytes_of = 0;
template <class K>
requires requires { K::scratch_bytes; }
inline constexpr u32 scratch_bytes_of<K> = K::scratch_bytes;

template <class K>
inline constexpr u64 item_cost_of = team_kernel<K> ? 4096 : 32;
template <class K>
requires requires { K::item_cost; }
inline constexpr u64 item_cost_of<K> = K::item_cost;

/// Whether a kernel collects (shared_state.hpp).
template <class K>
concept collecting = requires(const K& run) {
  run.survivors.workers;
};

/// Where a tile begins. A full one is known at compile time and needs no mask.
template <bool Full>
struct tile_at {
  static constexpr bool is_full = Full;
  u64 first;
  u32 count;
};

}  // namespace zenith::device

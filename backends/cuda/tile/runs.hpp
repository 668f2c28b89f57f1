#pragma once

/// \file
/// What a launch makes of a kernel. All of it knows the gate of the phase that it was enqueued in: a word that says
/// whether the phase is to run, or nullptr outside of phases. Kernels know nothing of that.

#include <backends/cuda/tile/team.hpp>
#include <core/device/kernel.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The same for all threads of a launch, because no launch writes its own gate.
ZENITH_DEVICE bool is_closed(const u32* gate) { return gate != nullptr && simt::load(gate) == 0; }

template <class K>
inline constexpr unsigned wanted_teams_of = tuning::plain_teams;
template <class K>
requires requires { K::wanted_teams; }
inline constexpr unsigned wanted_teams_of<K> = K::wanted_teams;

template <class K>
inline constexpr unsigned team_threads_of = tuning::team_threads;
template <class K>
requires requires { K::team_lanes; }
inline constexpr unsigned team_threads_of<K> = K::team_lanes;

template <class K>
struct run_items {
  static constexpr unsigned block_size = tuning::team_threads;

  K kernel;
  u64 n;
  const u32* gate;

  ZENITH_DEVICE void operator()() const {
    if (is_closed(gate)) return;
    const u64 stride = u64{simt::grid_size()} * block_size;
    for (u64 i = u64{simt::block_index()} * block_size + simt::thread_index(); i < n; i += stride) kernel(i);
  }
};

template <class K>
struct run_teams {
  static constexpr unsigned block_size = team_threads_of<K>;
  static constexpr unsigned wanted_blocks = wanted_teams_of<K>;

  K kernel;
  u64 n;
  const u32* gate;

  ZENITH_DEVICE void operator()() const {
    if (is_closed(gate)) return;
    for (u64 i = simt::block_index(); i < n; i += simt::grid_size()) {
      team<device::scratch_bytes_of<K>, block_size> lanes(i);
      kernel(lanes, i);
      // the next item's team has the same scratch
      if (n > simt::grid_size()) lanes.barrier();
    }
  }
};

template <class K>
struct run_tiles {
  static constexpr unsigned block_size = tuning::team_threads;
  static constexpr unsigned wanted_blocks = tuning::tile_teams;

  K kernel;
  const u32* gate;

  ZENITH_DEVICE void operator()() const {
    if (is_closed(gate)) return;
    team<device::scratch_bytes_of<K>> lanes(simt::block_index());
    kernel(lanes);
  }
};

/// Makes a test once and writes down what it said: the phase that depends on it changes what it reads.
template <class Test>
struct latch {
  static constexpr unsigned block_size = simt::warp_size;

  Test test;
  u32* gate;
  const u32* outer;  ///< a closed phase makes no tests

  ZENITH_DEVICE void operator()() const {
    if (simt::thread_index() == 0) simt::store(gate, !is_closed(outer) && test() ? 1U : 0U);
  }
};

// ---- what the context itself has to run

template <class Word>
struct clear_words {
  Word* at;
  ZENITH_FN void operator()(u64 i) const { at[i] = Word{0}; }
};

template <class T>
struct copy_items {
  T* to;
  const T* from;
  ZENITH_FN void operator()(u64 i) const { to[i] = from[i]; }
};

template <class Entry>
struct begin_collection {
  u32* count;
  Entry* bound;
  ZENITH_FN void operator()(u64 /*i*/) const {
    *count = 0;
    *bound = Entry::worst();
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

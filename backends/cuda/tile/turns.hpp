#pragma once

/// \file
/// Several launches of team kernels as one, whose blocks wait for each other between them.

#include <algorithm>

#include <backends/cuda/tile/runs.hpp>
#include <core/device/context.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Trivially copyable, as the arguments of a launch must be.
template <class... K>
struct turn_list {
  static constexpr turn_list of() { return {}; }
};
template <class K, class... Rest>
struct turn_list<K, Rest...> {
  device::turn<K> first;
  turn_list<Rest...> rest;

  static constexpr turn_list of(const device::turn<K>& one, const device::turn<Rest>&... others) {
    return {one, turn_list<Rest...>::of(others...)};
  }
};

/// How far a block is in such a launch. `arrived` counts the blocks that arrived, step by step, and whoever let others
/// go on.
class turn_order {
 public:
  ZENITH_DEVICE explicit turn_order(u32* arrived) : arrived_(arrived) {}

  /// Before a turn of several teams: waits until all that is before it has been done.
  ZENITH_DEVICE void before_many() {
    if (last_ == turn_of::many) {
      (void)arrive();
      wait();
    } else if (last_ == turn_of::one) {
      // the others wait for the block whose turn it was
      simt::block_barrier();
      if (is_chosen_ && simt::thread_index() == 0) {
        simt::fence();
        (void)simt::atomic_add(arrived_, 1U);
      }
      ++wanted_;
      wait();
    }
    last_ = turn_of::many;
  }
  /// Before a turn of one team: whether this block is to run it. It is the last that arrives, which waits for nobody.
  ZENITH_DEVICE bool before_one() {
    if (last_ == turn_of::many) {
      is_chosen_ = arrive();
    } else if (last_ == turn_of::nobody) {
      is_chosen_ = simt::block_index() == 0;
    } else {
      simt::block_barrier();
    }
    last_ = turn_of::one;
    return is_chosen_;
  }

 private:
  enum class turn_of : std::uint8_t { nobody, one, many };

  // True for all threads of the block that is the last to arrive; it sees what the others wrote.
  ZENITH_DEVICE bool arrive() {
    wanted_ += simt::grid_size();
    simt::block_barrier();
    bool is_last = false;
    if (simt::thread_index() == 0) {
      // behind the barrier: it hands on what all threads of the block wrote
      simt::fence();
      is_last = simt::atomic_add(arrived_, 1U) + 1 == wanted_;
      simt::fence();
    }
    return simt::block_barrier_or(is_last);
  }
  ZENITH_DEVICE void wait() const {
    if (simt::thread_index() == 0) {
      while (simt::atomic_load(arrived_) < wanted_) {
      }
      simt::fence();
    }
    simt::block_barrier();
  }

  u32* arrived_;
  u32 wanted_ = 0;
  turn_of last_ = turn_of::nobody;
  bool is_chosen_ = false;
};

template <class... K>
struct run_turns {
  static constexpr unsigned block_size = tuning::team_threads;
  static constexpr unsigned wanted_blocks = std::min({wanted_teams_of<K>...});
  static constexpr u32 scratch_bytes = std::max({device::scratch_bytes_of<K>...});

  turn_list<K...> turns;
  u32* arrived;  ///< 0 before the launch; of a single block anything
  const u32* gate;

  ZENITH_DEVICE void operator()() const {
    if (is_closed(gate)) return;
    turn_order order(arrived);
    run(turns, order);
  }

 private:
  ZENITH_DEVICE static void run(const turn_list<>& /*none*/, turn_order& /*order*/) {}
  template <class First, class... Rest>
  ZENITH_DEVICE static void run(const turn_list<First, Rest...>& left, turn_order& order) {
    const u64 n = left.first.n;
    u64 begin = simt::block_index();
    if (n == 1) {
      begin = order.before_one() ? 0 : 1;
    } else if (n > 1) {
      order.before_many();
    }
    for (u64 i = begin; i < n; i += simt::grid_size()) {
      team<device::scratch_bytes_of<First>> lanes(i);
      left.first.kernel(lanes, i);
      // the next item's team has the same scratch
      if (n > simt::grid_size()) simt::block_barrier();
    }
    run(left.rest, order);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

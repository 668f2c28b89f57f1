#pragma once

/// \file
/// The suite's kernels that use queues: a team's own, and one that teams share.

#include <core/device/list.hpp>
#include <core/device/team_best.hpp>
#include <core/device/work_queue.hpp>
#include <tests/device/item_kernels.hpp>

namespace zenith::device_suite {

/// Pushes n entries in pieces of several lengths. Told by the witnesses: the size and the bound, after every push.
template <class Entry>
struct keep_best {
  static constexpr u32 most_k = 100;
  static constexpr u32 best_at = 64;
  using queue = device::team_best<Entry, most_k, 48>;
  static constexpr u32 scratch_bytes = best_at + queue::scratch_bytes;
  static constexpr u64 item_cost = 100000;

  u64 n;
  u32 k;
  u64 piece;
  u32 images;
  Entry* to;     ///< k a team
  u32* sizes;    ///< one a team
  u32* differs;  ///< times that a witness was told another thing than the last entry says

  ZENITH_FN static Entry of(u64 team, u64 j, u32 images) {
    const auto image = static_cast<typename Entry::image_t>(mixed(team, j) % images);
    return j % 5 == 3 ? Entry::worst() : Entry::make(image, static_cast<u32>(j));
  }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    queue best(team, best_at, k);
    for (u64 first = 0; first < n; first += piece) {
      const u64 some = n - first < piece ? n - first : piece;
      best.push(team, some, [&](u64 j) ZENITH_BODY { return of(i, first + j, images); });
      Entry least = Entry::worst();
      u32 held = 0;
      for (u64 j = 0; j < best.size(); ++j) {
        if (j == 0 || better(least, best.entry(j))) least = best.entry(j);
        ++held;
      }
      if (held < k) least = Entry::worst();
      team.for_each(40, [&](u64) ZENITH_BODY {
        const bool is_same = !better(least, best.worst()) && !better(best.worst(), least);
        if (!is_same || best.is_full() != (held == k)) (void)device::atomic_add(differs, 1);
      });
      team.barrier();
    }
    team.for_each(best.size(), [&](u64 j) ZENITH_BODY { to[i * k + j] = best.entry(j); });
    team.once([&]() ZENITH_BODY { sizes[i] = best.size(); });
  }
};

/// A node and the one above it.
struct node {
  u32 at;
  u32 above;
};

/// A tree: node v has the children fan * v + 1 …, as far as they are below n. A child's value follows from that of its
/// parent, which another team may have written.
struct grow_tree {
  static constexpr u32 scratch_bytes = 64;
  static constexpr u64 item_cost = 100000;

  device::work_queue<node> work;
  u64 n;
  u32 fan;
  u32* values;
  u32* visits;
  u32* refused;

  ZENITH_FN static u32 value_of(u32 above, u32 at) { return static_cast<u32>(mixed(above, at)); }

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    work.drain(team, team.template scratch<u32>(), [&](const node& one) ZENITH_BODY {
      team.once([&]() ZENITH_BODY {
        values[one.at] = value_of(one.at == 0 ? 1 : values[one.above], one.at);
        (void)device::atomic_add(visits + one.at, 1);
      });
      team.barrier();
      team.for_each(fan, [&](u64 c) ZENITH_BODY {
        const u64 child = u64{fan} * one.at + 1 + c;
        if (child < n && !work.push({static_cast<u32>(child), one.at})) (void)device::atomic_add(refused, 1);
      });
    });
  }
};

/// Waits for a word that another team sets.
struct wait_for_word {
  u32* word;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    team.once([&]() ZENITH_BODY { team.wait_until([&]() ZENITH_BODY { return device::atomic_observe(word) != 0; }); });
  }
};

using queue_kernels = device::list<keep_best<ordered::entry32>, keep_best<ordered::entry64>, device::begin_work<node>,
                                   grow_tree, wait_for_word>;

}  // namespace zenith::device_suite

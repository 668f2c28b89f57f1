#pragma once

/// \file
/// A team's priority queue, and the queue of work that teams share.

#include <algorithm>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

template <class Entry, class Examiner>
void check_team_best(Examiner& see) {
  const auto check = [&](u64 n, u32 k, u64 piece, u32 images) {
    const std::string name = "team_best of " + std::to_string(sizeof(Entry)) + " bytes, k = " + std::to_string(k) +
                             ", pieces of " + std::to_string(piece) + ", " + std::to_string(images) + " images";
    see.trial(of_size(name, n), [&](auto& on) {
      constexpr u64 teams = 3;
      auto* const to = zeros<Entry>(on, teams * k);
      u32* const sizes = zeros<u32>(on, teams);
      u32* const differs = zeros<u32>(on, 1);
      on.for_teams(teams, keep_best<Entry>{n, k, piece, images, to, sizes, differs});
      std::vector<Entry> got(teams * k);
      std::vector<u32> got_sizes(teams);
      deliver(on, to, got);
      deliver(on, sizes, got_sizes);
      see.same("times that a lane was told a wrong bound", on.read(differs), 0);
      on.finish();
      const auto is_better = [](const Entry& a, const Entry& b) { return better(a, b); };
      for (u64 i = 0; i < teams; ++i) {
        std::vector<Entry> wanted;
        for (u64 j = 0; j < n; ++j) {
          if (j % 5 != 3) wanted.push_back(keep_best<Entry>::of(i, j, images));
        }
        std::sort(wanted.begin(), wanted.end(), is_better);
        wanted.resize(std::min<std::size_t>(wanted.size(), k));
        see.same("how many are kept", got_sizes[i], static_cast<u32>(wanted.size()));
        std::vector<Entry> kept(got.begin() + static_cast<std::ptrdiff_t>(i * k),
                                got.begin() + static_cast<std::ptrdiff_t>(i * k + wanted.size()));
        std::sort(kept.begin(), kept.end(), is_better);
        see.same("the best", kept, wanted);
      }
    });
  };
  for (const u32 k : {1U, 2U, 7U, 32U, 100U}) {
    if (see.limits().brief && k == 7) continue;
    for (const u64 n : see.sizes({0, 1, 6, 40, 300, 1000})) {
      if (see.limits().brief && n > 300) continue;
      check(n, k, 37, 1000);
      if (!see.limits().brief) check(n, k, 130, 5);
    }
  }
  check(200, 100, 200, 3);
}

template <class Examiner>
void check_work_queue(Examiner& see) {
  const auto check = [&](u64 n, u32 fan, u64 capacity, u64 teams) {
    see.trial(of_size("work_queue, fan = " + std::to_string(fan) + ", capacity = " + std::to_string(capacity) +
                          ", teams = " + std::to_string(teams),
                      n),
              [&](auto& on) {
                const std::vector<node> root{{0, 0}};
                const auto work = device::make_work_queue<node>(on, capacity, upload(on, root), 1);
                u32* const values = zeros<u32>(on, n);
                u32* const visits = zeros<u32>(on, n);
                u32* const refused = zeros<u32>(on, 1);
                on.for_teams(teams, grow_tree{work, n, fan, values, visits, refused});
                std::vector<u32> got_values(n);
                std::vector<u32> got_visits(n);
                deliver(on, values, got_values);
                deliver(on, visits, got_visits);
                const u32 pushed = on.read(static_cast<const u32*>(work.pushed()));
                const u32 lost = on.read(refused);
                see.same("items that are left", on.read(static_cast<const u32*>(work.left())), 0);
                on.finish();
                see.same("the refused", lost, pushed > capacity ? static_cast<u32>(pushed - capacity) : 0);
                u64 visited = 0;
                for (u64 v = 0; v < n; ++v) {
                  if (got_visits[v] == 0) continue;
                  ++visited;
                  see.same("visits of a node", got_visits[v], 1);
                  const u32 above = v == 0 ? 1 : got_values[(v - 1) / fan];
                  see.same("a value", got_values[v], grow_tree::value_of(above, static_cast<u32>(v)));
                }
                see.same("nodes that were visited", visited, std::min<u64>(n, capacity));
              });
  };
  for (const u64 teams : std::initializer_list<u64>{1, 2, 5, 300}) {
    if (see.limits().brief && teams > 5) continue;
    for (const u64 n : see.sizes({1, 2, 100, 3000})) {
      if (see.limits().brief && n > 100) continue;
      for (const u32 fan : {1U, 2U, 40U}) check(n, fan, n, teams);
    }
    check(90, 2, 37, teams);
    check(90, 40, 1, teams);
  }
  see.trial("wait_until of what is true", [&](auto& on) {
    u32* const word = upload(on, std::vector<u32>{1});
    on.for_teams(3, wait_for_word{word});
    on.finish();
  });
}

template <class Examiner>
void check_queues(Examiner& see) {
  check_team_best<ordered::entry32>(see);
  check_team_best<ordered::entry64>(see);
  check_work_queue(see);
}

}  // namespace zenith::device_suite

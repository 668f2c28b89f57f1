#pragma once

/// \file
/// for_teams, and what a team says inside it.

#include <algorithm>

#include <tests/device/support.hpp>

namespace zenith::device_suite {

/// A kernel of teams of so many lanes; 0: of the device's own.
template <u32 Lanes, class Kernel>
auto with_lanes(const Kernel& kernel) {
  if constexpr (Lanes == 0) {
    return kernel;
  } else {
    return of_lanes<Kernel, Lanes>{kernel};
  }
}

/// Calls check(n, teams) for the lengths and numbers of teams that matter.
template <u32 Lanes = 0, class Examiner, class Check>
void each_team_shape(Examiner& see, const Check& check) {
  for (const u64 n : see.sizes({0, 1, 2, 31, 32, 33, 127, 255, 256, 257, 511, 513, 1000})) {
    for (const u64 teams : std::initializer_list<u64>{1, 2, 3, 17, 300}) {
      if (see.limits().brief || Lanes > 0 ? teams > 3 : teams * n > 100000) continue;
      check(n, teams);
    }
  }
}

template <u32 Lanes = 0>
std::string of_shape(const std::string& name, u64 n, u64 teams) {
  const auto shape = of_size(name, n) + ", teams = " + std::to_string(teams);
  return Lanes == 0 ? shape : shape + " of " + std::to_string(Lanes) + " lanes";
}

template <u32 Lanes, class Examiner>
void check_team_memory(Examiner& see) {
  each_team_shape<Lanes>(see, [&](u64 n, u64 teams) {
    see.trial(of_shape<Lanes>("team: scratch, once and barrier", n, teams), [&](auto& on) {
      const u64 all = n * teams;
      u64* const to = zeros<u64>(on, all);
      u32* const there = zeros<u32>(on, all);
      u32* const back = zeros<u32>(on, all);
      u32* const once = zeros<u32>(on, teams);
      on.for_teams(teams, with_lanes<Lanes>(turn_round{n, to, there, back, once}));
      std::vector<u64> got(all);
      std::vector<u32> got_back(all);
      std::vector<u32> got_once(teams);
      deliver(on, to, got);
      deliver(on, back, got_back);
      deliver(on, once, got_once);
      on.finish();
      std::vector<u64> wanted;
      std::vector<u32> wanted_back;
      for (u64 i = 0; i < teams; ++i) {
        for (u64 j = n; j-- > 0;) {
          wanted.push_back(mixed(i, j) + static_cast<u32>(mixed(j, i)));
          wanted_back.push_back(static_cast<u32>(mixed(i, j) >> 32));
        }
      }
      see.same("what went through scratch", got, wanted);
      see.same("what went through memory", got_back, wanted_back);
      see.same("how often once ran", got_once, std::vector<u32>(teams, 1));
    });
  });
}

inline team_facts facts_of(u64 team, u64 n) {
  team_facts facts{};
  facts.least = ~u32{0};
  facts.best = ordered::entry64::worst();
  for (u64 j = 0; j < n; ++j) {
    const u64 value = mixed(team, j);
    facts.sum += value;
    facts.most = std::max(facts.most, value);
    facts.least = std::min(facts.least, static_cast<u32>(value));
    facts.total += static_cast<double>(value >> 32);
    const auto entry = ordered::entry64::make(value % 7, static_cast<u32>(j));
    if (better(entry, facts.best)) facts.best = entry;
    facts.odd += value % 2;
  }
  facts.has = n > 0 ? 1 : 0;
  return facts;
}

template <u32 Lanes, class Examiner>
void check_team_facts(Examiner& see) {
  each_team_shape<Lanes>(see, [&](u64 n, u64 teams) {
    see.trial(of_shape<Lanes>("team: reduce, count and any", n, teams), [&](auto& on) {
      auto* const to = zeros<team_facts>(on, teams);
      u64* const told = zeros<u64>(on, teams * witnesses);
      on.for_teams(teams, with_lanes<Lanes>(gather_facts{n, to, told}));
      std::vector<team_facts> got(teams);
      std::vector<u64> got_told(teams * witnesses);
      deliver(on, to, got);
      deliver(on, told, got_told);
      on.finish();
      std::vector<u64> wanted_told;
      for (u64 i = 0; i < teams; ++i) {
        const auto facts = facts_of(i, n);
        see.same("reduce with plus", got[i].sum, facts.sum);
        see.same("reduce with greatest", got[i].most, facts.most);
        see.same("reduce with least", got[i].least, facts.least);
        see.same("reduce of doubles", got[i].total, facts.total);
        see.same("reduce of entries", got[i].best, facts.best);
        see.same("count", got[i].odd, facts.odd);
        see.same("any of one", got[i].has, facts.has);
        see.same("any of none", got[i].has_not, 0);
        see.same("index, another for some lane", got[i].index_differs, 0);
        wanted_told.insert(wanted_told.end(), witnesses,
                           facts.sum ^ facts.most ^ facts.least ^ facts.best.low ^ facts.odd ^ (u64{facts.has} << 40) ^
                               static_cast<u64>(facts.total));
      }
      see.same("what every lane was told", got_told, wanted_told);
    });
    if (n == 0 || n > 257) return;
    see.trial(of_shape<Lanes>("team: words in turns", n, teams), [&](auto& on) {
      u32* const to = zeros<u32>(on, teams);
      on.for_teams(teams, with_lanes<Lanes>(in_turns{n, to}));
      std::vector<u32> got(teams);
      deliver(on, to, got);
      on.finish();
      std::vector<u32> wanted;
      for (u32 i = 0; i < teams; ++i) {
        u32 known = i;
        for (u32 round = 0; round < in_turns::rounds; ++round) {
          std::vector<u32> own(n);
          u32 sum = 0;
          u32 odd = 0;
          for (u32 j = 0; j < n; ++j) sum += known + j;
          for (u32 j = 0; j < n; ++j) odd += (known + j) % 2;
          u32 total = 0;
          for (u32 j = 0; j < n; ++j) {
            own[j] = total;
            total += known + j;
          }
          const bool any = std::any_of(own.begin(), own.end(), [&](u32 value) { return value > total; });
          known = known * 3 + sum + odd + (any ? 1000 : 1);
        }
        wanted.push_back(known);
      }
      see.same("what each team knows", got, wanted);
    });
  });
}

template <class T, u32 Lanes, class Examiner>
void check_team_sums(Examiner& see) {
  const std::string of = " of " + std::to_string(sizeof(T)) + " bytes";
  const auto check = [&](u64 n, u64 teams) {
    see.trial(of_shape<Lanes>("team: scan and add" + of, n, teams), [&](auto& on) {
      constexpr u32 words = add_values<T>::words;
      T* const to = zeros<T>(on, teams * n);
      T* const totals = zeros<T>(on, teams * witnesses);
      T* const sums = zeros<T>(on, teams * words);
      on.for_teams(teams, with_lanes<Lanes>(scan_values<T>{n, to, totals}));
      on.for_teams(teams, add_values<T>{n, sums});
      std::vector<T> got(teams * n);
      std::vector<T> got_totals(teams * witnesses);
      std::vector<T> got_sums(teams * words);
      deliver(on, to, got);
      deliver(on, totals, got_totals);
      deliver(on, sums, got_sums);
      on.finish();
      std::vector<T> wanted;
      std::vector<T> wanted_totals;
      std::vector<T> wanted_sums(teams * words);
      for (u64 i = 0; i < teams; ++i) {
        T sum = 0;
        for (u64 j = 0; j < n; ++j) {
          wanted.push_back(sum);
          sum += static_cast<T>(mixed(i, j));
          wanted_sums[i * words + j % words] += static_cast<T>(mixed(i, j));
        }
        wanted_totals.insert(wanted_totals.end(), witnesses, sum);
      }
      see.same("scan", got, wanted);
      see.same("the total that every lane gets", got_totals, wanted_totals);
      see.same("add", got_sums, wanted_sums);
    });
  };
  each_team_shape<Lanes>(see, check);
  check(2048, 2);
  check(scan_values<T>::most, 3);
}

template <u32 Lanes, class Examiner>
void check_team_lists(Examiner& see) {
  each_team_shape<Lanes>(see, [&](u64 n, u64 teams) {
    if (n > 129 || teams > 3) return;
    see.trial(of_shape<Lanes>("team: lists", n, teams), [&](auto& on) {
      constexpr u32 most = take_of_lists::most * 32;
      u32* const to = zeros<u32>(on, teams * n * most);
      u32* const calls = zeros<u32>(on, teams * n);
      on.for_teams(teams, with_lanes<Lanes>(take_of_lists{n, to, calls}));
      std::vector<u32> got(teams * n * most);
      std::vector<u32> got_calls(teams * n);
      deliver(on, to, got);
      deliver(on, calls, got_calls);
      on.finish();
      std::vector<u32> wanted(teams * n * most);
      std::vector<u32> wanted_calls(teams * n);
      for (u64 i = 0; i < teams; ++i) {
        for (u64 list = 0; list < n; ++list) {
          u32 rank = 0;
          for (u32 j = 0; j < 32 * take_of_lists::length_of(i, list); ++j) {
            if (take_of_lists::takes(i, list, j)) wanted[(i * n + list) * most + rank++] = j + 1;
          }
          wanted_calls[i * n + list] = rank;
        }
      }
      see.same("what was taken", got, wanted);
      see.same("how often each list's put was called", got_calls, wanted_calls);
    });
  });
}

template <class Key, bool Pivots, u32 Lanes, class Examiner>
void check_parted_lists(Examiner& see) {
  using part = part_lists<Key, Pivots>;
  const std::string name = "team: parted lists of " + std::to_string(sizeof(Key)) + " bytes";
  each_team_shape<Lanes>(see, [&](u64 n, u64 teams) {
    if (n > 129 || teams > 3) return;
    see.trial(of_shape<Lanes>(Pivots ? name + ", with pivots" : name, n, teams), [&](auto& on) {
      const u64 lists = teams * n;
      u32* const to = zeros<u32>(on, lists * part::most);
      u32* const pivots = zeros<u32>(on, lists);
      u32* const calls = zeros<u32>(on, lists);
      on.for_teams(teams, with_lanes<Lanes>(part{n, zeros<Key>(on, lists * part::most), to, pivots, calls}));
      std::vector<u32> got(lists * part::most);
      std::vector<u32> got_pivots(lists);
      std::vector<u32> got_calls(lists);
      deliver(on, to, got);
      deliver(on, pivots, got_pivots);
      deliver(on, calls, got_calls);
      on.finish();
      std::vector<u32> wanted(lists * part::most);
      std::vector<u32> wanted_pivots(lists);
      std::vector<u32> wanted_calls(lists);
      for (u64 i = 0; i < teams; ++i) {
        for (u64 list = 0; list < n; ++list) {
          const u64 own = i * n + list;
          std::vector<u32> items(part::length_of(i, list));
          for (u32 item = 0; item < items.size(); ++item) items[item] = item;
          std::ranges::stable_sort(items, {}, [&](u32 item) { return part::key_of(i, list, item); });
          const auto middle = items.begin() + part::left_of(i, list);
          if (Pivots && middle != items.end()) wanted_pivots[own] = *middle + 1;
          std::sort(items.begin(), middle);
          std::sort(middle, items.end());
          wanted_calls[own] = static_cast<u32>(items.size());
          for (u32 place = 0; place < items.size(); ++place) wanted[own * part::most + place] = items[place] + 1;
        }
      }
      see.same("the lists", got, wanted);
      see.same("the first of the least behind the cut", got_pivots, wanted_pivots);
      see.same("how often each list's put was called", got_calls, wanted_calls);
    });
  });
}

template <u32 Values, u32 AtOnce, u32 Lanes, class Examiner>
void check_reduced_lists(Examiner& see) {
  using reduce = reduce_lists<Values, AtOnce>;
  each_team_shape<Lanes>(see, [&](u64 n, u64 teams) {
    if (n > 129 || teams > 3) return;
    see.trial(of_shape<Lanes>("team: " + std::to_string(Values) + " values of lists", n, teams), [&](auto& on) {
      const u64 lists = teams * n;
      auto* const to = zeros<item_facts>(on, lists * Values);
      u32* const calls = zeros<u32>(on, lists);
      on.for_teams(teams, with_lanes<Lanes>(reduce{n, to, calls}));
      std::vector<item_facts> got(lists * Values);
      std::vector<u32> got_calls(lists);
      deliver(on, to, got);
      deliver(on, calls, got_calls);
      on.finish();
      for (u64 own = 0; own < lists; ++own) {
        const u64 i = own / n;
        const u32 length = reduce::length_of(i, own % n);
        see.same("how often a list's put was called", got_calls[own], length == 0 ? 0 : Values);
        for (u32 v = 0; v < Values; ++v) {
          item_facts wanted{};
          for (u32 item = 0; item < length; ++item) {
            const auto one = static_cast<u32>(mixed(mixed(mixed(i, own % n), item), v));
            wanted.sum += one;
            wanted.most = std::max(wanted.most, one);
          }
          const auto& had = got[own * Values + v];
          see.same("sum", had.sum, wanted.sum);
          see.same("items", had.count, length);
          see.same("most", had.most, wanted.most);
        }
      }
    });
  });
}

/// What teams of another size say as well.
template <u32 Lanes, class Examiner>
void check_teams_of(Examiner& see) {
  check_team_lists<Lanes>(see);
  check_parted_lists<u32, false, Lanes>(see);
  check_reduced_lists<8, 2, Lanes>(see);
  check_team_memory<Lanes>(see);
  check_team_facts<Lanes>(see);
  check_team_sums<u32, Lanes>(see);
}

template <class Examiner>
void check_teams(Examiner& see) {
  check_teams_of<0>(see);
  check_parted_lists<u32, true, 0>(see);
  check_parted_lists<u64, true, 0>(see);
  check_reduced_lists<1, 1, 0>(see);
  check_reduced_lists<32, 1, 0>(see);
  check_team_sums<u64, 0>(see);
  see.trial("for_teams of no team", [&](auto& on) {
    u32* const to = zeros<u32>(on, 1);
    on.for_teams(0, in_turns{1, to});
    see.same("what no team wrote", on.read(to), 0);
    on.finish();
  });
}

}  // namespace zenith::device_suite

#pragma once

/// \file
/// The suite's team kernels: the words that a team says inside for_teams. Values differ for each lane and each team.

#include <core/device/list.hpp>
#include <tests/device/item_kernels.hpp>

namespace zenith::device_suite {

/// A kernel whose teams have so many lanes, where the device's own have another number.
template <class Kernel, u32 Lanes>
struct of_lanes : Kernel {
  static constexpr u32 team_lanes = Lanes;
};

/// So many lanes of every team write what they were told.
inline constexpr u64 witnesses = 300;

/// Through scratch, in a place behind the beginning too, and through device memory, turned round each time.
struct turn_round {
  static constexpr u32 scratch_bytes = 1000 * sizeof(u64) + 1000 * sizeof(u32) + 64;
  static constexpr u64 item_cost = 100000;

  u64 n;
  u64* to;
  u32* there;
  u32* back;
  u32* once;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    u64* const longs = team.template scratch<u64>();
    u32* const words = team.template scratch<u32>(1000 * sizeof(u64) + 64);
    team.for_each(n, [&](u64 j) ZENITH_BODY {
      longs[j] = mixed(i, j);
      words[j] = static_cast<u32>(mixed(j, i));
      there[i * n + j] = static_cast<u32>(mixed(i, j) >> 32);
    });
    team.once([&]() ZENITH_BODY { (void)device::atomic_add(once + i, 1); });
    team.barrier();
    team.for_each(n, [&](u64 j) ZENITH_BODY {
      to[i * n + j] = longs[n - 1 - j] + words[n - 1 - j];
      back[i * n + j] = there[i * n + n - 1 - j];
    });
  }
};

/// Everything a team's lanes can learn together of `n` values.
struct team_facts {
  u64 sum;
  u64 most;
  u32 least;
  u32 index_differs;
  double total;
  ordered::entry64 best;
  u64 odd;
  u32 has;
  u32 has_not;
};

struct best_of_two {
  template <class Entry>
  ZENITH_FN Entry operator()(const Entry& a, const Entry& b) const {
    return better(a, b) ? a : b;
  }
};

/// A team has this one value among its n, and no other has it.
ZENITH_FN u64 needle(u64 team, u64 n) { return mixed(team, mixed(team, 77) % n); }

struct gather_facts {
  u64 n;
  team_facts* to;
  u64* told;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    team_facts facts{};
    facts.sum = team.reduce(
        n, u64{0}, [&](u64 j) ZENITH_BODY { return mixed(i, j); }, device::plus{});
    facts.most = team.reduce(
        n, u64{0}, [&](u64 j) ZENITH_BODY { return mixed(i, j); }, device::greatest{});
    facts.least = team.reduce(
        n, ~u32{0}, [&](u64 j) ZENITH_BODY { return static_cast<u32>(mixed(i, j)); }, device::least{});
    facts.total = team.reduce(
        n, 0.0, [&](u64 j) ZENITH_BODY { return static_cast<double>(mixed(i, j) >> 32); }, device::plus{});
    facts.best = team.reduce(
        n, ordered::entry64::worst(),
        [&](u64 j) ZENITH_BODY { return ordered::entry64::make(mixed(i, j) % 7, static_cast<u32>(j)); }, best_of_two{});
    facts.odd = team.count(n, [&](u64 j) ZENITH_BODY { return mixed(i, j) % 2 == 1; });
    const u64 sought = n > 0 ? needle(i, n) : 0;
    facts.has = team.any(n, [&](u64 j) ZENITH_BODY { return mixed(i, j) == sought; }) ? 1 : 0;
    facts.has_not = team.any(n, [&](u64 j) ZENITH_BODY { return mixed(i, j) == sought + 1; }) ? 1 : 0;
    const u64 index = team.index();
    facts.index_differs = team.any(witnesses, [&](u64) ZENITH_BODY { return team.index() != index; }) ? 1 : 0;
    team.once([&]() ZENITH_BODY { to[i] = facts; });
    team.for_each(witnesses, [&](u64 j) ZENITH_BODY {
      told[i * witnesses + j] = facts.sum ^ facts.most ^ facts.least ^ facts.best.low ^ facts.odd ^
                                (u64{facts.has} << 40) ^ (u64{facts.has_not} << 41) ^ static_cast<u64>(facts.total);
    });
  }
};

template <class T>
struct scan_values {
  static constexpr u64 most = 4096;
  static constexpr u32 scratch_bytes = most * sizeof(T);
  static constexpr u64 item_cost = 100000;

  u64 n;
  T* to;
  T* totals;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    T* const values = team.template scratch<T>();
    team.for_each(n, [&](u64 j) ZENITH_BODY { values[j] = static_cast<T>(mixed(i, j)); });
    team.barrier();
    const T total = team.scan(values, n);
    team.for_each(n, [&](u64 j) ZENITH_BODY { to[i * n + j] = values[j]; });
    team.for_each(witnesses, [&](u64 j) ZENITH_BODY { totals[i * witnesses + j] = total; });
  }
};

/// Adds n values to a few words, so that many lanes meet at each.
template <class T>
struct add_values {
  static constexpr u32 words = 5;
  static constexpr u32 scratch_bytes = words * sizeof(T);

  u64 n;
  T* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    T* const own = team.template scratch<T>();
    team.for_each(words, [&](u64 w) ZENITH_BODY { own[w] = 0; });
    team.barrier();
    team.for_each(n, [&](u64 j) ZENITH_BODY { team.add(own + j % words, static_cast<T>(mixed(i, j))); });
    team.barrier();
    team.for_each(words, [&](u64 w) ZENITH_BODY { to[i * words + w] = own[w]; });
  }
};

/// Lists of lengths around those of a warp's rounds. Each has places of its own.
struct take_of_lists {
  static constexpr u32 most = 70;  ///< words
  static constexpr u64 item_cost = 100000;

  u64 n;
  u32* to;
  u32* calls;  ///< of each list: so that an item that is put twice is seen

  [[nodiscard]] ZENITH_FN static u32 length_of(u64 i, u64 list) {
    const u64 chosen = mixed(i, list);
    constexpr u32 edges[] = {0, 1, 4, 5, 8, 16, 17, 31, 32, 33, 64, 65};
    return chosen % 2 == 0 ? edges[chosen / 2 % 12] : static_cast<u32>(chosen / 2 % (most + 1));
  }
  /// Some lists are taken whole, some not at all.
  [[nodiscard]] ZENITH_FN static bool takes(u64 i, u64 list, u32 j) {
    return mixed(mixed(i, list), j) % 4 < mixed(list, i) % 5;
  }

  struct list_type {
    u64 team;
    u64 list;
    u32 words;
    u32* to;
    u32* calls;

    [[nodiscard]] ZENITH_FN u32 word(u32 i) const {
      u32 flags = 0;
      for (u32 j = 0; j < 32; ++j) flags |= take_of_lists::takes(team, list, 32 * i + j) ? u32{1} << j : 0;
      return flags;
    }
    ZENITH_FN void put(u32 item, u32 rank) const {
      to[rank] = item + 1;
      (void)device::atomic_add(calls, 1);
    }
  };

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    team.each_list(n, [&](u64 list) ZENITH_BODY {
      return list_type{i, list, length_of(i, list), to + (i * n + list) * most * 32, calls + i * n + list};
    });
  }
};

/// Lists whose least items come first, of lengths around those of a warp's rounds.
template <class Key, bool Pivots>
struct part_lists {
  static constexpr u32 most = 1024;  ///< items
  static constexpr u64 item_cost = 100000;

  u64 n;
  Key* keys;
  u32* to;      ///< of each place: the item, and 1
  u32* pivots;  ///< of each list: the item, and 1
  u32* calls;   ///< of each list: so that an item that is put twice is seen

  [[nodiscard]] ZENITH_FN static u32 length_of(u64 i, u64 list) {
    constexpr u32 edges[] = {0, 1, 2, 31, 32, 33, 64, 95, 96, 97, 128, 1024};
    const u64 chosen = mixed(i, list + 5);
    return chosen % 2 == 0 ? edges[chosen / 2 % 12] : static_cast<u32>(chosen / 2 % 301);
  }
  /// None of them, all, or some.
  [[nodiscard]] ZENITH_FN static u32 left_of(u64 i, u64 list) {
    const u32 length = length_of(i, list);
    const u64 chosen = mixed(list, i + 3);
    return chosen % 8 == 0   ? 0
           : chosen % 8 == 1 ? length
           : chosen % 8 < 5  ? length / 2
                             : static_cast<u32>(chosen / 8 % (length + 1));
  }
  [[nodiscard]] ZENITH_FN static Key key_of(u64 i, u64 list, u32 item) {
    const u64 one = mixed(mixed(i, list), item);
    switch (mixed(list, i) % 5) {
      case 0: return static_cast<Key>(one % 3);                                     // many are equal
      case 1: return static_cast<Key>(one % 2 == 0 ? ~u64{0} : u64{0});             // the ends
      case 2: return static_cast<Key>(i);                                           // all are
      case 3: return static_cast<Key>(one % 50 == 0 ? ~u64{0} : u64{1000} + item);  // a few far away
      default: return static_cast<Key>(one);
    }
  }

  struct list_type {
    using key_type = Key;
    static constexpr bool asks_pivot = Pivots;

    u32 count;
    u32 left;
    Key* keys;
    u64 team;
    u64 list;
    u32* to;
    u32* at_pivot;
    u32* calls;

    [[nodiscard]] ZENITH_FN Key key(u32 item) const { return part_lists::key_of(team, list, item); }
    ZENITH_FN void put(u32 item, u32 place) const {
      to[place] = item + 1;
      (void)device::atomic_add(calls, 1);
    }
    ZENITH_FN void pivot(u32 item) const { (void)device::atomic_add(at_pivot, item + 1); }
  };

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    team.each_parted(n, [&](u64 list) ZENITH_BODY {
      const u64 own = i * n + list;
      return list_type{length_of(i, list), left_of(i, list), keys + own * most, i, list,
                       to + own * most,    pivots + own,     calls + own};
    });
  }
};

/// What a value of several words has of some items.
struct item_facts {
  u32 sum;
  u32 count;
  u32 most;
};

/// Values that lists have together, of lengths around those of a warp's rounds.
template <u32 Values, u32 AtOnce>
struct reduce_lists {
  static constexpr u64 item_cost = 100000;

  u64 n;
  item_facts* to;  ///< of each list its values
  u32* calls;      ///< of each list: how often something was put

  [[nodiscard]] ZENITH_FN static u32 length_of(u64 i, u64 list) {
    constexpr u32 edges[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 0, 200};
    const u64 chosen = mixed(i, list + 9);
    return chosen % 2 == 0 ? edges[chosen / 2 % 12] : static_cast<u32>(chosen / 2 % 131);
  }
  [[nodiscard]] ZENITH_FN static item_facts facts_of(u64 item, u32 v) {
    const auto one = static_cast<u32>(mixed(item, v));
    return {one, 1, one};
  }

  struct list_type {
    using value_type = item_facts;
    static constexpr u32 value_count = Values;
    static constexpr u32 at_once = AtOnce;

    u32 count;
    u64 team;
    u64 list;
    item_facts* to;
    u32* calls;

    [[nodiscard]] ZENITH_FN static item_facts none() { return {0, 0, 0}; }
    [[nodiscard]] ZENITH_FN static item_facts join(const item_facts& a, const item_facts& b) {
      return {a.sum + b.sum, a.count + b.count, a.most > b.most ? a.most : b.most};
    }
    [[nodiscard]] ZENITH_FN u64 load(u32 i) const { return mixed(mixed(team, list), i); }
    ZENITH_FN void take(u32 /*i*/, u64 item, item_facts (&values)[Values]) const {
      ZENITH_UNROLLED
      for (u32 v = 0; v < Values; ++v) values[v] = join(values[v], facts_of(item, v));
    }
    ZENITH_FN void put(u32 v, const item_facts& value) const {
      to[v] = value;
      (void)device::atomic_add(calls, 1);
    }
  };

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    team.each_reduced(n, [&](u64 list) ZENITH_BODY {
      const u64 own = i * n + list;
      return list_type{length_of(i, list), i, list, to + own * Values, calls + own};
    });
  }
};

/// The same words again and again, with nothing between them but what they promise.
struct in_turns {
  static constexpr u32 rounds = 20;
  static constexpr u32 scratch_bytes = 257 * sizeof(u32);
  static constexpr u64 item_cost = 100000;

  u64 n;
  u32* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    u32* const own = team.template scratch<u32>();
    u32 known = static_cast<u32>(i);
    for (u32 round = 0; round < rounds; ++round) {
      team.for_each(n, [&](u64 j) ZENITH_BODY { own[j] = known + static_cast<u32>(j); });
      team.barrier();
      const u32 sum = team.reduce(
          n, u32{0}, [&](u64 j) ZENITH_BODY { return own[n - 1 - j]; }, device::plus{});
      const u64 odd = team.count(n, [&](u64 j) ZENITH_BODY { return own[(j + 1) % n] % 2 == 1; });
      team.barrier();
      const u32 total = team.scan(own, n);
      known = known * 3 + sum + static_cast<u32>(odd) +
              (team.any(n, [&](u64 j) ZENITH_BODY { return own[j] > total; }) ? 1000 : 1);
      team.barrier();
    }
    team.once([&]() ZENITH_BODY { to[i] = known; });
  }
};

/// Reads what the turn before wrote, all of it, and writes a word. Scratch of another size for each turn.
template <u32 Bytes>
struct relay {
  static constexpr u32 scratch_bytes = Bytes;

  const u64* from;
  u64 count;
  const u32* arrived;  ///< teams of the turn before; nullptr: there is none
  u64* to;
  u32* arriving;
  u32* wrong;

  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 i) const {
    if constexpr (Bytes > 0) {
      u64* const own = team.template scratch<u64>(Bytes - 64 * sizeof(u64));
      team.for_each(64, [&](u64 j) ZENITH_BODY { own[j] = 0; });
      team.barrier();
      team.for_each(count, [&](u64 j) ZENITH_BODY { (void)team.add(own + j % 64, from[j]); });
      team.barrier();
      const u64 sum = team.reduce(
          64, u64{0}, [&](u64 j) ZENITH_BODY { return own[j]; }, device::plus{});
      tell(team, i, sum);
    } else {
      tell(team, i,
           team.reduce(
               count, u64{0}, [&](u64 j) ZENITH_BODY { return from[j]; }, device::plus{}));
    }
  }

 private:
  template <class Team>
  ZENITH_FN void tell(Team& team, u64 i, u64 sum) const {
    team.once([&]() ZENITH_BODY {
      if (arrived != nullptr && device::atomic_load(arrived) != count) (void)device::atomic_add(wrong, 1);
      (void)device::atomic_add(arriving, 1);
      to[i] = mixed(sum, i);
    });
  }
};
inline constexpr u32 few_bytes = 1024;
inline constexpr u32 many_bytes = 60000;

using team_kernels = device::list<relay<0>, relay<few_bytes>, relay<many_bytes>, turn_round, gather_facts,
                                  scan_values<u32>, scan_values<u64>, add_values<u32>, add_values<u64>, take_of_lists,
                                  part_lists<u32, true>, part_lists<u64, true>, part_lists<u32, false>,
                                  reduce_lists<1, 1>, reduce_lists<8, 2>, reduce_lists<32, 1>, in_turns>;

}  // namespace zenith::device_suite

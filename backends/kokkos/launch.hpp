#pragma once

/// \file
/// How a kernel becomes a Kokkos launch: two ways to run teams, on a host's threads and on a device's.

#include <algorithm>

#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>
#include <backends/kokkos/team.hpp>
#include <core/device/kernel.hpp>

namespace zenith::kokkos_backend {

template <device::item_kernel K>
struct run_item {
  K kernel;

  ZENITH_FN void operator()(std::int64_t i) const { kernel(static_cast<u64>(i)); }
};

template <device::item_kernel K>
void launch_items(u64 count, const K& kernel) {
  if (count > 0) Kokkos::parallel_for("zenith::for_each", range(count), run_item<K>{kernel});
}

/// The items of a tile kernel, `length` a team.
struct team_items {
  u64 count;
  u64 length;

  /// Whole blocks of a source that has them.
  template <class Source>
  [[nodiscard]] static team_items of(const Source& source, u64 length) {
    if constexpr (device::block_source<Source>) {
      constexpr u64 block = Source::block_items;
      return {source.size(), (length + block - 1) / block * block};
    } else {
      return {source.size(), length};
    }
  }
  /// At least one: a kernel may have something to say of no items.
  [[nodiscard]] u64 teams() const { return count == 0 ? 1 : (count + length - 1) / length; }
  [[nodiscard]] ZENITH_FN u64 begin(u64 i) const { return i * length; }
  [[nodiscard]] ZENITH_FN u64 end(u64 i) const { return begin(i) + length < count ? begin(i) + length : count; }
};

/// A team is one host thread, whose loops over neighbours the compiler vectorises: barriers between host threads cost
/// more than a tile's work. Its scratch is on the thread's stack, so that no launch can fail for it.
struct host_teams {
  using team_type = device::plain_team<sink>;

  template <class K>
  struct workspace {
    alignas(64) unsigned char bytes[device::scratch_bytes_of<K> > 0 ? device::scratch_bytes_of<K> : 1];
  };

  template <class K>
  struct run_team {
    K kernel;

    void operator()(std::int64_t i) const {
      workspace<K> scratch;
      const auto index = static_cast<u64>(i);
      team_type on(index, 0, 0, scratch.bytes);
      kernel(on, index);
    }
  };
  template <class K>
  struct run_tiles {
    K kernel;
    team_items items;

    void operator()(std::int64_t i) const {
      workspace<K> scratch;
      const auto index = static_cast<u64>(i);
      team_type on(index, items.begin(index), items.end(index), scratch.bytes);
      kernel(on);
    }
  };

  template <class K>
  static void launch_teams(u64 count, const K& kernel) {
    if (count > 0) Kokkos::parallel_for("zenith::for_teams", policy(count), run_team<K>{kernel});
  }
  /// Chunks that amortise a team's beginning and its merging into what all share, and still occupy all threads.
  template <class K>
  static void launch_tiles(const K& kernel) {
    const u64 share = kernel.source.size() / (4 * static_cast<u64>(concurrency())) / 4096 * 4096;
    const u64 length = concurrency() == 1 ? most_items : std::clamp<u64>(share, 4096, most_items);
    const auto items = team_items::of(kernel.source, length);
    Kokkos::parallel_for("zenith::for_tiles", policy(items.teams()), run_tiles<K>{kernel, items});
  }

 private:
  static constexpr u64 most_items = u64{1} << 18;
  using policy_type = Kokkos::RangePolicy<space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>;

  /// Teams differ in their work, so threads fetch a few at a time.
  static policy_type policy(u64 count) {
    const u64 few = std::max<u64>(1, count / (32 * static_cast<u64>(concurrency())));
    return {0, static_cast<std::int64_t>(count), Kokkos::ChunkSize(static_cast<int>(std::min<u64>(few, 1U << 20)))};
  }
};

/// A team is a Kokkos team of the size that Kokkos finds best for the kernel, with scratch where it is fastest and has
/// space.
struct device_teams {
  static constexpr int alignment = 64;

  template <class K>
  struct scratch {
    static constexpr int bytes = static_cast<int>(device::scratch_bytes_of<K>);
    int level;

    [[nodiscard]] static scratch of() {
      return {bytes + alignment <= static_cast<int>(team_policy::scratch_size_max(0)) ? 0 : 1};
    }
    [[nodiscard]] team_policy policy(u64 count) const {
      const auto league = static_cast<int>(count);
      // a host is asked for such teams by tests alone, which want several lanes
      auto teams = is_host_space ? team_policy(league, std::min(4, concurrency())) : team_policy(league, Kokkos::AUTO);
      if (bytes > 0) teams.set_scratch_size(level, Kokkos::PerTeam(bytes + alignment));
      return teams;
    }
    [[nodiscard]] ZENITH_FN void* at(const team& lanes) const {
      if constexpr (bytes == 0) {
        return nullptr;
      } else {
        const int size = bytes;  // taken by reference, which a static member has none of on a device
        return lanes.team_scratch(level).get_shmem_aligned(size, alignment);
      }
    }
  };

  template <class K>
  struct run_team {
    K kernel;
    u64 first;
    scratch<K> scratchpad;

    ZENITH_FN void operator()(const team& lanes) const {
      const u64 index = first + static_cast<u64>(lanes.league_rank());
      strided_team on(lanes, index, 0, 0, scratchpad.at(lanes));
      kernel(on, index);
    }
  };
  template <class K>
  struct run_tiles {
    K kernel;
    team_items items;
    scratch<K> scratchpad;

    ZENITH_FN void operator()(const team& lanes) const {
      const auto index = static_cast<u64>(lanes.league_rank());
      strided_team on(lanes, index, items.begin(index), items.end(index), scratchpad.at(lanes));
      kernel(on);
    }
  };

  /// A league's size is an int.
  template <class K>
  static void launch_teams(u64 count, const K& kernel) {
    constexpr u64 most = u64{1} << 30;
    const auto scratchpad = scratch<K>::of();
    for (u64 first = 0; first < count; first += most)
      Kokkos::parallel_for("zenith::for_teams", scratchpad.policy(std::min(count - first, most)),
                           run_team<K>{kernel, first, scratchpad});
  }
  /// Enough teams to occupy a device, each with enough to be worth one.
  template <class K>
  static void launch_tiles(const K& kernel) {
    const auto scratchpad = scratch<K>::of();
    const u64 length = std::clamp<u64>(kernel.source.size() / 4096 / 1024 * 1024, 1024, 16384);
    const auto items = team_items::of(kernel.source, length);
    Kokkos::parallel_for("zenith::for_tiles", scratchpad.policy(items.teams()),
                         run_tiles<K>{kernel, items, scratchpad});
  }
};

}  // namespace zenith::kokkos_backend

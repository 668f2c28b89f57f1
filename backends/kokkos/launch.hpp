#pragma once

/// \file
/// How a kernel becomes a Kokkos launch: two ways to run teams, on a host's threads and on a device's.

#include <algorithm>

#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>
#include <backends/kokkos/team.hpp>
#include <core/device/kernel.hpp>

namespace zenith::kokkos_backend {

/// Runs run(of, 0) … run(of, pieces - 1) on the host's threads: an equal share each, or where pieces differ in their
/// work, `together` at a time to whoever is free. `run` is a pointer, so that what Kokkos makes of a launch is compiled
/// once and not for every kernel.
void run_on_host(const char* label, u64 pieces, const void* of, void (*run)(const void* of, u64 piece));
void share_on_host(const char* label, u64 pieces, u64 together, const void* of, void (*run)(const void* of, u64 piece));

/// A function of a piece behind a pointer.
template <class Run>
void call_piece(const void* run, u64 piece) {
  (*static_cast<const Run*>(run))(piece);
}

template <device::item_kernel K>
struct run_item {
  K kernel;

  ZENITH_FN void operator()(std::int64_t i) const { kernel(static_cast<u64>(i)); }
};

/// A host's thread has one piece.
template <device::item_kernel K>
void launch_items(u64 count, const K& kernel) {
  if (count == 0) return;
  if constexpr (is_host_space) {
    const u64 pieces = std::min(count, static_cast<u64>(concurrency()));
    const auto run = [&](u64 piece) {
      const K own = kernel;
      const u64 end = count * (piece + 1) / pieces;
      for (u64 i = count * piece / pieces; i < end; ++i) own(i);
    };
    run_on_host("zenith::for_each", pieces, &run, call_piece<decltype(run)>);
  } else {
    Kokkos::parallel_for("zenith::for_each", range(count), run_item<K>{kernel});
  }
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
  static void launch_teams(u64 count, const K& kernel) {
    const auto run = [&](u64 index) {
      workspace<K> scratch;
      team_type on(index, 0, 0, scratch.bytes);
      kernel(on, index);
    };
    launch("zenith::for_teams", count, run);
  }
  /// Chunks that amortise a team's beginning and its merging into what all share, and still occupy all threads.
  template <class K>
  static void launch_tiles(const K& kernel) {
    const u64 share = kernel.source.size() / (4 * static_cast<u64>(concurrency())) / 4096 * 4096;
    const u64 length = concurrency() == 1 ? most_items : std::clamp<u64>(share, 4096, most_items);
    const auto items = team_items::of(kernel.source, length);
    const auto run = [&](u64 index) {
      workspace<K> scratch;
      team_type on(index, items.begin(index), items.end(index), scratch.bytes);
      kernel(on);
    };
    launch("zenith::for_tiles", items.teams(), run);
  }

 private:
  static constexpr u64 most_items = u64{1} << 18;

  /// Teams differ in their work, so threads fetch a few at a time.
  template <class Run>
  static void launch(const char* label, u64 count, const Run& run) {
    if (count == 0) return;
    const u64 few = std::max<u64>(1, count / (32 * static_cast<u64>(concurrency())));
    share_on_host(label, count, std::min<u64>(few, 1U << 20), &run, call_piece<Run>);
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

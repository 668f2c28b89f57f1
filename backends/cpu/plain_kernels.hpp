#pragma once

/// \file
/// Kernels of the CPU's context in plain loops: for programs outside of the library, which compile them with flags of
/// their own and without the library's units for single instruction sets.

#include <cstdint>

#include <backends/cpu/launch.hpp>
#include <core/device/list.hpp>
#include <core/device/plain_team.hpp>

namespace zenith::cpu_backend {

/// A worker's end of a collection.
template <class Entry>
class plain_sink {
 public:
  explicit plain_sink(collecting_worker<Entry>& mine) : mine_(mine) {}

  [[nodiscard]] Entry bound() const { return mine_.bound; }

  template <class Team, class Tile, class Make>
  void append(Team& /*team*/, const Tile& items, std::uint64_t flags, const Make& make) {
    for (; flags != 0; flags &= flags - 1) {
      const Entry entry = make(items.first + static_cast<unsigned>(__builtin_ctzll(flags)));
      mine_.entries[mine_.count] = entry;
      mine_.count += better(mine_.bound, entry) ? 0 : 1;
    }
    if (mine_.count >= mine_.full) {
      mine_.make_space(mine_);
    } else {
      raise_to(mine_.bound, __atomic_load_n(mine_.shared, __ATOMIC_RELAXED));
    }
  }
  template <class Team>
  void close(Team& /*team*/) {}

 private:
  collecting_worker<Entry>& mine_;
};
static_assert(device::plain_tile_items <= most_items_of_a_tile);

/// The plain team as a worker of a launch.
class worker_team : public device::plain_team<plain_sink> {
 public:
  worker_team(const launch_worker& worker, std::uint64_t index)
      : device::plain_team<plain_sink>(index, 0, 0, worker.scratch), worker_(worker) {}

  template <class Source, class Body>
  void each_tile(const Source& source, const Body& body) const {
    each_chunk(worker_,
               [&](std::uint64_t begin, std::uint64_t end) { device::each_plain_tile(source, begin, end, body); });
  }
  template <class Entry>
  [[nodiscard]] plain_sink<Entry> open(const device::collection<Entry>& to) const {
    return plain_sink<Entry>(static_cast<collecting_worker<Entry>*>(to.workers)[worker_.id]);
  }

 private:
  const launch_worker& worker_;
};

/// A worker's share of a launch.
template <class Kernel>
void run_plain_kernel(const void* kernel, const launch_worker& worker) {
  const auto& run = *static_cast<const Kernel*>(kernel);
  if constexpr (device::tile_kernel<Kernel>) {
    worker_team team(worker, worker.id);
    run(team);
  } else {
    each_chunk(worker, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if constexpr (device::item_kernel<Kernel>) {
          run(i);
        } else {
          worker_team team(worker, i);
          run(team, i);
        }
      }
    });
  }
}

template <class Kernels>
struct plain_entries;
template <class... Kernels>
struct plain_entries<device::list<Kernels...>> {
  static constexpr kernel_entry entries[] = {run_plain_kernel<Kernels>..., nullptr};
};

}  // namespace zenith::cpu_backend

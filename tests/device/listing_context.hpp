#pragma once

/// \file
/// The sequential context, but one that takes no kernel that is missing from `Kernels`: the CPU's compiles what the
/// list names, and nothing else. One whose memory is not the host's: inputs are copied when they are said, outputs
/// arrive with `finish`. And one that says that it is a device, where strategies may have other parts.

#include <cstring>
#include <functional>
#include <vector>

#include <core/device/list.hpp>
#include <core/device/sequential.hpp>

namespace zenith::device_suite {

template <class Kernels>
struct listing_context : device::sequential_context {
  using device::sequential_context::sequential_context;

  template <device::item_kernel K>
  void for_each(device::u64 n, const K& run) {
    static_assert(device::position_in<K>(Kernels{}) < Kernels::size);
    sequential_context::for_each(n, run);
  }
  template <device::team_kernel K>
  void for_teams(device::u64 n, const K& run) {
    static_assert(device::position_in<K>(Kernels{}) < Kernels::size);
    sequential_context::for_teams(n, run);
  }
  template <device::team_kernel... K>
  void for_teams_in_turn(const device::turn<K>&... turns) {
    (for_teams(turns.n, turns.kernel), ...);
  }
  template <device::tile_kernel K>
  void for_tiles(const K& run) {
    static_assert(device::position_in<K>(Kernels{}) < Kernels::size);
    sequential_context::for_tiles(run);
  }
};

struct device_like : device::sequential_context {
  static constexpr bool runs_on_host = false;

  [[nodiscard]] int threads() const { return 0; }
};

template <class Kernels>
struct distant_context : listing_context<Kernels> {
  using listing_context<Kernels>::listing_context;

  template <class T>
  const T* input(const T* from, device::u64 n, memory_space /*space*/) {
    T* const at = this->template buffer<T>(n);
    if (n > 0) std::memcpy(static_cast<void*>(at), from, n * sizeof(T));
    return at;
  }
  template <class T>
  T* output(T* to, device::u64 n, memory_space /*space*/) {
    T* const at = this->template buffer<T>(n);
    deliveries_.push_back([=] { std::memcpy(static_cast<void*>(to), at, n * sizeof(T)); });
    return at;
  }
  void finish() {
    device::sequential_context::finish();
    for (const auto& deliver : deliveries_) deliver();
    deliveries_.clear();
  }

 private:
  std::vector<std::function<void()>> deliveries_;
};

}  // namespace zenith::device_suite

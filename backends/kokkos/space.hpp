#pragma once

/// \file
/// Where this backend runs and how it holds memory: the default execution space of the Kokkos it is built with, and
/// nothing else, so that one text serves Serial, OpenMP, CUDA and HIP.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include <zenith/error.hpp>

namespace zenith::kokkos_backend {

using space = Kokkos::DefaultExecutionSpace;
using memory = space::memory_space;
using range_policy = Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>;
using team_policy = Kokkos::TeamPolicy<space>;
using team = team_policy::member_type;

/// Whether a host thread can touch the default space's memory: then its lanes are the host's threads.
inline constexpr bool is_host_space = bool{Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible} &&
                                      bool{Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible};

using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

/// Memory of the space, owned.
template <class T>
using buffer = Kokkos::View<T*, memory>;
/// Memory of the space, borrowed.
template <class T>
using borrowed = Kokkos::View<T*, memory, unmanaged>;
/// The caller's memory, borrowed.
template <class T>
using host_view = Kokkos::View<T*, Kokkos::HostSpace, unmanaged>;

/// Runs `allocate`, and reports whatever it throws as out_of_memory: releases of Kokkos differ in what that is.
template <class Allocate>
auto allocating(const char* what, const Allocate& allocate) {
  try {
    return allocate();
  } catch (const std::exception& fault) {
    throw error(error_code::out_of_memory, std::string{"no memory for "} + what + ": " + fault.what(), "kokkos");
  }
}

/// Runs `function`, and reports what Kokkos throws as the library's own error.
template <class Function>
decltype(auto) reporting(const Function& function) {
  try {
    return function();
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc& fault) {
    throw error(error_code::out_of_memory, fault.what(), "kokkos");
  } catch (const std::exception& fault) {
    throw error(error_code::device_failure, fault.what(), "kokkos");
  }
}

/// `count` elements with no value yet.
template <class T>
buffer<T> make_buffer(const char* label, std::uint64_t count) {
  return allocating(label, [&] {
    return buffer<T>(Kokkos::view_alloc(std::string{label}, Kokkos::WithoutInitializing),
                     static_cast<std::size_t>(count));
  });
}

/// The one value that `from` holds, on the host. Waits for the space.
template <class T>
T fetch(const Kokkos::View<T, memory>& from) {
  T value{};
  Kokkos::deep_copy(value, from);
  return value;
}

/// `league` teams: on a device of the size that Kokkos finds best for the kernel, on the host of one thread, since
/// barriers between host threads cost more than a tile's work. `scratch_bytes` for each.
[[nodiscard]] inline team_policy teams(std::uint64_t league, std::size_t scratch_bytes = 0) {
  const auto count = static_cast<int>(league);
  auto policy = is_host_space ? team_policy(count, 1) : team_policy(count, Kokkos::AUTO);
  return policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_bytes)));
}

[[nodiscard]] inline range_policy range(std::uint64_t count) {
  return range_policy(0, static_cast<std::int64_t>(count));
}

}  // namespace zenith::kokkos_backend

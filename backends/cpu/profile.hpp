#pragma once

#include <cstdint>
#include <string>

#include <zenith/backend.hpp>
#include <zenith/machine.hpp>

namespace zenith::cpu_backend {

/// The processor as the operating system names it.
[[nodiscard]] std::string model_name();

/// Bytes of a core's own caches, and of the one that all share; typical sizes where the system does not tell.
struct cache_sizes {
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t shared;
};
[[nodiscard]] cache_sizes caches();

/// What a server core of the day does, times the threads of `on`.
[[nodiscard]] device_profile default_profile(const execution& on);

}  // namespace zenith::cpu_backend

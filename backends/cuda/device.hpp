#pragma once

/// \file
/// The devices of the machine and the memory functions of the backend's descriptor.

#include <cstddef>
#include <vector>

#include <zenith/backend.hpp>

namespace zenith::cuda_backend {

[[nodiscard]] availability available();
[[nodiscard]] std::vector<device_info> devices();
void configure(execution& settings);

[[nodiscard]] void* allocate(const execution& on, std::size_t bytes);
void deallocate(const execution& on, void* pointer, std::size_t bytes) noexcept;
void copy(const execution& on, void* to, memory_space to_space, const void* from, memory_space from_space,
          std::size_t bytes);
/// Pins the memory; where it cannot be, a pinned copy is made.
[[nodiscard]] const void* map_host(const execution& on, const void* at, std::size_t bytes);
void unmap_host(const execution& on, const void* seen) noexcept;
void synchronize(const execution& on);

}  // namespace zenith::cuda_backend

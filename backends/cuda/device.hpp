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
void synchronize(const execution& on);

}  // namespace zenith::cuda_backend

#pragma once

/// \file
/// Strategies of a program's own. A strategy is a function over a device context (core/device/context.hpp), written
/// once, and its kernels (core/device/kernel.hpp). A place runs it; there is a header for each kind of place:
///
///     zenith::strategies::sequential here;                            // sequential.hpp
///     zenith::strategies::cpu here(zenith::make_executor("cpu"));     // cpu.hpp
///     zenith::strategies::kokkos here;                                // kokkos.hpp
///     zenith::strategies::cuda here(zenith::make_executor("cuda"));   // cuda.hpp, for nvcc alone
///
///     using kernels = zenith::device::list<add_one>;                  // every kernel that the strategy launches
///     here.run<kernels>([&](auto& on) { on.for_each(n, add_one{…}); … on.finish(); });
///
/// See README.md of the folder strategies.

#include <concepts>
#include <string>
#include <string_view>

#include <core/device/context.hpp>
#include <core/device/counts.hpp>
#include <core/device/list.hpp>
#include <core/device/source.hpp>
#include <core/entry.hpp>
#include <core/key_order.hpp>
#include <zenith/error.hpp>
#include <zenith/executor.hpp>

namespace zenith::strategies {

/// Where strategies run: `here.run<Kernels>(body)` calls body(on) with a device context that runs the listed kernels,
/// and returns when body has. `P::memory` is the memory that kernels see.
template <class P>
concept place = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::memory } -> std::convertible_to<memory_space>;
};

namespace detail {

/// Throws invalid_argument for an executor of another backend.
inline void require_backend(std::string_view wanted, const executor& on) {
  if (on.backend() == wanted) return;
  throw error(error_code::invalid_argument, "strategies::" + std::string{wanted} + ": the executor is of backend '" +
                                                std::string{on.backend()} + "'");
}

}  // namespace detail

}  // namespace zenith::strategies

#pragma once

#include <string_view>

#include <zenith/executor.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::packed {

/// The strategy under which backends offer every operation: tiles of 128 values.
inline constexpr std::string_view strategy = "tiles";

/// Where a call runs: the executor's backend, or for "auto" the one that is predicted to be fastest. Throws
/// `unsupported` when it does not offer the operation, and `invalid_argument` for device memory on the host's backends.
[[nodiscard]] execution resolve(const executor& on, const packed_problem& problem);

void run_kernel(const execution& on, std::string_view operation, const void* call);

template <class Call>
void run(const execution& on, const Call& call) {
  run_kernel(on, Call::operation, &call);
}

}  // namespace zenith::packed

#pragma once

#include <string_view>

#include <zenith/executor.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::packed {

/// The strategy under which backends offer every operation: tiles of 128 values.
inline constexpr std::string_view strategy = "tiles";

/// Where a call runs, and the kernel of its operation there.
struct place {
  execution on;
  const kernel* by;
};

/// The executor's backend, or for "auto" the one that is predicted to be fastest. Throws `unsupported` when it does not
/// offer the operation, and `invalid_argument` for device memory on the host's backends.
[[nodiscard]] place resolve(const executor& on, const packed_problem& problem);

}  // namespace zenith::packed

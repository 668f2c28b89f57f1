#pragma once

#include <zenith/executor.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::packed {

/// Where a call runs, and the kernel of its operation there.
struct place {
  execution on;
  const kernel* by;
};

/// The executor's backend, or for "auto" the one that is predicted to be fastest, and the strategy that it has of the
/// operation. Throws `unsupported` when it has none, and `invalid_argument` for device memory on the host's backends.
[[nodiscard]] place resolve(const executor& on, const packed_problem& problem);

}  // namespace zenith::packed

#pragma once

#include <cstddef>
#include <string>

#include <zenith/backend.hpp>

namespace unit {

/// What happened in the memory of the pretended device.
struct device_log {
  std::size_t live_allocations = 0;
  std::size_t live_bytes = 0;
  std::size_t allocations = 0;
  std::size_t copies = 0;
  std::size_t synchronisations = 0;
  std::string fault;  ///< the first wrong use of the memory; empty when there was none
};
[[nodiscard]] device_log& the_device_log();

/// An out-of-tree backend whose device memory is the host's, kept apart by its addresses: a kernel or a copy that takes
/// one kind of memory for the other is noticed. Registered on first use, as "pretend".
[[nodiscard]] const zenith::backend& pretend_device();

}  // namespace unit

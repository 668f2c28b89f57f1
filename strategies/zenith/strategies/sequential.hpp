#pragma once

#include <core/device/sequential.hpp>
#include <zenith/strategies/strategy.hpp>

namespace zenith::strategies {

/// One thread and the standard library, every word checked: for tests and debuggers, and the reference of the others.
class sequential {
 public:
  static constexpr std::string_view name = "sequential";
  static constexpr memory_space memory = memory_space::host;

  /// Throws what `body` throws, and std::logic_error for what a context forbids.
  template <class Kernels, class Body>
  void run(const Body& body) const {
    device::sequential_context on;
    body(on);
  }
};

}  // namespace zenith::strategies

#pragma once

/// \file
/// A family's strategies on the sequential context as a backend, so that a conformance suite can run on them.

#include <core/device/family.hpp>
#include <tests/device/listing_context.hpp>
#include <zenith/backend.hpp>

namespace zenith_test {

/// Takes no kernel that is missing from `Kernels`.
template <class Kernels>
struct sequentially {
  template <class Strategy>
  struct runner {
    static void run(const zenith::execution& /*where*/, const typename Strategy::call_type& call) {
      zenith::device_suite::listing_context<Kernels> on;
      Strategy::run(on, call);
    }
  };
};

template <class Kernels, class Strategies>
inline constexpr auto sequential_table =
    zenith::device::kernel_entries<sequentially<Kernels>::template runner>(Strategies{});

/// Named "sequential"; lives as long as the program.
template <class Kernels, class Strategies>
inline constinit const zenith::backend sequential_backend{.name = "sequential",
                                                          .description = "the sequential context",
                                                          .needs = "nothing",
                                                          .kernels = sequential_table<Kernels, Strategies>};

}  // namespace zenith_test

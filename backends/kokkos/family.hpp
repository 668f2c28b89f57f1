#pragma once

#include <zenith/backend.hpp>

namespace zenith::kokkos_backend {

/// Runs a strategy of a family here. Defined in the family's unit (family.cpp.in).
template <class Strategy>
struct runner {
  static void run(const execution& on, const typename Strategy::call_type& call);
};

}  // namespace zenith::kokkos_backend

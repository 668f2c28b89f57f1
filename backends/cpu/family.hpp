#pragma once

#include <zenith/backend.hpp>

namespace zenith::cpu_backend {

/// Runs a family's strategy in a context of this backend. Defined in the family's unit (family.cpp.in).
template <class Strategy>
struct runner {
  static void run(const execution& on, const typename Strategy::call_type& call);
};

}  // namespace zenith::cpu_backend

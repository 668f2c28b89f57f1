#pragma once

#include <zenith/backend.hpp>
#include <zenith/predicated_top_k_call.hpp>

namespace zenith::reference_backend {

void predicated_top_k(const execution& on, const predicated_top_k_call& call);

}  // namespace zenith::reference_backend

#pragma once

#include <zenith/backend.hpp>
#include <zenith/scored_top_k_call.hpp>

namespace zenith::reference_backend {

void scored_top_k(const execution& on, const scored_top_k_call& call);

}  // namespace zenith::reference_backend

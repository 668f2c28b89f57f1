#pragma once

#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::reference_backend {

/// Top-k as its definition says it: sort all, take k.
void top_k(const execution& on, const top_k_call& call);

}  // namespace zenith::reference_backend

#pragma once

#include <zenith/backend.hpp>
#include <zenith/spatial_join_call.hpp>

namespace zenith::reference_backend {

void spatial_join(const execution& on, const spatial_join_call& call);
void top_k_spatial_join(const execution& on, const top_k_spatial_join_call& call);

}  // namespace zenith::reference_backend

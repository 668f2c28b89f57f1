#pragma once

#include <zenith/backend.hpp>
#include <zenith/spatial_index_call.hpp>

namespace zenith::reference_backend {

void index_join(const execution& on, const index_join_call& call);
void top_k_range(const execution& on, const top_k_range_call& call);
void top_k_index_join(const execution& on, const top_k_index_join_call& call);

}  // namespace zenith::reference_backend

#pragma once

#include <zenith/backend.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::reference_backend {

/// Every row's score in the order of the input, and then top-k as its definition says it.
void threshold_table(const execution& on, const threshold_table_call& call);

}  // namespace zenith::reference_backend

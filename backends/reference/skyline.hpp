#pragma once

#include <zenith/backend.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith::reference_backend {

void skyline(const execution& on, const skyline_call& call);

}  // namespace zenith::reference_backend

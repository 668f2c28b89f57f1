#pragma once

#include <zenith/backend.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith::reference_backend {

void skyline(const execution& on, const skyline_call& call);
void skyband(const execution& on, const skyband_call& call);
void skyline_layers(const execution& on, const skyline_layers_call& call);

}  // namespace zenith::reference_backend

#pragma once

#include <string>

#include <zenith/backend.hpp>

namespace zenith::detail {

/// Settings with a target, checked against it: throws backend_unavailable when it is not usable here, and what its
/// `configure` throws.
[[nodiscard]] execution resolve(execution settings);

/// What ZENITH_FORCE_BACKEND asks "auto" to be; empty when it asks for nothing.
[[nodiscard]] std::string forced_backend();

}  // namespace zenith::detail

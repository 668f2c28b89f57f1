#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <zenith/top_k.hpp>

namespace zenith::top_k_detail {

/// `zenith::decide` among some devices, for one strategy or for "auto"; nothing when none of them can run it.
[[nodiscard]] std::optional<decision> try_decide(const top_k_problem& problem, std::span<const device_profile> among,
                                                 std::string_view asked);
/// The same; throws `unsupported` instead.
[[nodiscard]] decision decide(const top_k_problem& problem, std::span<const device_profile> among,
                              std::string_view asked);

}  // namespace zenith::top_k_detail

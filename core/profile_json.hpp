#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <zenith/machine.hpp>

/// \file
/// Profiles as JSON. The text comes from outside and is not trusted: any bytes give profiles or a `corrupt_data` error.

namespace zenith::detail {

/// The number of the format; a file with another number is refused.
inline constexpr int profile_format_version = 1;
/// The longest text that is looked at. A profile has a few kilobytes.
inline constexpr std::size_t profile_text_limit = std::size_t{4} << 20;

/// `source` names the text in errors: "the profile '/home/…/profile.json'".
[[nodiscard]] std::vector<device_profile> parse_profiles(std::string_view json, std::string_view source);
/// Throws invalid_argument for profiles that `parse_profiles` would refuse.
[[nodiscard]] std::string profiles_to_json(const std::vector<device_profile>& devices);

/// The first member that no profile can have, and why ("devices[0].levels is empty; …"); empty when all are sound.
[[nodiscard]] std::string fault_of(const std::vector<device_profile>& devices);

}  // namespace zenith::detail

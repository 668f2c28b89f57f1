#pragma once

#include <string>
#include <string_view>
#include <type_traits>

/// \file
/// What error messages say of a caller's values.

namespace zenith::detail {

/// A text from outside as a message shows it: its first 100 bytes, with "..." where there are more. A control
/// character of ASCII, which could change what a terminal shows, becomes \xNN.
[[nodiscard]] std::string shown(std::string_view text);

/// Throws `invalid_argument`: "`function`: `option` is 7, which is not one of the known ones".
[[noreturn]] void reject_unknown(std::string_view function, std::string_view option, int value);

/// Checks an option against the last of its enumeration, whose enumerators count from 0.
template <class Enum>
void require_known(std::string_view function, std::string_view option, Enum value, std::type_identity_t<Enum> last) {
  if (value > last) [[unlikely]]
    reject_unknown(function, option, static_cast<int>(value));
}

}  // namespace zenith::detail

#pragma once

#include <string_view>

#include <zenith/types.hpp>

namespace zenith_study {

/// The key type called `text`; "float" and "double" name what they name in C++. Throws `invalid_argument` that names
/// `what` when there is none.
[[nodiscard]] zenith::key_type parse_key_type(std::string_view what, std::string_view text);

}  // namespace zenith_study

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zenith_study {

/// The position of the column called `name`, which the user gave as `option`. Throws `invalid_argument` that lists the
/// columns there are and names the nearest one when there is none, or when there are two of that name.
[[nodiscard]] std::size_t find_column(const std::vector<std::string>& columns, std::string_view name,
                                      std::string_view option = "--column");

}  // namespace zenith_study

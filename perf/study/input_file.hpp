#pragma once

#include <string>

namespace zenith_study {

/// The bytes of the file that --input names. Throws `invalid_argument` for one that is not there or cannot be read, and
/// `corrupt_data` for an empty one.
[[nodiscard]] std::string read_input_file(const std::string& name);

}  // namespace zenith_study

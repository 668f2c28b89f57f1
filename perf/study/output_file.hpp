#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace zenith_study {

/// Makes the folder that --output names, before the work, so that one that cannot be made costs nothing; throws
/// `invalid_argument`.
[[nodiscard]] std::filesystem::path output_folder(const std::string& name);

/// Writes `text`; throws `invalid_argument` that names the file when it cannot.
void write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace zenith_study

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace zenith_study {

/// Where numbers and pictures go without --output: the folder in ZENITH_STUDY_OUTPUT, or "zenith-study". A default and
/// not an option's own variable: what is set there must not count as an --output beside an --input.
[[nodiscard]] std::string default_output();

/// Makes the folder that --output names, before the work, so that one that cannot be made costs nothing; throws
/// `invalid_argument`.
[[nodiscard]] std::filesystem::path output_folder(const std::string& name);

/// Writes `text`; throws `invalid_argument` that names the file when it cannot.
void write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace zenith_study

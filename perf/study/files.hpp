#pragma once

#include <filesystem>
#include <string>
#include <string_view>

/// \file
/// The files that the program reads and writes. What cannot be done throws `invalid_argument` that names the file.

namespace zenith_study {

/// The bytes of the file that `option` names. Throws `corrupt_data` for an empty one.
[[nodiscard]] std::string read_input_file(const std::string& name, std::string_view option = "--input");

/// Where tables of numbers and pictures go: the folder of ZENITH_STUDY_OUTPUT, or "zenith-study". A default and
/// not an option's own variable: what is set there must not count as an --output beside an --input.
[[nodiscard]] std::string default_output();
/// Makes the folder that --output names, before the work, so that one that cannot be made costs nothing.
[[nodiscard]] std::filesystem::path output_folder(const std::string& name);
/// Writes `text` and prints where: "`what`: FILE".
void write_file(std::string_view what, const std::filesystem::path& file, std::string_view text);

}  // namespace zenith_study

#include <perf/study/output_file.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <system_error>

#include <zenith/error.hpp>

namespace zenith_study {

std::string default_output() {
  const char* folder = std::getenv("ZENITH_STUDY_OUTPUT");
  return folder != nullptr && *folder != '\0' ? folder : "zenith-study";
}

std::filesystem::path output_folder(const std::string& name) {
  const std::filesystem::path folder = name;
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) {
    throw zenith::error(zenith::error_code::invalid_argument, fmt::format("--output is {}: {}", name, fault.message()));
  }
  return folder;
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    throw zenith::error(zenith::error_code::invalid_argument, fmt::format("cannot write {}", file.string()));
  }
}

}  // namespace zenith_study

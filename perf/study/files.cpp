#include <perf/study/files.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <vector>

#include <perf/study/exit_status.hpp>

namespace zenith_study {

std::string read_input_file(const std::string& name, std::string_view option) {
  std::error_code fault;
  const auto kind = std::filesystem::status(name, fault).type();
  if (kind == std::filesystem::file_type::not_found)
    reject(fmt::format("{} is '{}': there is no such file", option, name));
  if (kind == std::filesystem::file_type::directory) reject(fmt::format("{} is '{}', which is a folder", option, name));
  std::ifstream in(name, std::ios::binary);
  if (!in) reject(fmt::format("{} is '{}', which cannot be opened", option, name));
  std::string text;
  if (const auto size = std::filesystem::file_size(name, fault); !fault) text.reserve(size);
  std::vector<char> block(std::size_t{1} << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) reject(fmt::format("{} is '{}', which cannot be read", option, name));
  if (text.empty()) throw zenith::error(zenith::error_code::corrupt_data, fmt::format("{} is empty", name));
  return text;
}

std::string default_output() {
  const char* folder = std::getenv("ZENITH_STUDY_OUTPUT");
  return folder != nullptr && *folder != '\0' ? folder : "zenith-study";
}

std::filesystem::path output_folder(const std::string& name) {
  const std::filesystem::path folder = name;
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) reject(fmt::format("--output is {}: {}", name, fault.message()));
  return folder;
}

void write_file(std::string_view what, const std::filesystem::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) reject(fmt::format("cannot write {}", file.string()));
  fmt::print("{}: {}\n", what, file.string());
}

}  // namespace zenith_study

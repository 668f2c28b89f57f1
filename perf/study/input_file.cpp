#include <perf/study/input_file.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include <zenith/error.hpp>

namespace zenith_study {
namespace {

[[noreturn]] void reject(const std::string& why) { throw zenith::error(zenith::error_code::invalid_argument, why); }

}  // namespace

std::string read_input_file(const std::string& name) {
  std::error_code fault;
  const auto kind = std::filesystem::status(name, fault).type();
  if (kind == std::filesystem::file_type::not_found)
    reject(fmt::format("--input is '{}': there is no such file", name));
  if (kind == std::filesystem::file_type::directory) reject(fmt::format("--input is '{}', which is a folder", name));
  std::ifstream in(name, std::ios::binary);
  if (!in) reject(fmt::format("--input is '{}', which cannot be opened", name));
  std::string text;
  if (const auto size = std::filesystem::file_size(name, fault); !fault) text.reserve(size);
  std::vector<char> block(std::size_t{1} << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) reject(fmt::format("--input is '{}', which cannot be read", name));
  if (text.empty()) throw zenith::error(zenith::error_code::corrupt_data, fmt::format("{} is empty", name));
  return text;
}

}  // namespace zenith_study

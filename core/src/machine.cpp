#include <zenith/machine.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include <core/profile_json.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

std::string quoted(const std::filesystem::path& file) { return "'" + file.string() + "'"; }

std::string text_of(const std::filesystem::path& file) {
  std::error_code fault;
  const auto status = std::filesystem::status(file, fault);
  if (!std::filesystem::exists(status)) {
    throw error(error_code::invalid_argument, "machine::read: there is no file " + quoted(file));
  }
  std::ifstream in(file, std::ios::binary);
  if (std::filesystem::is_directory(status) || !in) {
    throw error(error_code::invalid_argument, "machine::read: " + quoted(file) + " is not a file that can be read");
  }
  // one byte past the limit is enough to be refused, however long the file is
  std::string text(detail::profile_text_limit + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw error(error_code::invalid_argument, "machine::read: reading " + quoted(file) + " failed");
  return text;
}

std::filesystem::path temporary_beside(const std::filesystem::path& file) {
  std::random_device random;
  auto name = file.filename();
  name += ".new-" + std::to_string(random()) + std::to_string(random());
  return file.parent_path() / name;
}

}  // namespace

bool device_profile::offers_kernel(std::string_view operation, std::string_view strategy) const {
  return std::ranges::any_of(offers, [&](std::string_view one) {
    return one.size() == operation.size() + 1 + strategy.size() && one.starts_with(operation) &&
           one[operation.size()] == '/' && one.ends_with(strategy);
  });
}

double device_profile::rate(std::string_view of, double otherwise) const {
  const auto found = rates.find(of);
  return found == rates.end() ? otherwise : found->second;
}

const memory_level& device_profile::level_for(std::uint64_t bytes) const {
  const auto holds = [&](const memory_level& one) { return one.bytes >= bytes; };
  const auto found = std::ranges::find_if(levels, holds);
  return found == levels.end() ? levels.back() : *found;
}

const device_profile* machine::find(std::string_view backend, int device) const noexcept {
  const auto found = std::ranges::find_if(
      devices_, [&](const device_profile& one) { return one.backend == backend && one.device == device; });
  return found == devices_.end() ? nullptr : &*found;
}

machine machine::parse(std::string_view json) { return machine{detail::parse_profiles(json, "the profile")}; }

machine machine::read(const std::filesystem::path& file) {
  return machine{detail::parse_profiles(text_of(file), "the profile " + quoted(file))};
}

std::string machine::to_json() const { return detail::profiles_to_json(devices_); }

void machine::write(const std::filesystem::path& file) const {
  const auto fail = [&](const std::string& why) {
    return error(error_code::invalid_argument, "machine::write: " + quoted(file) + " cannot be written: " + why);
  };
  if (!file.has_filename()) throw fail("it names no file");
  const auto text = to_json();
  std::error_code fault;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), fault);
  if (fault) throw fail(fault.message());
  const auto temporary = temporary_beside(file);
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) std::filesystem::rename(temporary, file, fault);
  if (out && !fault) return;
  const auto why = fault ? fault.message() : std::string{"the folder takes no new file, or the disk is full"};
  std::filesystem::remove(temporary, fault);
  throw fail(why);
}

std::filesystem::path machine::profile_path() {
  const auto setting = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path{value == nullptr ? "" : value};
  };
  if (auto given = setting("ZENITH_PROFILE"); !given.empty()) return given;
  // the rule of the XDG base directories: a relative path there is to be ignored
  if (const auto cache = setting("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "zenith" / "profile.json";
  if (const auto home = setting("HOME"); !home.empty()) return home / ".cache" / "zenith" / "profile.json";
  return {};
}

}  // namespace zenith

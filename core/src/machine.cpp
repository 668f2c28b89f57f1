#include <zenith/machine.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include <core/file.hpp>
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
  // one byte past the limit is enough to be refused, however long the file is
  if (auto text = detail::first_bytes(file, detail::profile_text_limit + 1)) return *std::move(text);
  throw error(error_code::invalid_argument, "machine::read: " + quoted(file) + " is not a file that can be read");
}

}  // namespace

// As the roofline takes a phase's part of the cores: a bandwidth is that of all together, and so are their own caches.
device_profile device_profile::with_threads(int threads) const {
  auto some = *this;
  if (kind != device_kind::cpu || threads < 1 || threads >= cores) return some;
  some.cores = threads;
  const double part = static_cast<double>(threads) / cores;
  // fewer cores at work slow each other less
  const double all_busy = rate("core.all_busy", 1);
  const double busy = 1 + (all_busy - 1) * (threads - 1) / (cores - 1);
  if (all_busy != 1) some.rates["core.all_busy"] = busy;
  // of what the cores share these reach more than their part, if it suffices
  const double alone = std::max(rate("core.shared_alone", 1), 1.0);
  if (alone != 1) some.rates["core.shared_alone"] = std::max(alone * part, 1.0);
  auto own_levels = static_cast<std::size_t>(rate("core.own_levels", 0));
  for (auto& level : some.levels) {
    double bandwidth = std::min(alone * part, 1.0);
    if (own_levels > 0) {
      level.bytes = static_cast<std::uint64_t>(static_cast<double>(level.bytes) * part);
      bandwidth = part * all_busy / busy;
      --own_levels;
    }
    level.read *= bandwidth;
    level.write *= bandwidth;
    level.copy *= bandwidth;
  }
  if (grain_bytes > 0) some.launch_overhead *= std::log2(threads) / std::log2(cores);
  return some;
}

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
  const auto text = to_json();
  std::error_code fault;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), fault);
  if (fault) {
    throw error(error_code::invalid_argument,
                "machine::write: " + quoted(file) + " cannot be written: " + fault.message());
  }
  const std::array parts{std::as_bytes(std::span{text})};
  detail::replace_file("machine::write:", file, parts);
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

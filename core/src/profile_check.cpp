#include <cmath>
#include <initializer_list>
#include <set>
#include <sstream>

#include <core/message.hpp>
#include <core/profile_json.hpp>

namespace zenith::detail {
namespace {

// Wide enough for any machine of the coming decades, narrow enough that no sum of a cost model overflows.
constexpr double most_bandwidth = 1e18;
constexpr double most_seconds = 1e6;
constexpr int most_cores = 1 << 24;
constexpr int most_simd_bytes = 1 << 16;
constexpr int most_ordinal = 1 << 16;
constexpr std::size_t most_levels = 32;
constexpr std::size_t most_names = 4096;
constexpr std::size_t longest_text = 1024;

std::string written(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string text_fault(std::string_view path, std::string_view text) {
  if (text.size() <= longest_text) return {};
  return std::string{path} + " has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(longest_text) +
         " are allowed";
}

std::string integer_fault(std::string_view path, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return std::string{path} + " is " + std::to_string(value) + "; it must be from " + std::to_string(least) + " to " +
         std::to_string(most);
}

std::string bandwidth_fault(std::string_view path, double value, bool may_be_zero) {
  if ((value > 0 || (may_be_zero && value == 0)) && value <= most_bandwidth) return {};
  return std::string{path} + " is " + written(value) + "; it must be a bandwidth in bytes per second, " +
         (may_be_zero ? "or 0 for none" : "above 0") + " and at most 1e18";
}

std::string time_fault(std::string_view path, double value) {
  if (value >= 0 && value <= most_seconds) return {};
  return std::string{path} + " is " + written(value) + "; it must be a time in seconds from 0 to 1e6";
}

std::string levels_fault(const std::string& path, const std::vector<memory_level>& levels) {
  if (levels.empty()) return path + " is empty; a device has at least one memory level";
  if (levels.size() > most_levels) return path + " has " + std::to_string(levels.size()) + " entries; at most 32";
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto& one = levels[i];
    const auto here = path + "[" + std::to_string(i) + "]";
    if (one.bytes <= before) {
      return here + ".bytes is " + std::to_string(one.bytes) + "; levels must grow, the fastest and smallest first";
    }
    before = one.bytes;
    for (const auto& fault :
         {text_fault(here + ".name", one.name), bandwidth_fault(here + ".read", one.read, false),
          bandwidth_fault(here + ".write", one.write, false), bandwidth_fault(here + ".copy", one.copy, false)}) {
      if (!fault.empty()) return fault;
    }
  }
  return {};
}

std::string names_fault(const std::string& path, const device_profile& of) {
  if (of.rates.size() > most_names) return path + ".rates has more than " + std::to_string(most_names) + " entries";
  for (const auto& [name, value] : of.rates) {
    if (name.empty()) return path + ".rates has an entry without a name";
    if (auto fault = text_fault(path + ".rates: a name", name); !fault.empty()) return fault;
    if (auto fault = time_fault(path + ".rates[\"" + shown(name) + "\"]", value); !fault.empty()) return fault;
  }
  if (of.offers.size() > most_names) return path + ".offers has more than " + std::to_string(most_names) + " entries";
  std::set<std::string_view> seen;
  for (const auto& one : of.offers) {
    if (one.size() > longest_text || one.find('/') == std::string::npos) {
      return path + ".offers has \"" + shown(one) + "\"; an entry must be \"operation/strategy\"";
    }
    if (!seen.insert(one).second) return path + ".offers lists \"" + shown(one) + "\" twice";
  }
  return {};
}

std::string device_fault(const std::string& path, const device_profile& of) {
  if (of.backend.empty()) return path + ".backend is empty";
  for (const auto& fault :
       {text_fault(path + ".backend", of.backend), integer_fault(path + ".device", of.device, 0, most_ordinal),
        text_fault(path + ".name", of.name), integer_fault(path + ".cores", of.cores, 1, most_cores),
        integer_fault(path + ".simd_bytes", of.simd_bytes, 0, most_simd_bytes),
        levels_fault(path + ".levels", of.levels), time_fault(path + ".launch_overhead", of.launch_overhead),
        bandwidth_fault(path + ".host_to_device", of.host_to_device, true),
        bandwidth_fault(path + ".device_to_host", of.device_to_host, true),
        time_fault(path + ".link_latency", of.link_latency), names_fault(path, of),
        text_fault(path + ".origin", of.origin), text_fault(path + ".date", of.date),
        text_fault(path + ".version", of.version)}) {
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace

std::string fault_of(const std::vector<device_profile>& devices) {
  if (devices.size() > most_names) return "devices has more than " + std::to_string(most_names) + " entries";
  std::set<std::pair<std::string_view, int>> seen;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto path = "devices[" + std::to_string(i) + "]";
    if (auto fault = device_fault(path, devices[i]); !fault.empty()) return fault;
    if (!seen.emplace(devices[i].backend, devices[i].device).second) {
      return path + " is device " + std::to_string(devices[i].device) + " of backend '" + shown(devices[i].backend) +
             "', which is listed already";
    }
  }
  return {};
}

}  // namespace zenith::detail

#include <core/profile_json.hpp>

#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using nlohmann::json;

constexpr std::string_view format_name = "zenith-profile";
// A profile nests four deep; what nests deeper is no profile, and would cost the parser memory for nothing.
constexpr int deepest = 8;

// What is wrong with the text, before the name of its source is put in front.
struct damage {
  std::string what;
};

[[noreturn]] void damaged(std::string what) { throw damage{std::move(what)}; }

// An object's members by name, with the path to it for errors.
class members {
 public:
  members(const json& of, std::string path) : of_(of), path_(std::move(path)) {
    if (!of.is_object()) damaged((path_.empty() ? "the text" : path_) + " is not an object");
  }

  [[nodiscard]] std::string path(std::string_view name) const {
    return path_.empty() ? std::string{name} : path_ + "." + std::string{name};
  }
  [[nodiscard]] const json& at(std::string_view name) const {
    const auto found = of_.find(name);
    if (found == of_.end()) damaged(path(name) + " is missing");
    return *found;
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    if (!at(name).is_string()) damaged(path(name) + " is not a string");
    return at(name).get<std::string>();
  }
  [[nodiscard]] double number(std::string_view name) const {
    if (!at(name).is_number()) damaged(path(name) + " is not a number");
    return at(name).get<double>();
  }
  [[nodiscard]] int integer(std::string_view name) const {
    const auto& value = at(name);
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<int>::max()) {
      return value.get<int>();
    }
    damaged(path(name) + " is not a whole number that fits");
  }
  [[nodiscard]] std::uint64_t bytes(std::string_view name) const {
    if (!at(name).is_number_unsigned()) damaged(path(name) + " is not a whole number of bytes");
    return at(name).get<std::uint64_t>();
  }
  [[nodiscard]] const json& list(std::string_view name) const {
    if (!at(name).is_array()) damaged(path(name) + " is not a list");
    return at(name);
  }

 private:
  const json& of_;
  std::string path_;
};

memory_level level_from(const json& value, const std::string& path) {
  const members in(value, path);
  return {in.text("name"), in.bytes("bytes"), in.number("read"), in.number("write"), in.number("copy")};
}

// Which of two words a member is.
bool is_first(const members& in, std::string_view name, std::string_view first, std::string_view second) {
  const auto text = in.text(name);
  if (text != first && text != second) {
    damaged(in.path(name) + " is neither \"" + std::string{first} + "\" nor \"" + std::string{second} + "\"");
  }
  return text == first;
}

device_profile device_from(const json& value, const std::string& path) {
  const members in(value, path);
  device_profile device;
  device.backend = in.text("backend");
  device.device = in.integer("device");
  device.name = in.text("name");
  device.kind = is_first(in, "kind", "cpu", "gpu") ? device_kind::cpu : device_kind::gpu;
  device.memory = is_first(in, "memory", "host", "device") ? memory_space::host : memory_space::device;
  device.cores = in.integer("cores");
  device.simd_bytes = in.integer("simd_bytes");
  device.grain_bytes = in.bytes("grain_bytes");
  for (const auto& level : in.list("levels")) {
    device.levels.push_back(level_from(level, in.path("levels") + "[" + std::to_string(device.levels.size()) + "]"));
  }
  device.launch_overhead = in.number("launch_overhead");
  device.host_to_device = in.number("host_to_device");
  device.device_to_host = in.number("device_to_host");
  device.link_latency = in.number("link_latency");
  const members rates(in.at("rates"), in.path("rates"));
  for (const auto& entry : in.at("rates").items()) device.rates.emplace(entry.key(), rates.number(entry.key()));
  for (const auto& one : in.list("offers")) {
    if (!one.is_string()) damaged(in.path("offers") + " holds something that is not a string");
    device.offers.push_back(one.get<std::string>());
  }
  device.origin = in.text("origin");
  device.date = in.text("date");
  device.version = in.text("version");
  return device;
}

// Refuses, while the text is read, what the parser would swallow: deep nesting and members that come twice.
class strict_events {
 public:
  bool operator()(int depth, json::parse_event_t event, const json& value) {
    switch (event) {
      case json::parse_event_t::object_start: keys_.emplace_back(); [[fallthrough]];
      case json::parse_event_t::array_start:
        if (depth >= deepest) damaged("it nests deeper than any profile");
        break;
      case json::parse_event_t::object_end: keys_.pop_back(); break;
      case json::parse_event_t::key:
        if (!keys_.back().insert(value.get<std::string>()).second) {
          damaged("an object has two members \"" + value.get<std::string>() + "\"");
        }
        break;
      default: break;
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

std::vector<device_profile> parse(std::string_view text) {
  if (text.size() > profile_text_limit) damaged("it is longer than " + std::to_string(profile_text_limit) + " bytes");
  strict_events events;
  const auto root = json::parse(text.begin(), text.end(), [&](int depth, json::parse_event_t event, const json& value) {
    return events(depth, event, value);
  });
  const members top(root, "");
  if (top.text("format") != format_name) damaged("format is not \"" + std::string{format_name} + "\"");
  if (const int version = top.integer("format_version"); version != profile_format_version) {
    damaged("format_version is " + std::to_string(version) + ", and this library reads " +
            std::to_string(profile_format_version));
  }
  std::vector<device_profile> devices;
  for (const auto& one : top.list("devices")) {
    devices.push_back(device_from(one, "devices[" + std::to_string(devices.size()) + "]"));
  }
  if (auto fault = fault_of(devices); !fault.empty()) damaged(std::move(fault));
  return devices;
}

json to_json(const memory_level& level) {
  return {
      {"name", level.name}, {"bytes", level.bytes}, {"read", level.read}, {"write", level.write}, {"copy", level.copy}};
}

json to_json(const device_profile& device) {
  json levels = json::array();
  for (const auto& level : device.levels) levels.push_back(to_json(level));
  return {{"backend", device.backend},
          {"device", device.device},
          {"name", device.name},
          {"kind", device.kind == device_kind::cpu ? "cpu" : "gpu"},
          {"memory", device.memory == memory_space::host ? "host" : "device"},
          {"cores", device.cores},
          {"simd_bytes", device.simd_bytes},
          {"grain_bytes", device.grain_bytes},
          {"levels", std::move(levels)},
          {"launch_overhead", device.launch_overhead},
          {"host_to_device", device.host_to_device},
          {"device_to_host", device.device_to_host},
          {"link_latency", device.link_latency},
          {"rates", device.rates.empty() ? json::object() : json(device.rates)},
          {"offers", device.offers},
          {"origin", device.origin},
          {"date", device.date},
          {"version", device.version}};
}

}  // namespace

std::vector<device_profile> parse_profiles(std::string_view text, std::string_view source) {
  const auto fail = [&](std::string_view what) {
    return error(error_code::corrupt_data, std::string{source} + " is damaged: " + std::string{what});
  };
  try {
    return parse(text);
  } catch (const damage& found) {
    throw fail(found.what);
  } catch (const json::exception& fault) {
    throw fail(fault.what());
  }
}

std::string profiles_to_json(const std::vector<device_profile>& devices) {
  if (const auto fault = fault_of(devices); !fault.empty()) {
    throw error(error_code::invalid_argument, "machine: a profile that cannot be written: " + fault);
  }
  json list = json::array();
  for (const auto& device : devices) list.push_back(to_json(device));
  const json root = {{"format", format_name}, {"format_version", profile_format_version}, {"devices", std::move(list)}};
  try {
    return root.dump(2) + "\n";
  } catch (const json::exception& fault) {
    throw error(error_code::invalid_argument,
                std::string{"machine: a profile that cannot be written: a name is not UTF-8: "} + fault.what());
  }
}

}  // namespace zenith::detail

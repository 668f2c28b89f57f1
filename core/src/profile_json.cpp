#include <core/profile_json.hpp>

#include <limits>
#include <stdexcept>

#include <core/json.hpp>
#include <core/message.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using kinds = json_value::kinds;

constexpr std::string_view format_name = "zenith-profile";
// A profile nests five deep and has a few hundred values; more would cost memory for nothing.
constexpr json_limits limits{.depth = 8, .values = 1U << 17};

// What is wrong with the text, before the name of its source is put in front.
[[noreturn]] void damaged(const std::string& what) { throw std::runtime_error(what); }

// An object's members by name, with the path to it for errors.
class members {
 public:
  members(const json_value& of, std::string path) : of_(of), path_(std::move(path)) {
    if (of.kind != kinds::object) damaged((path_.empty() ? "the text" : path_) + " must be an object: { ... }");
  }

  [[nodiscard]] std::string path(std::string_view name) const {
    return path_.empty() ? shown(name) : path_ + "." + shown(name);
  }
  [[nodiscard]] const json_value& at(std::string_view name) const {
    const auto* found = of_.find(name);
    if (found == nullptr) damaged(path(name) + " is missing");
    return *found;
  }
  [[nodiscard]] const std::string& text(std::string_view name) const {
    return of_kind(name, kinds::text, " must be a string").text;
  }
  [[nodiscard]] double number(std::string_view name) const {
    const auto& value = at(name);
    if (value.kind != kinds::number && value.kind != kinds::whole) damaged(path(name) + " must be a number");
    return value.number;
  }
  [[nodiscard]] int integer(std::string_view name) const {
    constexpr auto expected = " must be a whole number from 0 to 2147483647";
    static_assert(std::numeric_limits<int>::max() == 2147483647);
    const auto value = of_kind(name, kinds::whole, expected).whole;
    if (value > std::numeric_limits<int>::max()) damaged(path(name) + expected);
    return static_cast<int>(value);
  }
  [[nodiscard]] std::uint64_t bytes(std::string_view name) const {
    return of_kind(name, kinds::whole, " must be a whole number of bytes").whole;
  }
  [[nodiscard]] const std::vector<json_value>& list(std::string_view name) const {
    return of_kind(name, kinds::list, " must be a list: [ ... ]").values;
  }

 private:
  [[nodiscard]] const json_value& of_kind(std::string_view name, kinds kind, const char* otherwise) const {
    const auto& value = at(name);
    if (value.kind != kind) damaged(path(name) + otherwise);
    return value;
  }

  const json_value& of_;
  std::string path_;
};

memory_level level_from(const json_value& value, const std::string& path) {
  const members in(value, path);
  return {in.text("name"), in.bytes("bytes"), in.number("read"), in.number("write"), in.number("copy")};
}

// Which of two words a member is.
bool is_first(const members& in, std::string_view name, std::string_view first, std::string_view second) {
  const auto& text = in.text(name);
  if (text != first && text != second) {
    damaged(in.path(name) + " is \"" + shown(text) + "\"; it must be \"" + std::string{first} + "\" or \"" +
            std::string{second} + "\"");
  }
  return text == first;
}

device_profile device_from(const json_value& value, const std::string& path) {
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
  for (const auto& name : in.at("rates").names) device.rates.emplace(name, rates.number(name));
  for (const auto& one : in.list("offers")) {
    if (one.kind != kinds::text) {
      damaged(in.path("offers") + "[" + std::to_string(device.offers.size()) + "] must be a string");
    }
    device.offers.push_back(one.text);
  }
  device.origin = in.text("origin");
  device.date = in.text("date");
  device.version = in.text("version");
  return device;
}

std::vector<device_profile> parse(std::string_view text) {
  if (text.size() > profile_text_limit) damaged("it is longer than " + std::to_string(profile_text_limit) + " bytes");
  const auto root = parse_json(text, limits);
  const members top(root, "");
  if (top.text("format") != format_name) {
    damaged("format is \"" + shown(top.text("format")) + "\"; it must be \"" + std::string{format_name} + "\"");
  }
  if (const int version = top.integer("format_version"); version != profile_format_version) {
    damaged("format_version is " + std::to_string(version) + ", and this library reads " +
            std::to_string(profile_format_version));
  }
  std::vector<device_profile> devices;
  for (const auto& one : top.list("devices")) {
    devices.push_back(device_from(one, "devices[" + std::to_string(devices.size()) + "]"));
  }
  if (const auto fault = fault_of(devices); !fault.empty()) damaged(fault);
  return devices;
}

void write_level(json_writer& out, const memory_level& level) {
  out.open('{');
  out.name("bytes").value(level.bytes);
  out.name("copy").value(level.copy);
  out.name("name").value(level.name);
  out.name("read").value(level.read);
  out.name("write").value(level.write);
  out.close('}');
}

void write_device(json_writer& out, const device_profile& device) {
  out.open('{');
  out.name("backend").value(device.backend);
  out.name("cores").value(device.cores);
  out.name("date").value(device.date);
  out.name("device").value(device.device);
  out.name("device_to_host").value(device.device_to_host);
  out.name("grain_bytes").value(device.grain_bytes);
  out.name("host_to_device").value(device.host_to_device);
  out.name("kind").value(device.kind == device_kind::cpu ? "cpu" : "gpu");
  out.name("launch_overhead").value(device.launch_overhead);
  out.name("levels").open('[');
  for (const auto& level : device.levels) write_level(out, level);
  out.close(']');
  out.name("link_latency").value(device.link_latency);
  out.name("memory").value(device.memory == memory_space::host ? "host" : "device");
  out.name("name").value(device.name);
  out.name("offers").open('[');
  for (const auto& one : device.offers) out.value(one);
  out.close(']');
  out.name("origin").value(device.origin);
  out.name("rates").open('{');
  for (const auto& [name, rate] : device.rates) out.name(name).value(rate);
  out.close('}');
  out.name("simd_bytes").value(device.simd_bytes);
  out.name("version").value(device.version);
  out.close('}');
}

}  // namespace

std::vector<device_profile> parse_profiles(std::string_view text, std::string_view source) {
  try {
    return parse(text);
  } catch (const std::runtime_error& damage) {
    throw error(error_code::corrupt_data, std::string{source} + " is damaged: " + damage.what());
  }
}

std::string profiles_to_json(const std::vector<device_profile>& devices) {
  const auto refused = [](const std::string& why) {
    return error(error_code::invalid_argument, "machine: a profile that cannot be written: " + why);
  };
  if (const auto fault = fault_of(devices); !fault.empty()) throw refused(fault);
  try {
    json_writer out;
    out.open('{');
    out.name("devices").open('[');
    for (const auto& device : devices) write_device(out, device);
    out.close(']');
    out.name("format").value(format_name);
    out.name("format_version").value(profile_format_version);
    out.close('}');
    return out.take() + "\n";
  } catch (const std::runtime_error& fault) {
    throw refused(std::string{"a name is not UTF-8: "} + fault.what());
  }
}

}  // namespace zenith::detail

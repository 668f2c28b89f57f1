#include <zenith/executor.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <core/message.hpp>
#include <core/resolve.hpp>
#include <core/workers.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>

namespace zenith {
namespace {

std::string prefix_of(std::string_view spec) { return "make_executor(\"" + detail::shown(spec) + "\"): "; }

[[noreturn]] void fail(std::string_view spec, const std::string& why) {
  throw error(error_code::invalid_argument, prefix_of(spec) + why);
}

// What an error says, without its code and backend.
std::string message_of(const error& fault) {
  const error empty(fault.code(), {}, fault.backend());
  return std::string{fault.what()}.substr(std::string_view{empty.what()}.size());
}

int parse_number(std::string_view spec, std::string_view what, std::string_view text, int least) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < least) {
    fail(spec, std::string{what} + " is '" + detail::shown(text) + "'; it must be a number from " +
                   std::to_string(least) + " on");
  }
  return value;
}

void apply(std::string_view spec, std::string_view setting, const backend& on, execution& settings,
           std::vector<std::string_view>& given) {
  if (setting.empty()) fail(spec, "a setting is missing before or after a comma");
  const auto equals = setting.find('=');
  // a number alone is that of a device
  const bool has_name = setting.find_first_not_of("-0123456789") != std::string_view::npos;
  const auto key = has_name ? setting.substr(0, equals) : std::string_view{"device"};
  const auto value = equals == std::string_view::npos ? setting : setting.substr(equals + 1);
  if (std::ranges::find(on.options, key) == on.options.end()) {
    std::string takes;
    for (const auto option : on.options) takes += (takes.empty() ? "" : ", ") + std::string{option};
    fail(spec, "backend '" + std::string{on.name} + "' does not take '" + detail::shown(key) + "'" +
                   (takes.empty() ? "; it takes no settings" : "; it takes: " + takes));
  }
  if (has_name && equals == std::string_view::npos) {
    fail(spec, "'" + std::string{key} + "' has no value; it is written " + std::string{key} + "=value");
  }
  if (std::ranges::find(given, key) != given.end()) fail(spec, "'" + std::string{key} + "' is given twice");
  given.push_back(key);
  if (key == "device") {
    settings.device = parse_number(spec, key, value, 0);
  } else if (key == "threads") {
    settings.threads = parse_number(spec, key, value, 1);
  } else if (key == "isa") {
    if (value.empty()) fail(spec, "isa is ''; it must name an instruction set");
    settings.isa = value;
  } else {
    fail(spec, "backend '" + std::string{on.name} + "' names an option '" + std::string{key} + "' that has no meaning");
  }
}

}  // namespace

namespace detail {

execution resolve(execution settings) {
  const backend& on = *settings.target;
  if (on.available != nullptr) {
    if (const auto state = on.available(); !state.usable) {
      throw error(error_code::backend_unavailable, state.why_not + (state.remedy.empty() ? "" : "; " + state.remedy),
                  on.name);
    }
  }
  if (on.configure != nullptr) on.configure(settings);
  return settings;
}

std::string forced_backend() {
  const char* forced = std::getenv("ZENITH_FORCE_BACKEND");
  return forced == nullptr || std::string_view{forced} == "auto" ? std::string{} : std::string{forced};
}

}  // namespace detail

std::string_view executor::backend() const noexcept { return is_automatic() ? "auto" : settings_.target->name; }

void executor::synchronize() const {
  if (!is_automatic() && settings_.target->synchronize != nullptr) settings_.target->synchronize(settings_);
}

executor make_executor(std::string_view spec) {
  if (spec == "auto") {
    const auto forced = detail::forced_backend();
    return forced.empty() ? executor{} : make_executor(forced);
  }
  const auto colon = spec.find(':');
  const auto name = spec.substr(0, colon);
  if (name == "auto") fail(spec, "'auto' takes no settings");
  execution settings;
  settings.target = &find_backend(name);
  if (colon != std::string_view::npos) {
    auto rest = spec.substr(colon + 1);
    if (rest.empty()) fail(spec, "a setting must follow the colon");
    std::vector<std::string_view> given;
    while (true) {
      const auto comma = rest.find(',');
      apply(spec, rest.substr(0, comma), *settings.target, settings, given);
      if (comma == std::string_view::npos) break;
      rest = rest.substr(comma + 1);
    }
  }
  try {
    return executor{detail::resolve(std::move(settings))};
  } catch (const error& fault) {
    if (fault.code() != error_code::invalid_argument && fault.code() != error_code::unsupported) throw;
    throw error(fault.code(), prefix_of(spec) + message_of(fault), fault.backend(), fault.native_code());
  }
}

executor cpu(const cpu_options& options) {
  if (options.threads < 0) {
    throw error(error_code::invalid_argument,
                "cpu: options.threads is " + std::to_string(options.threads) + "; it must be 0 (all) to " +
                    std::to_string(detail::most_threads),
                "cpu");
  }
  execution settings;
  settings.target = &find_backend("cpu");
  settings.threads = options.threads;
  settings.isa = options.isa;
  settings.memory = options.memory;
  return executor{detail::resolve(std::move(settings))};
}

executor reference() { return make_executor("reference"); }

executor kokkos() { return make_executor("kokkos"); }

executor cuda(int device, CUstream_st* stream, cuda_memory_resource* memory) {
  if (device < 0) {
    throw error(error_code::invalid_argument,
                "cuda: device is " + std::to_string(device) + "; it must be a device number from 0 on", "cuda");
  }
  execution settings;
  settings.target = &find_backend("cuda");
  settings.device = device;
  settings.stream = stream;
  settings.memory = memory;
  return executor{detail::resolve(std::move(settings))};
}

}  // namespace zenith

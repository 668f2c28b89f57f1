#include <zenith/error.hpp>

namespace zenith {
namespace {

std::string compose(error_code code, std::string_view message, std::string_view backend) {
  std::string text{"zenith: "};
  text += to_string(code);
  if (!backend.empty()) {
    text += " (";
    text += backend;
    text += ")";
  }
  text += ": ";
  text += message;
  return text;
}

}  // namespace

std::string_view to_string(error_code code) noexcept {
  switch (code) {
    case error_code::invalid_argument: return "invalid_argument";
    case error_code::unsupported: return "unsupported";
    case error_code::backend_unavailable: return "backend_unavailable";
    case error_code::out_of_memory: return "out_of_memory";
    case error_code::corrupt_data: return "corrupt_data";
    case error_code::device_failure: return "device_failure";
  }
  return "unknown";
}

error::error(error_code code, std::string_view message, std::string_view backend, int native_code,
             source_location where)
    : std::runtime_error(compose(code, message, backend)),
      backend_(backend),
      where_(where),
      native_code_(native_code),
      code_(code) {}

}  // namespace zenith

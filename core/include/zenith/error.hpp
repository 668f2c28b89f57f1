#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zenith {

/// What kind of fault an `error` reports.
enum class error_code : std::uint8_t {
  invalid_argument,     ///< the call is wrong: `what()` names the argument and what would be right
  unsupported,          ///< the call is right, but this backend, strategy or build does not offer it
  backend_unavailable,  ///< the backend is unknown, not built, or has no usable device here
  out_of_memory,        ///< the executor's memory resource could not serve the request
  corrupt_data,         ///< bytes from outside (a file, a profile) are damaged
  device_failure,       ///< the device or its driver reported a fault; `native_code()` holds its number
};

/// The name of `code` as it is spelled in the enumeration.
[[nodiscard]] std::string_view to_string(error_code code) noexcept;

/// The one exception type of the library. Arguments are checked before any work starts; when a call throws, its outputs
/// are untouched and nothing is leaked.
class error : public std::runtime_error {
 public:
  /// `message` says what was wrong with which argument and what would be right.
  error(error_code code, std::string_view message, std::string_view backend = {}, int native_code = 0,
        std::source_location where = std::source_location::current());

  [[nodiscard]] error_code code() const noexcept { return code_; }
  /// The backend that reported the fault; empty when the fault was found before any backend was chosen.
  [[nodiscard]] const std::string& backend() const noexcept { return backend_; }
  /// The device library's own error number, 0 when there is none.
  [[nodiscard]] int native_code() const noexcept { return native_code_; }
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

 private:
  std::string backend_;
  std::source_location where_;
  int native_code_;
  error_code code_;
};

}  // namespace zenith

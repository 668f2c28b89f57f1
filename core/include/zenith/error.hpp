#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zenith {

/// What kind of fault an `error` reports.
enum class error_code : std::uint8_t {
  invalid_argument,     ///< the call is wrong: `what()` names the argument and what would be right
  unsupported,          ///< the call is right, but this backend, strategy or build does not offer it
  backend_unavailable,  ///< the backend is unknown, not built, or has no usable device here
  out_of_memory,        ///< there is no memory for the request, on the host or on the device
  corrupt_data,         ///< bytes from outside (a file, a profile) are damaged
  device_failure,       ///< the device or its driver reported a fault; `native_code()` holds its number
};

/// The name of `code` as it is spelled in the enumeration.
[[nodiscard]] std::string_view to_string(error_code code) noexcept;

/// Where in a program's text. Made like `std::source_location`, of plain values: clang 14 has not got that class, and
/// an error must mean the same to a program and a library that were compiled by different compilers.
class source_location {
 public:
  [[nodiscard]] static constexpr source_location current(const char* file = __builtin_FILE(),
                                                         const char* function = __builtin_FUNCTION(),
                                                         int line = __builtin_LINE()) noexcept {
    return {file, function, static_cast<std::uint_least32_t>(line)};
  }

  [[nodiscard]] constexpr const char* file_name() const noexcept { return file_; }
  [[nodiscard]] constexpr const char* function_name() const noexcept { return function_; }
  [[nodiscard]] constexpr std::uint_least32_t line() const noexcept { return line_; }

 private:
  constexpr source_location(const char* file, const char* function, std::uint_least32_t line) noexcept
      : file_(file), function_(function), line_(line) {}

  const char* file_;
  const char* function_;
  std::uint_least32_t line_;
};

/// The library's exception type. Arguments are checked before any work starts; when a call throws, nothing is leaked
/// and its outputs are untouched, unless the call's comment says otherwise. Two things pass through a call as they are:
/// what the caller's own function or memory resource throws, and `std::bad_alloc` where there is no memory for some
/// small thing of the call's own.
class error : public std::runtime_error {
 public:
  /// `message` says what was wrong with which argument and what would be right.
  error(error_code code, std::string_view message, std::string_view backend = {}, int native_code = 0,
        source_location where = source_location::current());

  [[nodiscard]] error_code code() const noexcept { return code_; }
  /// The backend that reported the fault; empty when the fault was found before any backend was chosen.
  [[nodiscard]] const std::string& backend() const noexcept { return backend_; }
  /// The device library's own error number, 0 when there is none.
  [[nodiscard]] int native_code() const noexcept { return native_code_; }
  [[nodiscard]] const source_location& where() const noexcept { return where_; }

 private:
  std::string backend_;
  source_location where_;
  int native_code_;
  error_code code_;
};

}  // namespace zenith

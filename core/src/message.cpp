#include <core/message.hpp>

#include <cstddef>

#include <zenith/error.hpp>

namespace zenith::detail {

std::string shown(std::string_view text) {
  constexpr std::size_t most = 100;
  constexpr unsigned char first_printable = 0x20;
  constexpr unsigned char last_control = 0x7f;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  auto size = text.size();
  if (size > most) {
    size = most;
    // not in the middle of a character of UTF-8
    while (size > most - 3 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  }
  for (const char one : text.substr(0, size)) {
    const auto byte = static_cast<unsigned char>(one);
    if (byte >= first_printable && byte != last_control) {
      made += one;
    } else {
      made += "\\x";
      made += digits[byte >> 4U];
      made += digits[byte & 0xfU];
    }
  }
  if (size < text.size()) made += "...";
  return made;
}

void reject_unknown(std::string_view function, std::string_view option, int value) {
  throw error(error_code::invalid_argument, std::string{function} + ": " + std::string{option} + " is " +
                                                std::to_string(value) + ", which is not one of the known ones");
}

}  // namespace zenith::detail

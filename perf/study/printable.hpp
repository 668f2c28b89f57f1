#pragma once

#include <string>
#include <string_view>

namespace zenith_study {

/// Text from a file as a terminal may show it: control characters, which could move the cursor, become spaces.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string shown{text};
  for (auto& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return shown;
}

}  // namespace zenith_study

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <zenith/error.hpp>

namespace zenith::detail {

/// Bytes from outside that should be what `source` says. What is wrong with them is corrupt_data: "source: it ...".
class untrusted_bytes {
 public:
  untrusted_bytes(std::span<const std::byte> bytes, std::string source) : bytes_(bytes), source_(std::move(source)) {}

  [[nodiscard]] std::span<const std::byte> all() const { return bytes_; }
  [[nodiscard]] const std::string& source() const { return source_; }

  [[noreturn]] void corrupt(const std::string& why) const {
    throw error(error_code::corrupt_data, source_ + ": " + why);
  }
  void require(bool holds, const char* why) const {
    if (!holds) corrupt(why);
  }

  /// The header in front of all; it begins with its magic and has a version.
  template <class Header>
  [[nodiscard]] Header header(const char* magic, std::uint16_t version) const {
    Header found;
    if (bytes_.size() < sizeof found) {
      corrupt("it has " + std::to_string(bytes_.size()) + " bytes, less than a header");
    }
    std::memcpy(&found, bytes_.data(), sizeof found);
    if (std::memcmp(found.magic, magic, sizeof found.magic) != 0) {
      corrupt("it does not begin with \"" + std::string(magic, sizeof found.magic) + '"');
    }
    if (found.version != version) {
      corrupt("it is of version " + std::to_string(found.version) + "; this library reads version " +
              std::to_string(version));
    }
    return found;
  }

  /// `bytes` is what the header says of all of them.
  void require_size(std::uint64_t bytes) const {
    if (bytes == bytes_.size()) return;
    corrupt("it is " + std::to_string(bytes) + " bytes by its header, but " + std::to_string(bytes_.size()) +
            " are given");
  }

 private:
  std::span<const std::byte> bytes_;
  std::string source_;
};

}  // namespace zenith::detail

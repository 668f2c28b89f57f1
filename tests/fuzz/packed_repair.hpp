#pragma once

/// \file
/// Puts mutated bytes of a packed column right, as far as asked.

#include <cstddef>
#include <span>
#include <vector>

namespace zenith_fuzz {

enum class repair {
  nothing,
  header,     // its fixed fields, the sizes, the checksum
  structure,  // and the starts, offsets and counts that follow from widths, codes and ends
};

[[nodiscard]] std::vector<std::byte> repaired(std::span<const std::byte> bytes, repair how);

}  // namespace zenith_fuzz

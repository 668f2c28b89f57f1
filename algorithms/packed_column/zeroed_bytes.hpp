#pragma once

#include <cstdint>

#include <zenith/packed_column.hpp>

namespace zenith::detail {

/// `bytes` zeros at a multiple of 64. Throws out_of_memory. Large ones come from the system, which zeros pages when
/// they are first touched, by whichever thread that is, and are asked for as huge pages: a pass over fresh 4 KB pages
/// is a fault every 4 KB.
[[nodiscard]] packed_bytes zeroed_bytes(std::uint64_t bytes);

}  // namespace zenith::detail

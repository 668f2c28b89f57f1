#pragma once

#include <cstddef>
#include <cstdint>

#include <zenith/packed_column.hpp>

namespace zenith::detail {

/// `bytes` bytes of any content at a multiple of 64. Throws out_of_memory. Large ones come from the system, which
/// clears pages when they are first touched, by whichever thread that is, and are asked for as huge pages: a pass over
/// fresh 4 KB pages is a fault every 4 KB.
[[nodiscard]] packed_bytes column_memory(std::uint64_t bytes);

/// Memory for a column that may take anything up to `most` bytes, or none where that would cost more than address
/// space.
[[nodiscard]] packed_bytes address_space(std::uint64_t most) noexcept;

/// Has the system clear the fresh pages of [from, from + bytes) now, as far as it offers that. Changes no content.
void touch(std::byte* from, std::uint64_t bytes) noexcept;

}  // namespace zenith::detail

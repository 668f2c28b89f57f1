#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace zenith::packed {

struct mapped_file {
  std::shared_ptr<const std::byte> data;  ///< nullptr for an empty file
  std::size_t size = 0;
};

/// Maps a regular file read-only; throws `invalid_argument`, naming it, when that cannot be.
[[nodiscard]] mapped_file map_file(const std::filesystem::path& file);

/// Writes `parts` one after another to a new file beside `file`, makes sure of them, and puts it in the place of
/// `file`. Throws `invalid_argument`, naming the file, and leaves nothing behind.
void replace_file(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts);

}  // namespace zenith::packed

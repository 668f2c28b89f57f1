#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zenith::detail {

struct mapped_file {
  std::shared_ptr<const std::byte> data;  ///< nullptr for an empty file
  std::size_t size = 0;
};

/// Maps a regular file read-only; throws `invalid_argument` when that cannot be: "`what` 'file' cannot be read: ...".
[[nodiscard]] mapped_file map_file(std::string_view what, const std::filesystem::path& file);

/// The first bytes of a file, `most` at most; nothing where it cannot be opened or read, or is a folder. Throws
/// `std::bad_alloc` where there is no memory for them: a stream of the standard library takes that for the file's end.
[[nodiscard]] std::optional<std::string> first_bytes(const std::filesystem::path& file, std::size_t most);

/// Writes `parts` one after another to a new file beside `file`, makes sure of them, and puts it in the place of
/// `file`, or of what symbolic links lead to, with the permissions of what it replaces. Only a regular file is
/// replaced. Throws `invalid_argument`, "`what` 'file' cannot be written: ...", and leaves nothing behind.
void replace_file(std::string_view what, const std::filesystem::path& file,
                  std::span<const std::span<const std::byte>> parts);

}  // namespace zenith::detail

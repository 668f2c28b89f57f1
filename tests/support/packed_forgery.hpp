#pragma once

/// \file
/// Bytes of packed columns that no encoder writes, under a checksum that is right.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <zenith/packed_column.hpp>

namespace zenith_test {

/// FORMAT.md's checksum, written once more from the page and not from the library's code.
[[nodiscard]] std::uint64_t checksum_by_the_page(std::span<const std::byte> column);

/// Writes the checksum of a whole column into its header.
void reseal(std::span<std::byte> column);

/// The bytes of a column of frame_of_reference or delta, over other references: `reference_of(block)` is the bits of
/// the new one, or none where the old one stays.
template <class T, class Function>
[[nodiscard]] std::vector<std::byte> over_other_references(const zenith::packed_view<T>& column,
                                                           Function&& reference_of) {
  using U = std::make_unsigned_t<T>;
  constexpr std::size_t references_at = 8;  // in a group's record
  std::vector<std::byte> bytes(column.bytes().begin(), column.bytes().end());
  for (std::uint64_t block = 0; block < column.layout().blocks(); ++block) {
    const std::optional<U> reference = reference_of(block);
    if (!reference) continue;
    std::byte* record =
        bytes.data() + column.layout().groups_at + block / zenith::packed_group_blocks * zenith::packed::group_bytes<U>;
    std::memcpy(record + references_at + block % zenith::packed_group_blocks * sizeof(U), &*reference, sizeof(U));
  }
  reseal(bytes);
  return bytes;
}

}  // namespace zenith_test

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <algorithms/packed_column/encode.hpp>
#include <zenith/packed_call.hpp>
#include <zenith/packed_layout.hpp>

namespace zenith::packed {

/// What the header says of a column's size; every section follows from it.
struct dimensions {
  key_type type = key_type::int32;
  encoding kind = encoding::plain;
  std::uint64_t count = 0;
  std::uint64_t payload = 0;
  std::uint64_t patches = 0;
  std::uint32_t parameter = 0;
};

/// Where everything stands; none when the sizes are more than 64 bits can say. `bytes` is left nullptr.
[[nodiscard]] std::optional<packed_layout> lay_out(const dimensions& of);

/// What `one_width` of a column is whose bytes are all there and hold together. Stops at the first other width.
[[nodiscard]] std::uint8_t find_one_width(const packed_layout& of);

/// The dimensions of a column whose groups take `total` together, in `kind`, or for `automatic` in the encoding with
/// the fewest bytes. Throws out_of_memory when there are too many.
[[nodiscard]] dimensions choose(key_type type, std::uint64_t count, encoding kind, bool patches, std::uint32_t lanes,
                                const group_sizes& total);

/// FORMAT.md's checksum of a whole column: a multiple of 64 bytes, the field itself taken as 0.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> column);

/// Adds rows [first, first + rows) to a digest: of each lane the sum of its words, and the sum of what that is after
/// each row.
void add_rows(packed_digest& to, std::uint64_t first, std::uint64_t rows, const std::uint64_t (&sum)[8],
              const std::uint64_t (&weighted)[8]);
/// Adds bytes [begin, end) of a column, as if all others were 0.
void add_bytes(packed_digest& to, const std::byte* column, std::uint64_t begin, std::uint64_t end);
/// The checksum of a column of `rows` rows, all of which were added.
[[nodiscard]] ZENITH_FN std::uint64_t finish(const packed_digest& all, std::uint64_t rows) {
  std::uint64_t digest = 0x9e3779b97f4a7c15ULL;
  for (unsigned i = 0; i < 8; ++i) {
    digest = (digest ^ all.sum[i]) * 0xff51afd7ed558ccdULL;
    digest = digest << 31 | digest >> 33;
    digest = (digest ^ (all.weighted[i] + all.sum[i] * rows)) * 0xc4ceb9fe1a85ec53ULL;
    digest = digest << 29 | digest >> 35;
  }
  return digest ^ digest >> 32;
}

/// The header of a column laid out as `of`; the checksum is 0.
[[nodiscard]] packed_header header_of(const packed_layout& of);

/// Bytes [begin[i], end[i]) of a column, which no section covers: behind each of them, but for the header.
struct padding {
  std::uint64_t begin[6];
  std::uint64_t end[6];
  unsigned count = 0;
};
[[nodiscard]] padding padding_of(const packed_layout& of);
/// Clears them.
void clear_padding(const packed_layout& of, std::byte* column);

}  // namespace zenith::packed

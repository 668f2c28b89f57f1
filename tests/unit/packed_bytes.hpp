#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <algorithms/packed_column/layout.hpp>
#include <zenith/packed_column.hpp>

/// \file
/// Packed bytes as somebody with bad intentions would write them.

namespace unit {

using bytes = std::vector<std::byte>;

template <class Word>
[[nodiscard]] Word read(const bytes& from, std::size_t at) {
  Word word;
  std::memcpy(&word, from.data() + at, sizeof word);
  return word;
}
template <class Word>
void write(bytes& to, std::size_t at, Word word) {
  std::memcpy(to.data() + at, &word, sizeof word);
}

[[nodiscard]] inline zenith::packed_header header_of(const bytes& of) { return read<zenith::packed_header>(of, 0); }

/// Makes the checksum right, and the header's own size.
inline void seal(bytes& column) {
  write(column, offsetof(zenith::packed_header, bytes), std::uint64_t{column.size()});
  write(column, offsetof(zenith::packed_header, checksum), zenith::packed::checksum(column));
}

/// A column of nothing but this header and zeros.
[[nodiscard]] inline bytes forge(const zenith::packed_header& header, std::size_t size) {
  bytes column(size);
  write(column, 0, header);
  seal(column);
  return column;
}

}  // namespace unit

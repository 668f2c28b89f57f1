#pragma once

/// \file
/// The bytes of a threshold table outside of the process: see FORMAT.md.

#include <cstddef>
#include <cstdint>

#include <algorithms/packed_column/layout.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::detail {

/// The first 64 bytes; the table as it lies in memory follows.
struct table_file_header {
  char magic[4];
  std::uint16_t version;
  std::uint8_t type;
  std::uint8_t zero_a;
  std::uint64_t rows;
  std::uint64_t bytes;
  std::uint64_t checksum;
  std::uint64_t id_limit;
  std::uint32_t blocks;
  std::uint32_t partitions;
  std::uint32_t columns;
  std::uint32_t block_rows;
  std::uint64_t zero_b;
};
static_assert(sizeof(table_file_header) == 64);
static_assert(offsetof(table_file_header, checksum) == offsetof(packed_header, checksum));

inline constexpr char table_file_magic[] = {'Z', 'T', 'T', 'B'};
inline constexpr std::uint16_t table_file_version = 1;

}  // namespace zenith::detail

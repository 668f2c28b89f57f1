#include <bit>
#include <cstring>
#include <string>

#include <algorithms/threshold_table/src/file.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <core/file.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {

void save_table(const table_storage* of, const std::filesystem::path& file) {
  const auto reject = [&](const char* why, error_code code) {
    throw error(code, "threshold table '" + file.string() + "': " + why);
  };
  if (of == nullptr) reject("it has no columns; build it, if only of no rows", error_code::invalid_argument);
  if (std::endian::native != std::endian::little) {
    reject("its bytes are little-endian, and this machine's are not", error_code::unsupported);
  }
  const auto& layout = of->layout;
  table_file_header header{};
  std::memcpy(header.magic, table_file_magic, sizeof header.magic);
  header.version = table_file_version;
  header.type = static_cast<std::uint8_t>(layout.type);
  header.rows = layout.rows;
  header.bytes = sizeof header + layout.bytes;
  header.id_limit = layout.id_limit;
  header.blocks = static_cast<std::uint32_t>(layout.of_blocks.count);
  header.partitions = static_cast<std::uint32_t>(layout.partitions);
  header.columns = layout.columns;
  header.block_rows = layout.block_rows;

  const auto head = std::as_bytes(std::span(&header, 1));
  packed_digest all;
  packed::add_bytes(all, head.data(), 0, sizeof header);
  packed_digest body;
  const auto bytes = bytes_of(*of);
  packed::add_bytes(body, bytes.data(), 0, layout.bytes);
  for (std::size_t lane = 0; lane < std::size(all.sum); ++lane) {
    all.sum[lane] += body.sum[lane];
    all.weighted[lane] += body.weighted[lane] - body.sum[lane];  // they stand one row behind
  }
  header.checksum = packed::finish(all, header.bytes / sizeof header);
  const std::span<const std::byte> parts[] = {head, bytes};
  replace_file("threshold table", file, parts);
}

}  // namespace zenith::detail

// Tables of packed columns: any bytes give a table whose columns can be decoded, or corrupt_data. The first byte says
// whether the head's size and checksum are put right before, and the headers of the columns where the directory has
// them.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <algorithms/packed_column/layout.hpp>
#include <core/built_backends.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_table.hpp>

namespace {

template <class Word>
Word read(const std::vector<std::byte>& from, std::size_t at) {
  Word word;
  std::memcpy(&word, from.data() + at, sizeof word);
  return word;
}
template <class Word>
void write(std::vector<std::byte>& to, std::size_t at, Word word) {
  std::memcpy(to.data() + at, &word, sizeof word);
}

void repair(std::vector<std::byte>& table, bool columns_too) {
  if (table.size() < 64) return;
  std::memcpy(table.data(), "ZPTB\1\0\0\0", 8);
  write(table, 16, std::uint64_t{table.size()});
  const auto columns = read<std::uint64_t>(table, 8);
  const auto names = read<std::uint64_t>(table, 32);
  if (columns > table.size() / 16 || names > table.size()) return;
  const std::size_t head = (64 + columns * 16 + names + 63) / 64 * 64;
  if (head > table.size()) return;
  for (std::size_t i = 0, at = head; columns_too && i < columns; ++i) {
    const auto bytes = read<std::uint64_t>(table, 64 + i * 16);
    if (bytes > table.size() - at || bytes < 64 || bytes % 64 != 0) break;
    write(table, at + offsetof(zenith::packed_header, bytes), bytes);
    const auto checksum = zenith::packed::checksum(std::span(table).subspan(at, bytes));
    write(table, at + offsetof(zenith::packed_header, checksum), checksum);
    at += bytes;
  }
  write(table, 24, zenith::packed::checksum(std::span(table).first(head)));
}

template <class T>
void decode(const zenith::packed_view<T>& column) {
  std::vector<zenith::detail::packed_word<T>> out(zenith::packed_block_items);
  const auto blocks = column.layout().blocks();
  for (std::uint64_t block = 0; block < blocks; block += 1 + blocks / 8) {
    (void)zenith::packed::unpack_block(column.layout(), block, out.data());
  }
  if (!column.empty()) (void)column.get(column.size() - 1);
}

void use(const zenith::packed_table& table) {
  const auto names = table.names();
  if (names.size() != table.size()) std::abort();
  for (const auto& name : names) {
    if (name.empty() || !table.contains(name)) std::abort();
    switch (table.type(name)) {
      case zenith::key_type::int32: decode(table.column<std::int32_t>(name)); break;
      case zenith::key_type::uint32: decode(table.column<std::uint32_t>(name)); break;
      case zenith::key_type::int64: decode(table.column<std::int64_t>(name)); break;
      case zenith::key_type::uint64: decode(table.column<std::uint64_t>(name)); break;
      default: std::abort();
    }
  }
}

}  // namespace

std::span<const zenith::backend* const> zenith::detail::built_backends() noexcept { return {}; }
std::span<const zenith::detail::absent_backend> zenith::detail::absent_backends() noexcept { return {}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto given = std::as_bytes(std::span(data, size)).subspan(1);
  std::vector<std::byte> table(given.begin(), given.end());
  if (data[0] % 3 != 0) repair(table, data[0] % 3 == 2);
  // a copy of its own size, so that a read past the end is seen
  const std::vector<std::byte> bytes(table);
  try {
    use(zenith::packed_table::parse(bytes));
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data) std::abort();
  }
  return 0;
}

#include <packed_forgery.hpp>

#include <bit>

namespace zenith_test {
namespace {

std::uint64_t word_at(std::span<const std::byte> column, std::size_t word) {
  std::uint64_t bits = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    bits |= std::to_integer<std::uint64_t>(column[word * 8 + byte]) << (8 * byte);
  }
  return bits;
}

}  // namespace

std::uint64_t checksum_by_the_page(std::span<const std::byte> column) {
  std::uint64_t d = 0x9e3779b97f4a7c15;
  for (std::size_t lane = 0; lane < 8; ++lane) {
    std::uint64_t s = 0;
    std::uint64_t t = 0;
    for (std::size_t word = lane; word < column.size() / 8; word += 8) {
      if (word != 3) s += word_at(column, word);
      t += s;
    }
    d = std::rotl((d ^ s) * 0xff51afd7ed558ccd, 31);
    d = std::rotl((d ^ t) * 0xc4ceb9fe1a85ec53, 29);
  }
  return d ^ d >> 32;
}

void reseal(std::span<std::byte> column) {
  const std::uint64_t checksum = checksum_by_the_page(column);
  std::memcpy(column.data() + offsetof(zenith::packed_header, checksum), &checksum, sizeof checksum);
}

}  // namespace zenith_test

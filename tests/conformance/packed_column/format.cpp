#include <format.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <packed_forgery.hpp>
#include <zenith/packed_column.hpp>

namespace conformance::packed {
namespace {

// Marks the bits of a column that somebody reads.
class used_bits {
 public:
  explicit used_bits(std::size_t bytes) : used_(bytes) {}

  void add_bytes(std::uint64_t at, std::uint64_t count) {
    std::fill_n(used_.begin() + static_cast<std::ptrdiff_t>(at), count, 0xff);
  }
  void add_bits(std::uint64_t bit, unsigned count) {
    for (; count > 0; --count, ++bit) used_[bit / 8] = static_cast<unsigned char>(used_[bit / 8] | 1U << (bit % 8));
  }
  [[nodiscard]] std::byte free_bits(std::size_t byte) const { return ~std::byte{used_[byte]}; }

 private:
  std::vector<unsigned char> used_;
};

template <class U>
void add_payload(used_bits& used, const zenith::packed_layout& in) {
  using namespace zenith;
  const std::uint64_t first_bit = in.payload_at * 8;
  if (in.kind == encoding::vertical) {
    const std::uint64_t span = packed_miniblock_items * in.parameter;
    for (std::uint64_t i = 0; i < in.count; ++i) {
      const auto place = zenith::packed::place_of<U>(in, i / span * (span / packed_block_items));
      const std::uint64_t lane = i % span % in.parameter;
      const std::uint64_t row_bit = i % span / in.parameter * place.width[0];
      for (unsigned b = 0; b < place.width[0]; ++b) {
        const std::uint64_t word = place.word + (row_bit + b) / 32 * in.parameter + lane;
        used.add_bits(first_bit + word * 32 + (row_bit + b) % 32, 1);
      }
    }
    return;
  }
  for (std::uint64_t block = 0; block < in.blocks(); ++block) {
    const auto place = zenith::packed::place_of<U>(in, block);
    std::uint64_t word = place.word;
    for (unsigned i = 0; i < in.items_of(block); ++i) {
      const unsigned width = place.width[i / packed_miniblock_items];
      used.add_bits(first_bit + word * 32 + std::uint64_t{i % packed_miniblock_items} * width, width);
      if (i % packed_miniblock_items == packed_miniblock_items - 1) word += width;
    }
  }
}

template <class U>
void scribble_words(std::span<std::byte> column, const zenith::packed_layout& in, random_source& random) {
  using zenith::encoding;
  used_bits used(column.size());
  used.add_bytes(0, sizeof(zenith::packed_header));
  const bool has_groups =
      in.kind == encoding::frame_of_reference || in.kind == encoding::delta || in.kind == encoding::vertical;
  if (has_groups) used.add_bytes(in.groups_at, in.groups() * zenith::packed::group_bytes<U>);
  if (in.kind == encoding::delta) used.add_bytes(in.bases_at, in.blocks() * sizeof(U));
  if (in.patches > 0) {
    used.add_bytes(in.patch_index_at, in.groups() * zenith::packed::patch_index_bytes);
    used.add_bytes(in.patch_positions_at, in.patches);
    used.add_bytes(in.patch_values_at, in.patches * sizeof(U));
  }
  switch (in.kind) {
    case encoding::frame_of_reference:
    case encoding::delta:
    case encoding::vertical: add_payload<U>(used, in); break;
    case encoding::null_suppression_variable:
      used.add_bytes(in.groups_at, in.groups() * zenith::packed::variable_group_bytes);
      used.add_bytes(in.codes_at, in.blocks() * (zenith::packed_block_items / 4));
      used.add_bytes(in.payload_at, in.payload_units);
      break;
    case encoding::run_length:
      used.add_bytes(in.codes_at, in.payload_units * in.parameter);
      used.add_bytes(in.payload_at, in.payload_units * sizeof(U));
      break;
    case encoding::null_suppression_fixed: used.add_bytes(in.payload_at, in.count * in.parameter); break;
    default: used.add_bytes(in.payload_at, in.count * sizeof(U)); break;
  }
  for (std::size_t at = 0; at < column.size(); ++at) {
    column[at] |= used.free_bits(at) & static_cast<std::byte>(random());
  }
}

}  // namespace

void scribble(std::span<std::byte> column, random_source& random) {
  const auto layout = zenith::detail::parse_packed(column);
  zenith::size_of(layout.type) == 4 ? scribble_words<std::uint32_t>(column, layout, random)
                                    : scribble_words<std::uint64_t>(column, layout, random);
  zenith_test::reseal(column);
}

}  // namespace conformance::packed

// Packed columns: any bytes give a column whose every operation stays within them, or corrupt_data. The first byte says
// how much of the rest is put right before it is parsed, so that the checks behind the checksum are reached, and the
// decoders behind the checks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <core/built_backends.hpp>
#include <tests/fuzz/packed_repair.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace zenith::reference_backend {
extern constinit const backend descriptor;
}

namespace {

constexpr const zenith::backend* built[] = {&zenith::reference_backend::descriptor};

void require(bool holds) {
  if (!holds) std::abort();
}

// A run of one value may be longer than memory; and the reference is slow.
constexpr std::uint64_t most_decoded = 1 << 14;
constexpr std::uint64_t most_queried = 600;

template <class T>
void check_ranges(const zenith::packed_view<T>& view, std::uint64_t drawn) {
  const auto on = zenith::reference();
  const std::uint64_t count = view.size();
  const std::uint64_t some = std::min<std::uint64_t>(count, 300);
  for (const std::uint64_t first : {std::uint64_t{0}, count - some, drawn % (count - some + 1)}) {
    std::vector<T> out(some);
    zenith::unpack(on, view, first, out);
    for (std::uint64_t i = 0; i < some; i += 17) require(out[i] == view.get(first + i));
  }
}

// The values, block by block; some of them one by one too, and together.
template <class T>
std::vector<T> decode(const zenith::packed_view<T>& view) {
  std::vector<T> values(view.size());
  const std::uint64_t stride = 1 + view.size() / 256;
  std::vector<std::uint64_t> single;
  for (std::uint64_t block = 0; block < view.layout().blocks(); ++block) {
    std::vector<zenith::detail::packed_word<T>> out(zenith::packed_block_items);
    const unsigned items = zenith::packed::unpack_block(view.layout(), block, out.data());
    for (unsigned i = 0; i < items; ++i) {
      const std::uint64_t at = block * zenith::packed_block_items + i;
      values.at(at) = static_cast<T>(out[i]);
      if (at % stride != 0) continue;
      require(view.get(at) == values[at]);
      single.push_back(at);
    }
  }
  std::vector<T> gathered(single.size());
  view.gather(single, gathered);
  for (std::size_t i = 0; i < single.size(); ++i) require(gathered[i] == values[single[i]]);
  return values;
}

template <class T>
void check_queries(const zenith::packed_view<T>& view, const std::vector<T>& values, std::uint64_t drawn) {
  const auto on = zenith::reference();
  std::uint64_t sum = 0;
  for (const T value : values) sum += static_cast<std::uint64_t>(value);
  require(static_cast<std::uint64_t>(zenith::sum(on, view)) == sum);
  if (values.empty()) return;
  const T low = *std::ranges::min_element(values);
  const T high = *std::ranges::max_element(values);
  require(zenith::minimum(on, view) == low && zenith::maximum(on, view) == high);

  const T bound = values[drawn % values.size()];
  const auto matching = std::ranges::count_if(values, [&](T value) { return value <= bound; });
  std::vector<std::uint64_t> words((values.size() + 63) / 64);
  std::vector<std::uint32_t> indices(values.size());
  require(zenith::select_bitmap(on, view, low, bound, words) == static_cast<std::uint64_t>(matching));
  require(zenith::select_indices(on, view, low, bound, indices) == static_cast<std::uint64_t>(matching));
  const auto best = zenith::top_k(on, view, std::min<std::size_t>(values.size(), 20));
  for (std::size_t i = 0; i < best.keys.size(); ++i) require(values.at(best.indices[i]) == best.keys[i]);
  require(best.keys.front() == high);
}

template <class T>
void check(std::span<const std::byte> bytes, std::uint64_t drawn) {
  const auto view = zenith::packed_view<T>::parse(bytes);
  if (!view.empty()) check_ranges(view, drawn);
  if (view.size() > most_decoded) return;
  const auto values = decode(view);
  if (values.size() <= most_queried) check_queries(view, values, drawn);
}

}  // namespace

std::span<const zenith::backend* const> zenith::detail::built_backends() noexcept { return built; }
std::span<const zenith::detail::absent_backend> zenith::detail::absent_backends() noexcept { return {}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto given = std::as_bytes(std::span(data, size));
  const auto bytes = zenith_fuzz::repaired(given.subspan(1), static_cast<zenith_fuzz::repair>(data[0] % 3));
  // a copy of its own size at some alignment, so that a read past the end is seen
  const std::size_t offset = data[0] / 3 % 8;
  std::vector<std::byte> held(offset + bytes.size());
  std::ranges::copy(bytes, held.begin() + static_cast<std::ptrdiff_t>(offset));
  const auto column = std::span<const std::byte>(held).subspan(offset);
  std::uint64_t drawn = 0;
  std::memcpy(&drawn, data + size - std::min<std::size_t>(size, 8), std::min<std::size_t>(size, 8));
  try {
    switch (bytes.size() > 7 ? std::to_integer<int>(bytes[7]) : 0) {
      case 3: check<std::uint32_t>(column, drawn); break;
      case 4: check<std::int64_t>(column, drawn); break;
      case 5: check<std::uint64_t>(column, drawn); break;
      default: check<std::int32_t>(column, drawn); break;
    }
  } catch (const zenith::error& refused) {
    if (refused.code() != zenith::error_code::corrupt_data) std::abort();
  }
  return 0;
}

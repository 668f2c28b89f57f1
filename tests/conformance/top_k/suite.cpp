#include <suite.hpp>

#include <algorithm>

namespace conformance {

request random_request(random_source& random, std::size_t k) {
  const std::uint64_t drawn = random();
  request asked;
  asked.k = k;
  asked.select = (drawn & 1) != 0 ? zenith::selection::largest : zenith::selection::smallest;
  asked.order = (drawn & 6) != 0 ? zenith::ordering::sorted : zenith::ordering::any;
  asked.ties = (drawn & 0x38) != 0 ? zenith::tie_break::lowest_index : zenith::tie_break::any;
  constexpr zenith::nan_policy policies[] = {zenith::nan_policy::last, zenith::nan_policy::last,
                                             zenith::nan_policy::first, zenith::nan_policy::reject};
  asked.nans = policies[(drawn >> 6) % 4];
  asked.indices = static_cast<index_kind>((drawn >> 8) % 4);
  return asked;
}

std::vector<std::size_t> interesting_sizes() {
  std::vector<std::size_t> sizes{0, 1, 2, 3, 5, 7, 13, 31, 32, 33, 61, 97, 509, 1009, 10007, 100003};
  for (const std::size_t tile : {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}) {
    sizes.insert(sizes.end(), {tile - 1, tile, tile + 1});
  }
  std::ranges::sort(sizes);
  std::erase_if(sizes, [](std::size_t size) { return size > the_suite().most_items; });
  return sizes;
}

std::vector<std::size_t> interesting_ks(std::size_t count) {
  std::vector<std::size_t> ks{0, 1, 2, 3, 16, 17, 31, 64, 127, 256, 257, 1000, 1024, 1025, 4099, count / 2};
  if (count > 0) ks.insert(ks.end(), {count - 1, count});
  std::ranges::sort(ks);
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  std::erase_if(ks, [&](std::size_t k) { return k > count; });
  return ks;
}

}  // namespace conformance

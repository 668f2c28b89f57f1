// Unpacking past the caches, which the library does only for large outputs: at every alignment, and nothing around it.

#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <backends/cpu/isa.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/backend.hpp>
#include <zenith/zenith.hpp>

namespace {

template <class T>
void unpack_everywhere(const std::string& test) {
  using U = std::make_unsigned_t<T>;
  constexpr std::size_t margin = 32;
  constexpr U untouched = 0xa5;
  for (const auto kind : {zenith::encoding::frame_of_reference, zenith::encoding::delta, zenith::encoding::plain}) {
    for (const std::uint64_t blocks : {1, 2, 17, 40}) {
      const auto seed = zenith_test::seed_of(test, blocks);
      std::mt19937_64 random(seed);
      const auto width = static_cast<unsigned>(1 + random() % (sizeof(T) * 8));
      std::vector<T> values(blocks * zenith::packed_block_items);
      for (auto& one : values)
        one = static_cast<T>(static_cast<U>(static_cast<U>(random()) >> (sizeof(U) * 8 - width)));
      const auto column = zenith::pack(zenith::reference(), values, kind);
      const std::uint64_t first = random() % blocks;
      const std::uint64_t count = (blocks - first) * zenith::packed_block_items;
      for (const auto& target : zenith_test::executors("unpack", {"cpu"})) {
        const std::string isa = target.on.settings().isa;
        for (std::size_t shift = 0; shift < 64 / sizeof(U); ++shift) {
          std::vector<U> out(count + 3 * margin, untouched);
          U* const to = out.data() + margin + shift;
          zenith::cpu_backend::find_packed(isa).read.unpack[sizeof(U) / 8]({&column.layout(), first, blocks}, to, true);
          INFO(test << " seed " << seed << ", " << width << " bits, " << to_string(kind) << ", from block " << first
                    << " of " << blocks << ", shifted by " << shift << ", on " << isa);
          const auto* expected = reinterpret_cast<const U*>(values.data()) + first * zenith::packed_block_items;
          REQUIRE(std::equal(to, to + count, expected));
          REQUIRE(std::all_of(out.data(), to, [](U one) { return one == untouched; }));
          REQUIRE(std::all_of(to + count, out.data() + out.size(), [](U one) { return one == untouched; }));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("unpacking past the caches writes its output at every alignment, and no more") {
  unpack_everywhere<std::uint32_t>("past caches uint32");
  unpack_everywhere<std::int64_t>("past caches int64");
}

// The CPU's kernels over packed columns against the reference backend's, on every instruction set.

#include <catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <settings.hpp>
#include <targets.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::encoding;

// Under the thread sanitizer, where all takes ten times as long, values of one kind: threads race at any.
#if defined(__SANITIZE_THREAD__)
constexpr bool every_most = false;
#else
constexpr bool every_most = true;
#endif

const auto every_encoding = [] {
  std::vector<encoding> all(std::begin(zenith::packed_encodings), std::end(zenith::packed_encodings));
  all.push_back(encoding::automatic);
  return all;
}();

// Every instruction set alone and with several threads, or once where the build has but one number of them.
std::vector<zenith_test::target> cpu_targets() {
  auto all = zenith_test::one_executor_per_isa("unpack", zenith_test::threads::fewest);
  for (const auto& target : zenith_test::one_executor_per_isa("unpack", zenith_test::threads::most)) {
    const auto is_same = [&](const auto& other) { return other.executor_string == target.executor_string; };
    if (std::ranges::none_of(all, is_same)) all.push_back(target);
  }
  return all;
}

// Every block has widths of its own, up to `most` bits, some with outliers; now and then the values repeat or rise.
template <class T>
std::vector<T> mixed_values(std::size_t count, unsigned most, std::mt19937_64& random) {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values(count);
  U origin = 0;
  unsigned width = 0;
  unsigned shape = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 32 == 0) {
      width = static_cast<unsigned>(random() % (most + 1));
      shape = static_cast<unsigned>(random() % 4);
    }
    if (i % 128 == 0) origin = static_cast<U>(random());
    U bits = width == 0 ? U{0} : static_cast<U>(static_cast<U>(random()) >> (sizeof(U) * 8 - width));
    if (shape == 1 && random() % 32 == 0) bits = static_cast<U>(random());
    if (shape == 2 && i > 0) bits = static_cast<U>(static_cast<U>(values[i - 1]) - origin + bits % 16);
    if (shape == 3 && i > 0 && random() % 8 != 0) bits = static_cast<U>(static_cast<U>(values[i - 1]) - origin);
    values[i] = static_cast<T>(static_cast<U>(origin + bits));
  }
  return values;
}

// What a plain loop over the values says of them.
template <class T>
struct expectation {
  struct range {
    T low;
    T high;
    std::vector<std::uint64_t> bits;
    std::vector<std::uint64_t> indices;
  };
  struct best {
    zenith::selection select;
    std::vector<T> keys;
    std::vector<std::uint32_t> indices;
  };

  std::uint64_t sum = 0;
  std::vector<range> ranges;
  std::vector<best> tops;

  expectation(const std::vector<T>& values, std::mt19937_64& random) {
    for (const T value : values) sum += static_cast<std::uint64_t>(value);
    const std::size_t n = values.size();
    if (n == 0) return;
    for (int turn = 0; turn < 3; ++turn) {
      range one{values[random() % n], values[random() % n], std::vector<std::uint64_t>((n + 63) / 64), {}};
      if (one.low > one.high) std::swap(one.low, one.high);
      if (turn == 2) one.high = one.low;
      for (std::size_t i = 0; i < n; ++i) {
        if (values[i] < one.low || values[i] > one.high) continue;
        one.bits[i / 64] |= std::uint64_t{1} << (i % 64);
        one.indices.push_back(i);
      }
      ranges.push_back(std::move(one));
    }
    for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
      best one{select, values, {}};
      for (std::size_t i = 0; i < n; ++i) one.indices.push_back(static_cast<std::uint32_t>(i));
      std::ranges::stable_sort(one.indices, [&](auto a, auto b) {
        return select == zenith::selection::largest ? values[a] > values[b] : values[a] < values[b];
      });
      for (std::size_t i = 0; i < n; ++i) one.keys[i] = values[one.indices[i]];
      tops.push_back(std::move(one));
    }
  }
};

template <class T>
void compare(const zenith::executor& on, const zenith::packed_column<T>& column, const std::vector<T>& values,
             const expectation<T>& expected, std::mt19937_64& random) {
  const std::size_t n = values.size();
  std::vector<T> out(n);
  zenith::unpack(on, column, out);
  REQUIRE(out == values);
  for (int turn = 0; turn < 4 && n > 0; ++turn) {
    const std::size_t first = random() % n;
    const std::size_t length = random() % (n - first + 1);
    // a frame around the output tells whether anything beside it is written
    std::vector<T> framed(length + 2, T{77});
    zenith::unpack(on, column, first, std::span<T>(framed).subspan(1, length));
    REQUIRE(framed.front() == 77);
    REQUIRE(framed.back() == 77);
    REQUIRE(std::equal(framed.begin() + 1, framed.end() - 1, values.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  REQUIRE(static_cast<std::uint64_t>(zenith::sum(on, column)) == expected.sum);
  if (n == 0) return;
  REQUIRE(zenith::minimum(on, column) == *std::ranges::min_element(values));
  REQUIRE(zenith::maximum(on, column) == *std::ranges::max_element(values));
  for (const auto& range : expected.ranges) {
    std::vector<std::uint64_t> bits((n + 63) / 64, ~std::uint64_t{0});
    REQUIRE(zenith::select_bitmap(on, column, range.low, range.high, bits) == range.indices.size());
    REQUIRE(bits == range.bits);
    std::vector<std::uint32_t> narrow(range.indices.size());
    std::vector<std::uint64_t> wide(range.indices.size());
    zenith::select_indices(on, column, range.low, range.high, narrow);
    zenith::select_indices(on, column, range.low, range.high, wide);
    REQUIRE(wide == range.indices);
    REQUIRE(std::ranges::equal(narrow, range.indices));
  }
  for (const auto& best : expected.tops) {
    for (const std::size_t k : {std::size_t{1}, std::min<std::size_t>(n, 33), n}) {
      if (k == n && n > 5000) continue;
      const auto found = zenith::top_k<std::uint32_t>(on, column, k, {.select = best.select});
      REQUIRE(std::equal(found.keys.begin(), found.keys.end(), best.keys.begin()));
      REQUIRE(std::equal(found.indices.begin(), found.indices.end(), best.indices.begin()));
    }
  }
}

template <class T>
void compare_all(const std::string& test) {
  const zenith::executor oracle = zenith::make_executor("reference");
  const auto targets = cpu_targets();
  REQUIRE(!targets.empty());
  std::uint64_t number = 0;
  for (const std::size_t n : {0, 1, 31, 128, 129, 2047, 5000, 140'000}) {
    for (const unsigned most : {unsigned{sizeof(T)} * 8, 5U, 20U}) {
      if (most != 20 && (n > 5000 || !every_most)) continue;
      const auto seed = zenith_test::seed_of(test, number++);
      std::mt19937_64 random(seed);
      const auto values = mixed_values<T>(n, most, random);
      const expectation<T> expected(values, random);
      for (const auto kind : every_encoding) {
        for (const bool patches : {true, false}) {
          if (!patches && kind != encoding::frame_of_reference && kind != encoding::delta) continue;
          const zenith::pack_options options{.lanes = 4 << (number % 3), .patches = patches};
          const auto column = zenith::pack(oracle, values, kind, options);
          for (const auto& target : targets) {
            INFO(test << " seed " << seed << ", " << n << " values, " << to_string(kind) << ", patches " << patches
                      << ", on " << target.executor_string);
            const auto packed = zenith::pack(target.on, values, kind, options);
            REQUIRE(std::ranges::equal(packed.bytes(), column.bytes()));
            compare(target.on, column, values, expected, random);
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("packed columns of 32 bits are the reference's on every instruction set") {
  compare_all<std::int32_t>("packed int32");
  compare_all<std::uint32_t>("packed uint32");
}

TEST_CASE("packed columns of 64 bits are the reference's on every instruction set") {
  compare_all<std::int64_t>("packed int64");
  compare_all<std::uint64_t>("packed uint64");
}

TEST_CASE("a packed query that has nothing to do reports that nothing ran") {
  const std::vector<std::int32_t> values{3, 1, 2};
  const auto some = zenith::pack(zenith::reference(), values);
  const auto none = zenith::pack(zenith::reference(), std::span(values).first(0));
  std::vector<std::uint64_t> bits(1);
  std::vector<std::int32_t> out;
  std::vector<std::uint32_t> indices;
  for (const auto& on : {zenith::reference(), zenith::cpu()}) {
    zenith::packed_statistics statistics;
    const auto reports_nothing = [&](const auto& query) {
      statistics = {"another's", 7};
      query(zenith::packed_options{&statistics});
      CHECK(statistics.variant.empty());
      CHECK(statistics.threads == 0);
    };
    reports_nothing([&](const auto& options) { CHECK(zenith::sum(on, none, options) == 0); });
    reports_nothing([&](const auto& options) { zenith::unpack(on, some, 1, out, options); });
    reports_nothing([&](const auto& options) {
      CHECK(zenith::select_bitmap(on, none, 0, 1, std::span<std::uint64_t>(), options) == 0);
    });
    reports_nothing([&](const auto& options) { CHECK(zenith::select_bitmap(on, some, 2, 1, bits, options) == 0); });
    reports_nothing([&](const auto& options) { CHECK(zenith::select_indices(on, none, 0, 1, indices, options) == 0); });
    reports_nothing([&](const auto& options) { CHECK(zenith::select_indices(on, some, 2, 1, indices, options) == 0); });
  }
}

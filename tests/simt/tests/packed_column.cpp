/// \file
/// The CUDA backend's operations over packed columns, lane by lane: clean, and right, whatever the order of its
/// threads.

#include <zenith/packed_column.hpp>

#include <catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <settings.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/emulation/with_seeds.hpp>
#include <tests/simt/engine/fault.hpp>
#include <tests/simt/engine/memory.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>

namespace {

using generator = std::mt19937_64;
using zenith::encoding;

enum class shape { narrow, any_width, outliers, rising, runs, extreme, constant };
constexpr int shapes = 7;

template <class T>
std::vector<T> make_values(shape which, std::size_t count, generator& random) {
  using limits = std::numeric_limits<T>;
  std::vector<T> values(count);
  const auto bits = [&](unsigned width) {
    return static_cast<T>(width == 0 ? 0 : random() >> (64 - std::min<unsigned>(width, sizeof(T) * 8)));
  };
  unsigned width = 0;
  T value = bits(sizeof(T) * 8);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 32 == 0) width = static_cast<unsigned>(random() % (sizeof(T) * 8 + 1));
    switch (which) {
      case shape::narrow: values[i] = static_cast<T>(1000 + bits(9)); break;
      case shape::any_width: values[i] = bits(width); break;
      case shape::outliers: values[i] = static_cast<T>(random() % 40 == 0 ? bits(sizeof(T) * 8) : bits(5)); break;
      case shape::rising: values[i] = value = static_cast<T>(value + bits(7)); break;
      case shape::runs: values[i] = value = random() % (i < count / 2 ? 3 : 500) == 0 ? bits(20) : value; break;
      case shape::extreme: values[i] = random() % 2 == 0 ? limits::min() : limits::max(); break;
      case shape::constant: values[i] = value; break;
    }
  }
  return values;
}

template <class T>
std::uint64_t sum_of(const std::vector<T>& values) {
  std::uint64_t sum = 0;
  for (const T value : values) sum += static_cast<std::uint64_t>(value);
  return sum;
}

template <class T>
std::vector<T> host_values(const zenith::array<T>& from) {
  std::vector<T> host(from.size());
  from.copy_to(host);
  return host;
}

template <class T>
struct fixture {
  std::vector<T> values;
  zenith::packed_column<T> column;
  zenith::executor on = zenith::make_executor("cuda-emulated");
  zenith::packed_device_column<T> on_device;

  fixture(std::vector<T> of, encoding kind)
      : values(std::move(of)), column(zenith::pack(zenith::reference(), values, kind)), on_device(on, column) {}
};

template <class T>
void check_unpack(const fixture<T>& with, generator& random) {
  const std::size_t count = with.values.size();
  if (random() % 2 == 0) {
    std::vector<T> out(count);
    zenith::unpack(with.on, with.column, out);
    CHECK(out == with.values);
  }
  zenith::array<T> whole(with.on, count);
  zenith::unpack(with.on, with.on_device, whole.device());
  CHECK(host_values(whole) == with.values);

  const std::size_t first = random() % count;
  const std::size_t some = random() % (count - first + 1);
  const std::size_t shift = random() % 3;
  CAPTURE(first, some, shift);
  const std::vector<T> expected(with.values.begin() + static_cast<std::ptrdiff_t>(first),
                                with.values.begin() + static_cast<std::ptrdiff_t>(first + some));
  zenith::array<T> part(with.on, some + shift);
  zenith::unpack(with.on, with.on_device, first, part.device().subspan(shift, some));
  std::vector<T> out(some);
  if (some > 0) {
    zenith::array<T> moved(with.on, some);
    zenith::unpack(with.on, with.on_device, first, moved.device());
    CHECK(host_values(moved) == expected);
    std::vector<T> on_host(some);
    zenith::unpack(with.on, with.column, first, on_host);
    CHECK(on_host == expected);
  }
}

template <class T>
void check_aggregates(const fixture<T>& with) {
  const auto [least, greatest] = std::minmax_element(with.values.begin(), with.values.end());
  CHECK(static_cast<std::uint64_t>(zenith::sum(with.on, with.on_device)) == sum_of(with.values));
  CHECK(zenith::minimum(with.on, with.on_device) == *least);
  CHECK(zenith::maximum(with.on, with.on_device) == *greatest);
  CHECK(static_cast<std::uint64_t>(zenith::sum(with.on, with.column)) == sum_of(with.values));
  CHECK(zenith::maximum(with.on, with.column) == *greatest);
}

template <class T>
void check_bitmap(const fixture<T>& with, T low, T high, bool from_host) {
  CAPTURE(low, high, from_host);
  std::vector<std::uint64_t> expected((with.values.size() + 63) / 64);
  std::uint64_t matches = 0;
  for (std::size_t i = 0; i < with.values.size(); ++i) {
    if (with.values[i] < low || with.values[i] > high) continue;
    expected[i / 64] |= std::uint64_t{1} << (i % 64);
    ++matches;
  }
  if (from_host) {
    std::vector<std::uint64_t> words(expected.size(), ~std::uint64_t{0});
    CHECK(zenith::select_bitmap(with.on, with.column, low, high, words) == matches);
    CHECK(words == expected);
  } else {
    zenith::array<std::uint64_t> words(with.on, expected.size());
    CHECK(zenith::select_bitmap(with.on, with.on_device, low, high, words.device()) == matches);
    CHECK(host_values(words) == expected);
  }
}

template <class T, class Index>
void check_indices(const fixture<T>& with, T low, T high, bool from_host) {
  CAPTURE(low, high, from_host);
  std::vector<Index> expected;
  for (std::size_t i = 0; i < with.values.size(); ++i) {
    if (with.values[i] >= low && with.values[i] <= high) expected.push_back(static_cast<Index>(i));
  }
  const std::size_t capacity = expected.size() + (from_host ? 3 : 0);
  const auto select = [&](std::size_t size) {
    std::vector<Index> out(size, Index{77});
    if (from_host) {
      const auto found = zenith::select_indices(with.on, with.column, low, high, out);
      CHECK(found == expected.size());
    } else {
      zenith::array<Index> there(with.on, std::span<const Index>(out));
      const auto found = zenith::select_indices(with.on, with.on_device, low, high, there.device());
      CHECK(found == expected.size());
      out = host_values(there);
    }
    return out;
  };
  auto found = select(capacity);
  for (std::size_t i = expected.size(); i < capacity; ++i) CHECK(found[i] == Index{77});
  found.resize(expected.size());
  CHECK(found == expected);
  if (!expected.empty()) CHECK_THROWS_AS(select(expected.size() - 1), zenith::error);
}

template <class T>
void check_pack(const fixture<T>& with, encoding kind, bool from_host) {
  CAPTURE(from_host);
  const zenith::array<T> there(with.on, std::span<const T>(with.values));
  const auto made = from_host ? zenith::pack(with.on, with.values, kind) : zenith::pack(with.on, there.device(), kind);
  CHECK(std::ranges::equal(made.bytes(), with.column.bytes()));
  const auto asked = from_host ? encoding::automatic : kind;
  const auto expected = zenith::pack(zenith::reference(), with.values, asked);
  const auto stays = zenith::packed_device_column<T>::pack(with.on, there.device(), asked);
  CHECK(stays.layout().one_width == expected.layout().one_width);
  CHECK(std::ranges::equal(stays.to_host().bytes(), expected.bytes()));
}

template <class T>
void check_top_k(const fixture<T>& with, std::size_t k, generator& random) {
  zenith::top_k_options options;
  options.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  CAPTURE(k, static_cast<int>(options.select));
  const auto expected = zenith::top_k(zenith::reference(), with.values, k, options);
  zenith::top_k_statistics statistics;
  options.statistics = &statistics;
  const auto found = random() % 2 == 0 ? zenith::top_k(with.on, with.on_device, k, options)
                                       : zenith::top_k(with.on, with.column, k, options);
  CHECK(found.keys == expected.keys);
  CHECK(found.indices == expected.indices);
  CHECK(statistics.survivors >= k);
}

template <class T>
void check_all(encoding kind, shape which, std::size_t count, generator& random) {
  CAPTURE(zenith::to_string(kind), static_cast<int>(which), count);
  const fixture<T> with(make_values<T>(which, count, random), kind);
  check_pack(with, kind, random() % 2 == 0);
  check_unpack(with, random);
  check_aggregates(with);
  auto low = with.values[random() % count];
  auto high = with.values[random() % count];
  if (high < low) std::swap(low, high);
  check_bitmap(with, low, high, random() % 2 == 0);
  if (random() % 2 == 0) {
    check_indices<T, std::uint32_t>(with, low, high, random() % 2 == 0);
  } else {
    check_indices<T, std::uint64_t>(with, low, high, random() % 2 == 0);
  }
  check_top_k(with, 1 + random() % std::min<std::size_t>(count, 40), random);
}

}  // namespace

TEMPLATE_TEST_CASE("packed columns are clean and right for every order of threads", "[packed_column]", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  const std::size_t before = zenith::simt_engine::device_memory::instance().live_allocations();
  for (const auto kind : zenith::packed_encodings) {
    zenith::simt_engine::with_seeds(zenith_test::scaled(4), [&](std::uint64_t seed) {
      CAPTURE(seed);
      generator random(seed);
      check_all<TestType>(kind, static_cast<shape>(random() % shapes), 2000 + random() % 5000, random);
      check_all<TestType>(kind, static_cast<shape>(random() % shapes), 1 + random() % 300, random);
    });
  }
  CHECK(zenith::simt_engine::device_memory::instance().live_allocations() == before);
}

TEMPLATE_TEST_CASE("packed columns at the edges of blocks and groups", "[packed_column]", std::int32_t, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  generator random(zenith::simt_engine::seed());
  for (const auto kind : zenith::packed_encodings) {
    for (int which = 0; which < shapes; ++which) {
      for (const std::size_t count : {1, 31, 33, 127, 128, 129, 2047, 2049}) {
        if (random() % 3 != 0 || !zenith_test::is_drawn("edges", random())) continue;  // each seed draws others
        check_all<TestType>(kind, static_cast<shape>(which), count, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("groups of one width are right at every width", "[packed_column]", std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  using word = std::make_unsigned_t<TestType>;
  generator random(zenith::simt_engine::seed());
  constexpr unsigned bits = sizeof(TestType) * 8;
  for (unsigned width = 0; width <= bits; width += width < 33 ? 1 : 10) {
    // words of all widths, but for the first of each miniblock, which sees to it that they are packed in as many bits;
    // half a group of uneven ones between, so that the last group begins at any word
    std::vector<word> words(3 * zenith::packed_group_items + 5);
    const word most = width == 0 ? word{0} : static_cast<word>(~word{0}) >> (bits - width);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_uneven = i / zenith::packed_group_items == 1 && i / 32 % 5 == 1;
      const word any = is_uneven ? static_cast<word>(random()) & 1U : static_cast<word>(random());
      words[i] = (i % 32 == 0 && !is_uneven ? most : i % 32 == 1 ? word{0} : any) & most;
    }
    const word least = random() % 2 == 0 ? static_cast<word>(random()) & ~most : word{0} - (most >> 1);
    std::vector<TestType> values(words.size());
    CAPTURE(width, least);
    for (const auto kind : {encoding::frame_of_reference, encoding::delta}) {
      CAPTURE(zenith::to_string(kind));
      word value = least;
      for (std::size_t i = 0; i < values.size(); ++i) {
        value = kind == encoding::delta ? static_cast<word>(value + words[i]) : static_cast<word>(least + words[i]);
        values[i] = static_cast<TestType>(value);
      }
      const fixture<TestType> with(values, kind);
      check_aggregates(with);
      zenith::array<TestType> whole(with.on, values.size());
      zenith::unpack(with.on, with.on_device, whole.device());
      CHECK(host_values(whole) == values);
      check_bitmap(with, values[0], values[0], false);
      check_bitmap(with, std::min(values[7], values[40]), std::max(values[7], values[40]), false);
      check_bitmap(with, std::numeric_limits<TestType>::min(), values[3], false);
      check_bitmap(with, values[3], std::numeric_limits<TestType>::max(), false);
    }
  }
}

TEMPLATE_TEST_CASE("what several blocks find is put together", "[packed_column]", std::int32_t, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  constexpr std::size_t count = 9 * zenith::packed_group_items + 70;
  generator random(zenith::simt_engine::seed());
  for (const auto kind : {encoding::frame_of_reference, encoding::delta, encoding::plain}) {
    CAPTURE(zenith::to_string(kind));
    auto values = make_values<TestType>(shape::narrow, count, random);
    // each extreme in another block
    values[random() % 50] = 1;
    values[count - 1 - random() % 50] = 5000;
    const fixture<TestType> with(values, kind);
    check_aggregates(with);
    check_bitmap<TestType>(with, 1100, 1300, false);
    for (auto& value : values) value = static_cast<TestType>(5001 - value);
    check_aggregates(fixture<TestType>(std::move(values), kind));
  }
}

TEMPLATE_TEST_CASE("top-k of packed columns goes every way", "[packed_column]", std::int32_t, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  constexpr std::size_t count = 14000;
  zenith::simt_engine::with_seeds(zenith_test::scaled(2), [&](std::uint64_t seed) {
    CAPTURE(seed);
    generator random(seed);
    for (const auto kind : {encoding::frame_of_reference, encoding::delta, encoding::run_length}) {
      CAPTURE(zenith::to_string(kind));
      // few candidates; many that equal the threshold, none or some above; too many wanted to sample
      check_top_k(fixture<TestType>(make_values<TestType>(shape::any_width, count, random), kind), 10, random);
      check_top_k(fixture<TestType>(std::vector<TestType>(count, TestType{5}), kind), 10, random);
      auto ties = std::vector<TestType>(count, TestType{5});
      for (int i = 0; i < 4; ++i) ties[random() % count] = static_cast<TestType>(random() % 10);
      check_top_k(fixture<TestType>(ties, kind), 10, random);
      check_top_k(fixture<TestType>(make_values<TestType>(shape::rising, count, random), kind), 4000, random);
    }
  });
}

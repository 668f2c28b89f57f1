/// \file
/// The CUDA backend's top-k, lane by lane: clean, and the same as the reference, whatever the order of its threads.

#include <zenith/top_k.hpp>

#include <catch.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cuda/top_k/filter.hpp>
#include <settings.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/emulation/with_seeds.hpp>
#include <tests/simt/engine/fault.hpp>
#include <tests/simt/engine/memory.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>

namespace {

using generator = std::mt19937_64;

enum class shape { random, few_values, all_equal, ascending, descending, late_peak };

template <class T>
std::vector<T> make_keys(shape which, std::size_t count, generator& random) {
  std::vector<T> keys(count);
  const auto any_bits = [&] { return static_cast<T>(static_cast<std::int64_t>(random())); };
  for (std::size_t i = 0; i < count; ++i) {
    switch (which) {
      case shape::random: keys[i] = any_bits(); break;
      case shape::few_values: keys[i] = static_cast<T>(random() % 5); break;
      case shape::all_equal: keys[i] = T{7}; break;
      case shape::ascending: keys[i] = static_cast<T>(i); break;
      case shape::descending: keys[i] = static_cast<T>(count - i); break;
      case shape::late_peak: keys[i] = static_cast<T>(i + 64 < count ? random() % 100 : 1000 + random() % 100); break;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const T specials[] = {std::numeric_limits<T>::quiet_NaN(), -T{0}, T{0}, infinity, -infinity,
                          -std::numeric_limits<T>::quiet_NaN()};
    if (which == shape::random || which == shape::few_values) {
      for (std::size_t i = 0; i < count / 8 + 1; ++i) keys[random() % count] = specials[random() % 6];
    }
  }
  return keys;
}

template <class T>
struct outcome {
  std::vector<T> keys;
  std::vector<std::uint64_t> indices;

  // NaN's bits count too
  friend bool operator==(const outcome& a, const outcome& b) {
    return a.indices == b.indices &&
           std::equal(a.keys.begin(), a.keys.end(), b.keys.begin(), b.keys.end(),
                      [](const T& x, const T& y) { return std::memcmp(&x, &y, sizeof(T)) == 0; });
  }
};

template <class T, class Index>
outcome<T> run_on_host(const zenith::executor& on, const std::vector<T>& keys, std::size_t k,
                       const zenith::top_k_options& options) {
  std::vector<T> out(k);
  std::vector<Index> indices(k);
  zenith::top_k(on, keys, out, indices, options);
  return {out, {indices.begin(), indices.end()}};
}

// `offset` elements in front make the keys start where no vector load may.
template <class T, class Index>
outcome<T> run_on_device(const zenith::executor& on, const std::vector<T>& keys, std::size_t offset, std::size_t k,
                         const zenith::top_k_options& options) {
  std::vector<T> padded(offset, T{});
  padded.insert(padded.end(), keys.begin(), keys.end());
  const zenith::array<T> in(on, std::span<const T>(padded));
  zenith::array<T> out(on, k);
  zenith::array<Index> indices(on, k);
  zenith::top_k(on, in.device().subspan(offset, keys.size()), out.device(), indices.device(), options);
  std::vector<T> host(k);
  std::vector<Index> host_indices(k);
  out.copy_to(host);
  indices.copy_to(host_indices);
  return {host, {host_indices.begin(), host_indices.end()}};
}

std::vector<std::string> strategies() {
  std::vector<std::string> names;
  for (const auto& entry : zenith::find_backend("cuda-emulated").kernels) {
    if (entry.operation == zenith::top_k_call::operation) names.emplace_back(entry.strategy);
  }
  return names;
}

zenith::top_k_options random_options(generator& random) {
  zenith::top_k_options options;
  options.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  options.nans = random() % 3 == 0 ? zenith::nan_policy::first : zenith::nan_policy::last;
  return options;
}

struct placing {
  bool on_device;
  bool narrow;  ///< 32-bit indices
  std::size_t offset;
};

placing random_placing(generator& random) {
  return {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0 ? 0 : 1 + random() % 3};
}

template <class T>
void compare(const std::string& strategy, const std::vector<T>& keys, std::size_t k, zenith::top_k_options options,
             const placing& where) {
  const auto& [on_device, narrow, offset] = where;
  CAPTURE(strategy, keys.size(), k, on_device, narrow, offset, static_cast<int>(options.select));
  auto* const statistics = std::exchange(options.statistics, nullptr);
  const auto expected = run_on_host<T, std::uint64_t>(zenith::reference(), keys, k, options);
  options.strategy = strategy;
  options.statistics = statistics;
  const auto on = zenith::make_executor("cuda-emulated");
  const auto got = on_device ? narrow ? run_on_device<T, std::uint32_t>(on, keys, offset, k, options)
                                      : run_on_device<T, std::int64_t>(on, keys, offset, k, options)
                   : narrow ? run_on_host<T, std::int32_t>(on, keys, k, options)
                             : run_on_host<T, std::uint64_t>(on, keys, k, options);
  if (!(got == expected)) FAIL_CHECK("differs from the reference");
}

template <class T>
void compare(generator& random, const std::string& strategy, shape which, std::size_t count, std::size_t k) {
  const auto keys = make_keys<T>(which, count, random);
  auto options = random_options(random);
  zenith::top_k_statistics statistics;
  if (random() % 2 == 0) options.statistics = &statistics;
  CAPTURE(static_cast<int>(which));
  compare<T>(strategy, keys, k, options, random_placing(random));
}

// Large keys everywhere but where the filter samples: its threshold lets everything through.
template <class T>
std::vector<T> keys_that_mislead(std::size_t count, std::size_t k, generator& random) {
  namespace detail = zenith::top_k_detail;
  std::vector<T> keys(count);
  for (auto& key : keys) key = static_cast<T>(1000 + random() % 100000);
  const auto lower = [&](std::size_t first, std::size_t length) {
    for (std::size_t i = first; i < first + length; ++i) keys[i] = static_cast<T>(random() % 100);
  };
  if (k <= detail::group_plan::most_k) {
    REQUIRE(detail::group_plan::of_all(count, k, sizeof(T)).groups == 0);
    const auto plan = detail::group_plan::of_sample(count, k, sizeof(T));
    REQUIRE(plan.groups > 0);
    constexpr std::size_t chunk = detail::group_plan::chunk_bytes / sizeof(T);
    for (std::uint32_t i = 0; i < plan.chunks(); ++i) {
      lower(detail::sample_position(i, count / chunk, plan.chunks()) * chunk, chunk);
    }
  } else {
    const auto plan = zenith::cuda_backend::plan_of(count, k);
    REQUIRE(plan.samples > 0);
    for (std::uint32_t i = 0; i < plan.samples; ++i) lower(detail::sample_position(i, count, plan.samples), 1);
  }
  return keys;
}

// How many keys the emulated device's blocks take at a time, together.
template <class T>
std::size_t keys_of_a_round() {
  using kernel = zenith::cuda_backend::filter_launch<T>;
  return zenith::cuda_backend::resident_grid<kernel>() *
         std::size_t{zenith::cuda_backend::filter_extent<T>::block_items};
}

// Large keys in k - 1 of the groups that share all keys, and nowhere else: the threshold lets all of them through.
template <class T>
std::vector<T> keys_of_few_groups(std::size_t rounds, std::size_t k, generator& random) {
  using tile = zenith::cuda_backend::filter_tile<T>;
  std::vector<T> keys(rounds * keys_of_a_round<T>());
  for (auto& key : keys) key = static_cast<T>(random() % 100);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t thread = 0; thread + 1 < k; ++thread) {
      const std::size_t of_warp = round * keys_of_a_round<T>() + thread / 32 * tile::size;
      for (unsigned v = 0; v < tile::vectors; v += 2) {
        for (unsigned i = 0; i < tile::per_vector; ++i) {
          keys[of_warp + (v * 32 + thread % 32) * tile::per_vector + i] = static_cast<T>(1000 + random() % 100000);
        }
      }
    }
  }
  return keys;
}

}  // namespace

TEMPLATE_TEST_CASE("top-k is clean and right for every order of threads", "[top_k]", float, double, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  const std::size_t before = zenith::simt_engine::device_memory::instance().live_allocations();
  for (const auto& strategy : strategies()) {
    zenith::simt_engine::with_seeds(zenith_test::scaled(20), [&](std::uint64_t seed) {
      CAPTURE(seed);
      generator random(seed);
      const auto any_shape = [&] { return static_cast<shape>(random() % 6); };
      compare<TestType>(random, strategy, shape::random, 4500 + random() % 1000, 1 + random() % 40);
      compare<TestType>(random, strategy, any_shape(), 3000 + random() % 3000, 1 + random() % 300);
      const std::size_t few = 1 + random() % 70;
      compare<TestType>(random, strategy, any_shape(), few, seed % 3 == 0 ? 1 : few);
    });
  }
  CHECK(zenith::simt_engine::device_memory::instance().live_allocations() == before);
}

TEMPLATE_TEST_CASE("top-k at its edges", "[top_k]", float, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  generator random(zenith::simt_engine::seed());
  for (const auto& strategy : strategies()) {
    for (const auto which :
         {shape::random, shape::few_values, shape::all_equal, shape::ascending, shape::descending, shape::late_peak}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{31}, std::size_t{2049}, std::size_t{9000}}) {
        for (const std::size_t k : {std::size_t{1}, std::size_t{32}, count / 2, count}) {
          if (k == 0 || k > count || !zenith_test::is_drawn("edges", random())) continue;
          compare<TestType>(random, strategy, which, count, k);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("the filter's ways out are clean and right", "[top_k]", float, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  constexpr std::size_t count = 30000;
  zenith::simt_engine::with_seeds(zenith_test::scaled(3), [&](std::uint64_t seed) {
    CAPTURE(seed);
    generator random(seed);
    zenith::top_k_statistics statistics;
    const placing where{true, seed % 2 == 0, seed % 3};
    // so many equal items that a few tiles have enough
    std::vector<TestType> ties(count, TestType{5});
    for (std::size_t i = 0; i < 3; ++i) ties[random() % count] = TestType{9};
    compare<TestType>("filter", ties, 4 + random() % 30, {.statistics = &statistics}, where);
    CHECK(statistics.reads == 1);
    CHECK(statistics.survivors < count / 3);
    // more equal items than fit even so: they are collected up to a cut
    compare<TestType>("filter", ties, 1030 + random() % 20, {.statistics = &statistics}, where);
    CHECK(statistics.reads == 2);
  });
}

TEMPLATE_TEST_CASE("the filter that is misled is clean and right", "[top_k]", float, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  zenith::simt_engine::with_seeds(zenith_test::scaled(3), [&](std::uint64_t seed) {
    CAPTURE(seed);
    generator random(seed);
    zenith::top_k_statistics statistics;
    const placing where{true, seed % 2 == 0, 0};
    // a sample of few keys
    const std::size_t many = (sizeof(TestType) == 4 ? 230 : 1000) + random() % 10;
    compare<TestType>("filter", keys_that_mislead<TestType>(sizeof(TestType) == 4 ? 6500 : 14000, many, random), many,
                      {.statistics = &statistics}, where);
    CHECK(statistics.reads > 2);
    const std::size_t few = 100 + random() % 20;
    compare<TestType>("filter", keys_of_few_groups<TestType>(4, few, random), few, {.statistics = &statistics}, where);
    CHECK(statistics.reads > 2);
  });
}

TEMPLATE_TEST_CASE("the filter that reads all keys once takes their tiles in turns", "[top_k]", float, std::int64_t) {
  zenith_test::register_emulated_cuda();
  zenith::simt_engine::with_seeds(zenith_test::scaled(2), [&](std::uint64_t seed) {
    CAPTURE(seed);
    generator random(seed);
    const std::size_t count = 2 * keys_of_a_round<TestType>() + random() % 9000;
    for (const auto which : {shape::random, shape::few_values, shape::descending, shape::late_peak}) {
      zenith::top_k_statistics statistics;
      auto options = random_options(random);
      options.statistics = &statistics;
      compare<TestType>("filter", make_keys<TestType>(which, count, random), 1 + random() % 600, options,
                        {true, seed % 2 == 0, seed % 3});
      // more equal values than fit may stand before the cut
      CHECK(statistics.reads <= (which == shape::few_values ? 2U : 1U));
    }
  });
}

TEMPLATE_TEST_CASE("the filter of columns of NaN, or nearly, is clean and right", "[top_k]", float, double) {
  zenith_test::register_emulated_cuda();
  generator random(zenith::simt_engine::seed());
  for (const std::size_t numbers : {std::size_t{0}, std::size_t{20}, std::size_t{8000}}) {
    std::vector<TestType> keys(9000, std::numeric_limits<TestType>::quiet_NaN());
    for (std::size_t i = 0; i < numbers; ++i) keys[random() % keys.size()] = static_cast<TestType>(random() % 1000);
    for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
      for (const auto nans : {zenith::nan_policy::first, zenith::nan_policy::last}) {
        if (!zenith_test::is_drawn("NaN", random())) continue;
        CAPTURE(numbers, static_cast<int>(nans));
        zenith::top_k_statistics statistics;
        compare<TestType>("filter", keys, 30, {.select = select, .nans = nans, .statistics = &statistics},
                          {true, true, 1});
        CHECK(statistics.reads <= 2);
      }
    }
  }
}

TEMPLATE_TEST_CASE("the filter with many survivors is clean and right", "[top_k]", float, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  zenith::simt_engine::with_seeds(zenith_test::scaled(2), [&](std::uint64_t seed) {
    CAPTURE(seed);
    generator random(seed);
    for (const auto which :
         {shape::random, shape::few_values, shape::all_equal, shape::ascending, shape::descending, shape::late_peak}) {
      // about where a sample pays, and where survivors are narrowed down
      compare<TestType>(random, "filter", which, 1020 + random() % 10, 1 + random() % 1000);
      compare<TestType>(random, "filter", which, 4000 + random() % 200, 1 + random() % 2048);
      if (!zenith_test::is_drawn("survivors", random())) continue;
      compare<TestType>(random, "filter", which, 9000 + random() % 9000, 1000 + random() % 1049);
      // where the groups share all keys, of which many survive when they are sorted
      const std::size_t k = sizeof(TestType) == 4 ? 440 + random() % 60 : 900 + random() % 100;
      compare<TestType>(random, "filter", which, 14500 + random() % 3000, k);
    }
  });
}

TEMPLATE_TEST_CASE("the filter in several launches is clean and right", "[top_k]", float, std::uint64_t) {
  zenith_test::register_emulated_cuda();
  zenith::simt_engine::with_seeds(1, [&](std::uint64_t seed) {
    CAPTURE(seed);
    generator random(seed);
    const std::size_t k = 2049 + random() % 50;
    const std::size_t count = 26000 + random() % 1000;
    zenith::top_k_statistics statistics;
    const placing where{true, seed % 2 == 0, seed % 3};
    for (const auto which : {shape::random, shape::few_values, shape::late_peak}) {
      compare<TestType>("filter", make_keys<TestType>(which, count, random), k, {.statistics = &statistics}, where);
    }
    compare<TestType>("filter", keys_that_mislead<TestType>(count, k, random), k, {.statistics = &statistics}, where);
    CHECK(statistics.reads > 2);
  });
}

TEST_CASE("host memory handed over as device memory is found", "[top_k]") {
  zenith_test::register_emulated_cuda();
  const auto on = zenith::make_executor("cuda-emulated");
  std::vector<float> keys(100, 1.0F);
  std::vector<float> out(3);
  std::vector<std::uint32_t> indices(3);
  for (const auto& strategy : strategies()) {
    CAPTURE(strategy);
    CHECK_THROWS_AS(zenith::top_k(on, zenith::device_span<const float>(keys.data(), keys.size()),
                                  zenith::device_span<float>(out.data(), 3),
                                  zenith::device_span<std::uint32_t>(indices.data(), 3), {.strategy = strategy}),
                    zenith::simt_engine::fault);
  }
}

TEST_CASE("the emulated device is one device, and never chosen", "[top_k]") {
  zenith_test::register_emulated_cuda();
  zenith_test::register_emulated_cuda();
  CHECK_THROWS_AS(zenith::make_executor("cuda-emulated:1"), zenith::error);
  CHECK(zenith::find_backend("cuda-emulated").default_profile == nullptr);
}

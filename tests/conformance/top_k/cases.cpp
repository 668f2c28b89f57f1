// The cases that every target is put through.

#include <algorithm>
#include <cmath>

#include <catch.hpp>
#include <suite.hpp>
#include <types.hpp>

using namespace conformance;

namespace {

bool nothing_to_run_on() { return the_suite().targets.empty(); }

bool has_device_targets() {
  return std::ranges::find(the_suite().targets, zenith::memory_space::device, &zenith_test::target::memory) !=
         the_suite().targets.end();
}

}  // namespace

TEMPLATE_TEST_CASE("every size and k", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const auto size : interesting_sizes()) {
    random_source random{zenith_test::seed_of("sizes", number++)};
    const auto all = distributions<TestType>();
    auto input = make_column<TestType>(all[random() % all.size()], size, random);
    for (const auto k : interesting_ks(size)) run_everywhere(seen, input, random_request(random, k), random);
  }
  seen.require_none();
  CHECK(seen.cases() > 0);
}

TEMPLATE_TEST_CASE("every distribution in both directions", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  if (nothing_to_run_on()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t size : {97, 1025, 20011, 150001}) {
    if (size > the_suite().most_items) continue;
    for (const auto which : distributions<TestType>()) {
      random_source random{zenith_test::seed_of("distributions", number++)};
      auto input = make_column<TestType>(which, size, random);
      for (const std::size_t k : {std::size_t{1}, std::size_t{17}, std::size_t{1024}, size / 3}) {
        if (k > size) continue;
        for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
          auto asked = random_request(random, k);
          asked.select = select;
          run_everywhere(seen, input, asked, random);
        }
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("every policy on NaN", "[top_k]", float32, float64) {
  if (nothing_to_run_on()) return;
  verdict seen;
  random_source random{zenith_test::seed_of("nan", 0)};
  for (const std::size_t size : {1, 2, 100, 5000, 70001}) {
    if (size > the_suite().most_items) continue;
    for (const auto which :
         {distribution::specials, distribution::some_nans, distribution::mostly_nans, distribution::all_nans}) {
      auto input = make_column<TestType>(which, size, random);
      for (const auto nans : {zenith::nan_policy::last, zenith::nan_policy::first, zenith::nan_policy::reject}) {
        for (const auto select : {zenith::selection::largest, zenith::selection::smallest}) {
          for (const std::size_t k : {std::size_t{1}, size / 20 + 1, size}) {
            auto asked = random_request(random, k);
            asked.nans = nans;
            asked.select = select;
            run_everywhere(seen, input, asked, random);
          }
        }
      }
    }
    // one NaN, wherever it stands, is enough to reject
    auto keys = make_keys<TestType>(distribution::uniform, size, random);
    keys[random() % size] = nan_key<TestType>(random);
    column<TestType> input("one_nan", keys, 0);
    for (const auto nans : {zenith::nan_policy::last, zenith::nan_policy::first, zenith::nan_policy::reject}) {
      auto asked = random_request(random, 1);
      asked.nans = nans;
      run_everywhere(seen, input, asked, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("ties that may fall either way", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  if (nothing_to_run_on()) return;
  verdict seen;
  random_source random{zenith_test::seed_of("ties", 0)};
  for (const auto which : {distribution::few_values, distribution::all_equal, distribution::organ_pipe}) {
    auto input = make_column<TestType>(which, std::min<std::size_t>(20011, the_suite().most_items), random);
    for (const std::size_t k : {1, 100, 3000}) {
      if (k > input.count()) continue;
      auto asked = random_request(random, k);
      asked.ties = zenith::tie_break::any;
      run_everywhere(seen, input, asked, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("device spans", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  if (!has_device_targets()) return;
  verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t size : {0, 1, 33, 1023, 4097, 65537, 1000003}) {
    if (size > the_suite().most_items) continue;
    random_source random{zenith_test::seed_of("device", number++)};
    const auto all = distributions<TestType>();
    for (int repeat = 0; repeat < 4; ++repeat) {
      auto input = make_column<TestType>(all[random() % all.size()], size, random);
      for (const auto k : interesting_ks(size)) {
        auto asked = random_request(random, k);
        asked.on_device = true;
        run_everywhere(seen, input, asked, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("large inputs", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  if (nothing_to_run_on()) return;
  verdict seen;
  random_source random{zenith_test::seed_of("large", 0)};
  const std::size_t size = the_suite().most_items - 5;
  constexpr distribution candidates[] = {distribution::uniform,       distribution::ascending,
                                         distribution::all_equal,     distribution::rising_blocks,
                                         distribution::bucket_killer, distribution::late_peak};
  auto input = make_column<TestType>(candidates[random() % std::size(candidates)], size, random);
  auto asked = random_request(random, 1);
  asked.nans = zenith::nan_policy::last;
  for (const std::size_t k : {std::size_t{1}, std::size_t{1000}, size / 32}) {
    asked.k = k;
    run_everywhere(seen, input, asked, random);
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("random cases", "[top_k]", ZENITH_EVERY_KEY_TYPE) {
  if (nothing_to_run_on()) return;
  verdict seen;
  const bool has_device = has_device_targets();
  zenith_test::for_a_while("random", the_suite().random_seconds, [&](random_source& random) {
    // sizes and k by magnitude: as many small ones as large ones
    const auto magnitude = [&](std::size_t most) {
      const double drawn = std::uniform_real_distribution<>{0, std::log(static_cast<double>(most) + 1)}(random);
      return std::min(most, static_cast<std::size_t>(std::exp(drawn)));
    };
    const auto size = magnitude(std::min<std::size_t>(the_suite().most_items, 300000));
    const auto all = distributions<TestType>();
    auto input = make_column<TestType>(all[random() % all.size()], size, random);
    auto asked = random_request(random, magnitude(size));
    asked.on_device = has_device && random() % 3 == 0;
    run_everywhere(seen, input, asked, random);
  });
  seen.require_none();
}

// The cases that every target is put through.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <catch.hpp>
#include <packed_suite.hpp>
#include <types.hpp>

using namespace conformance;
using namespace conformance::packed;

#define ZENITH_EVERY_PACKABLE_TYPE int32, uint32, int64, uint64

TEMPLATE_TEST_CASE("every length in every encoding", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (const auto length : interesting_lengths()) {
    for (const auto& as : every_manner) {
      random_source random{zenith_test::seed_of("lengths", number++)};
      auto data = make_sample<TestType>(some_shape(random), length, some_width<TestType>(random), as, random);
      run_everywhere(seen, data, random);
    }
  }
  seen.require_none();
  CHECK((seen.cases() > 0 || the_suite().targets.empty()));
}

TEMPLATE_TEST_CASE("every width in every encoding", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (unsigned width = 0; width <= sizeof(TestType) * 8; ++width) {
    for (const auto& as : every_manner) {
      random_source random{zenith_test::seed_of("widths", number++)};
      const auto length = std::min<std::size_t>(random() % 5000, the_suite().most_items);
      auto data = make_sample<TestType>(shape::width, length, width, as, random);
      run_everywhere(seen, data, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("words of one width, whole groups of them", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (unsigned width = 0; width <= 32; ++width) {
    for (const auto one : {shape::width, shape::greatest, shape::rarely_mixed, shape::outliers, shape::lone_outliers}) {
      for (const bool patches : {true, false}) {
        random_source random{zenith_test::seed_of("one width", number++)};
        const manner as{zenith::encoding::frame_of_reference, 4, patches};
        const auto length = std::min<std::size_t>(4096 + random() % 3000, the_suite().most_items);
        auto data = make_sample<TestType>(one, length, width, as, random);
        run_everywhere(seen, data, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("long words that differ in their last bits", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  using U = std::make_unsigned_t<TestType>;
  if (the_suite().most_items < 2 * zenith::packed_group_items) return;
  verdict seen;
  std::uint64_t number = 0;
  for (unsigned width = 15; width <= 32; ++width) {
    for (const bool are_great : {true, false}) {
      random_source random{zenith_test::seed_of("last bits", number++)};
      const U most = static_cast<U>(~U{0}) >> (sizeof(U) * 8 - width);
      // of signed types all bits together go from the least value on
      const U origin = width == sizeof(U) * 8 ? static_cast<U>(std::numeric_limits<TestType>::min()) : U{0};
      // every eighth is greater than all, or less, each group's by little more than the one's before it
      std::vector<TestType> values(2 * zenith::packed_group_items);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto last = static_cast<U>(i % 8 == 4 ? 63 - i / 256 : 64 + random() % 64);
        // in every miniblock, so that references stay and the width, too
        const bool is_other = i % 8 != 4 && (i % zenith::packed_miniblock_items == 0 || random() % 20 == 0);
        const U word = static_cast<U>(is_other ? (are_great ? U{0} : most) : are_great ? most - last : last);
        values[i] = static_cast<TestType>(static_cast<U>(origin + word));
      }
      const manner as{zenith::encoding::frame_of_reference, 4, false};
      sample<TestType> data("last bits", values, as, random() % 5);
      // else groups are not decoded by the code for words of one width
      CAPTURE(are_great);
      REQUIRE(unsigned{data.view().layout().one_width} == width);
      run_everywhere(seen, data, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("every shape in every encoding", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const auto& as : every_manner) {
      random_source random{zenith_test::seed_of("shapes", number++)};
      const auto length = std::min<std::size_t>(random() % 5000, the_suite().most_items);
      auto data = make_sample<TestType>(one, length, some_width<TestType>(random), as, random);
      run_everywhere(seen, data, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("words of few bytes, of either sign", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (const unsigned width : {2, 5, 7, 8, 12, 15, 16, 30}) {
    for (const auto one : {shape::normal, shape::negative}) {
      for (const auto kind : {zenith::encoding::null_suppression_fixed, zenith::encoding::null_suppression_variable}) {
        random_source random{zenith_test::seed_of("few bytes", number++)};
        const auto length = std::min<std::size_t>(1 + random() % 3000, the_suite().most_items);
        auto data = make_sample<TestType>(one, length, width, manner{kind}, random);
        run_everywhere(seen, data, random);
      }
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("bits that are no value's", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (const auto& as : every_manner) {
    for (const std::size_t length : {1, 33, 129, 700, 2049, 5000}) {
      random_source random{zenith_test::seed_of("scribbles", number++)};
      sample<TestType> data("scribbled",
                            make_values<TestType>(shape::width, length, some_width<TestType>(random), random), as,
                            random() % 5, &random);
      run_everywhere(seen, data, random);
    }
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("long columns", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  verdict seen;
  std::uint64_t number = 0;
  for (const auto& as : every_manner) {
    random_source random{zenith_test::seed_of("long", number++)};
    const auto length = the_suite().most_items - random() % (the_suite().most_items / 2);
    auto data = make_sample<TestType>(some_shape(random), length, some_width<TestType>(random), as, random);
    run_everywhere(seen, data, random);
  }
  seen.require_none();
}

TEMPLATE_TEST_CASE("random cases", "[packed_column]", ZENITH_EVERY_PACKABLE_TYPE) {
  if (the_suite().targets.empty()) return;
  verdict seen;
  zenith_test::for_a_while("random", the_suite().random_seconds, [&](random_source& random) {
    // lengths by magnitude: as many short ones as long ones
    const auto most = static_cast<double>(std::min<std::size_t>(the_suite().most_items, 50000));
    const double drawn = std::uniform_real_distribution<>{0, std::log(most + 1)}(random);
    auto data = make_sample<TestType>(some_shape(random), static_cast<std::size_t>(std::exp(drawn) - 1),
                                      some_width<TestType>(random), some_manner(random), random);
    run_everywhere(seen, data, random);
  });
  seen.require_none();
}

// What is refused, and that nothing is written then.

#include <catch.hpp>
#include <guarded.hpp>
#include <packed_suite.hpp>
#include <types.hpp>
#include <zenith/error.hpp>

using namespace conformance;
using namespace conformance::packed;
using zenith_test::guarded;

namespace {

template <class Call>
void refuses(zenith::error_code code, std::string_view word, Call&& call) {
  try {
    call();
    FAIL_CHECK("did not throw");
  } catch (const zenith::error& thrown) {
    INFO(thrown.what());
    CHECK(zenith::to_string(thrown.code()) == zenith::to_string(code));
    CHECK(std::string_view{thrown.what()}.find(word) != std::string_view::npos);
  }
}

constexpr auto invalid = zenith::error_code::invalid_argument;

template <class T, class Column>
void refuse_wrong_sizes(const zenith_test::target& on, const Column& column) {
  const std::size_t count = column.size();
  guarded<T> out(count + 2);
  const auto one_more = out.span().first(count + 1);
  refuses(invalid, std::to_string(count), [&] { zenith::unpack(on.on, column, one_more); });
  refuses(invalid, "unpack", [&] { zenith::unpack(on.on, column, 0, one_more); });
  refuses(invalid, "unpack", [&] { zenith::unpack(on.on, column, count + 1, out.span().first(0)); });
  refuses(invalid, "unpack", [&] { zenith::unpack(on.on, column, count, out.span().first(1)); });
  refuses(invalid, "unpack", [&] { zenith::unpack(on.on, column, ~std::uint64_t{0}, out.span().first(2)); });
  CHECK(out.is_unwritten());

  guarded<std::uint64_t> words((count + 63) / 64 + 1);
  refuses(invalid, "words", [&] { (void)zenith::select_bitmap(on.on, column, T{0}, T{1}, words.span()); });
  refuses(invalid, "words", [&] { (void)zenith::select_bitmap(on.on, column, T{1}, T{0}, words.span()); });
  if (count > 0) {
    refuses(invalid, "words", [&] { (void)zenith::select_bitmap(on.on, column, T{0}, T{1}, words.span().first(0)); });
  }
  CHECK(words.is_unwritten());

  guarded<std::uint32_t> indices(count + 1);
  if (offers(on, "packed_top_k")) {
    refuses(invalid, "k is " + std::to_string(count + 1),
            [&] { zenith::top_k(on.on, column, one_more, indices.span()); });
    refuses(invalid, "both must have k",
            [&] { zenith::top_k(on.on, column, out.span().first(count), indices.span()); });
    refuses(zenith::error_code::unsupported, "strategy", [&] {
      zenith::top_k(on.on, column, out.span().first(count), indices.span().first(count), {.strategy = "sort"});
    });
  }
  CHECK(out.is_unwritten());
  CHECK(indices.is_unwritten());
}

}  // namespace

TEMPLATE_TEST_CASE("wrong sizes are refused", "[packed_column]", int32, uint32, int64, uint64) {
  random_source random{zenith_test::seed_of("refused", 0)};
  for (const std::size_t count : {0, 1, 1000}) {
    auto data = make_sample<TestType>(shape::width, count, 7, some_manner(random), random);
    for (const auto& on : the_suite().targets) {
      INFO(on.name() << " " << data.describe());
      refuse_wrong_sizes<TestType>(on, data.view());
      if (on.memory == zenith::memory_space::device) {
        refuse_wrong_sizes<TestType>(on, zenith::packed_device_column<TestType>(on.on, data.view()));
      }
    }
  }
}

TEMPLATE_TEST_CASE("foreign options are refused", "[packed_column]", int32, uint32, int64, uint64) {
  const std::vector<TestType> values(300);
  for (const auto& on : the_suite().targets) {
    INFO(on.name());
    for (const int lanes : {-4, 0, 1, 5, 32}) {
      refuses(invalid, "lanes",
              [&] { (void)zenith::pack(on.on, values, zenith::encoding::vertical, {.lanes = lanes}); });
    }
    refuses(invalid, "encoding", [&] { (void)zenith::pack(on.on, values, static_cast<zenith::encoding>(8)); });
    refuses(invalid, "encoding", [&] { (void)zenith::pack(on.on, values, static_cast<zenith::encoding>(255)); });
  }
}

TEMPLATE_TEST_CASE("columns and outputs in different memories are refused", "[packed_column]", int32, uint32, int64,
                   uint64) {
  random_source random{zenith_test::seed_of("memories", 0)};
  auto data = make_sample<TestType>(shape::width, 1000, 7, some_manner(random), random);
  for (const auto& on : the_suite().targets) {
    INFO(on.name() << " " << data.describe());
    if (on.memory != zenith::memory_space::device) {
      refuses(invalid, "", [&] { (void)zenith::packed_device_column<TestType>(on.on, data.view()); });
      continue;
    }
    const zenith::packed_device_column<TestType> there(on.on, data.view());
    refuses(invalid, "device", [&] { (void)zenith::sum(zenith::reference(), there); });
    zenith::array<TestType> out(on.on, there.size());
    refuses(invalid, "packed_device_column", [&] { zenith::unpack(on.on, data.view(), out.device()); });
  }
}

TEMPLATE_TEST_CASE("the form of top-k that returns a value", "[packed_column]", int32, uint32, int64, uint64) {
  random_source random{zenith_test::seed_of("value", 0)};
  auto data = make_sample<TestType>(shape::few_distinct, 3001, 20, some_manner(random), random);
  const auto expected = zenith::top_k(zenith::reference(), data.values(), 40);
  for (const auto& on : the_suite().targets) {
    if (!offers(on, "packed_top_k")) continue;
    INFO(on.name() << " " << data.describe());
    const auto best = zenith::top_k(on.on, data.view(), 40, {.strategy = "tiles"});
    CHECK(best.keys == expected.keys);
    CHECK(best.indices == expected.indices);
    CHECK(best.backend == on.on.backend());
    CHECK(best.strategy == "tiles");
    CHECK(zenith::top_k(on.on, data.view(), 0).keys.empty());
  }
}

// What is refused, and that nothing is written then.

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <catch.hpp>
#include <guarded.hpp>
#include <packed_suite.hpp>
#include <types.hpp>
#include <zenith/backend.hpp>
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
  refuses(invalid, "unpack: out has", [&] { zenith::unpack(on.on, column, one_more); });
  refuses(invalid, "unpack: first is 0 and out has", [&] { zenith::unpack(on.on, column, 0, one_more); });
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
      zenith::top_k(on.on, column, out.span().first(count), indices.span().first(count), {.strategy = "bitonic"});
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

TEMPLATE_TEST_CASE("packing into a column uses its memory again", "[packed_column]", int32, uint32, int64, uint64) {
  random_source random{zenith_test::seed_of("again", 0)};
  const auto large = make_values<TestType>(shape::width, 30000, 20, random);
  const auto small = make_values<TestType>(shape::width, 700, 5, random);
  for (const auto& on : the_suite().targets) {
    if (!offers(on, "pack")) continue;
    INFO(on.name() << " ZENITH_SEED=" << zenith_test::seed());
    zenith::packed_column<TestType> column;
    const auto holds = [&](const std::vector<TestType>& values) {
      const auto expected = zenith::pack(zenith::reference(), values);
      return std::ranges::equal(column.bytes(), expected.bytes()) && column.size() == values.size() &&
             zenith::packed_view<TestType>::parse(column.bytes()).get(values.size() - 1) == values.back();
    };
    zenith::pack_into(on.on, small, column);
    CHECK(holds(small));
    zenith::pack_into(on.on, large, column);
    CHECK(holds(large));
    const auto* const memory = column.bytes().data();
    zenith::pack_into(on.on, small, column);
    CHECK(holds(small));
    zenith::pack_into(on.on, large, column);
    CHECK(holds(large));
    CHECK(column.bytes().data() == memory);

    // a column that was moved from has no memory
    auto other = std::move(column);
    zenith::pack_into(on.on, small, column);
    CHECK(holds(small));
    CHECK(column.bytes().data() != memory);
    column = std::move(other);
    CHECK(column.bytes().data() == memory);
    zenith::pack_into(on.on, large, other);
    CHECK(other.bytes().data() != memory);
    CHECK(holds(large));
  }
}

TEMPLATE_TEST_CASE("packing that is refused leaves the column as it was", "[packed_column]", int32, uint32, int64,
                   uint64) {
  random_source random{zenith_test::seed_of("as it was", 0)};
  const auto values = make_values<TestType>(shape::width, 3000, 20, random);
  const std::vector<TestType> others(300);
  for (const auto& on : the_suite().targets) {
    INFO(on.name());
    auto column = zenith::pack(zenith::reference(), values);
    const auto* const memory = column.bytes().data();
    const std::vector<std::byte> before(column.bytes().begin(), column.bytes().end());
    refuses(invalid, "lanes",
            [&] { zenith::pack_into(on.on, others, column, zenith::encoding::vertical, {.lanes = 5}); });
    refuses(invalid, "encoding", [&] { zenith::pack_into(on.on, others, column, static_cast<zenith::encoding>(8)); });
    CHECK(column.size() == values.size());
    CHECK(column.bytes().data() == memory);
    CHECK(std::ranges::equal(column.bytes(), before));
  }
}

namespace {

void refuse(const zenith::execution& /*on*/, const zenith::pack_call& /*call*/) {
  throw zenith::error(zenith::error_code::out_of_memory, "no scratch is to be had");
}
void fail_halfway(const zenith::execution& /*on*/, const zenith::pack_call& call) {
  call.allocate(call.context, 64)[0] = std::byte{1};
  throw zenith::error(zenith::error_code::device_failure, "the device is gone");
}

}  // namespace

TEST_CASE("a column whose packing fails holds what it held, or nothing", "[checker]") {
  static constexpr zenith::kernel refusing[] = {zenith::make_kernel<zenith::pack_call, refuse>("group_encode")};
  static constexpr zenith::kernel failing[] = {zenith::make_kernel<zenith::pack_call, fail_halfway>("group_encode")};
  static constexpr zenith::backend backends[] = {
      {.name = "refusing", .description = "has no scratch", .needs = "nothing", .kernels = refusing},
      {.name = "failing", .description = "fails halfway", .needs = "nothing", .kernels = failing}};
  for (const auto& one : backends) zenith::register_backend(one);
  const std::vector<std::int32_t> values{3, 1, 2};
  auto column = zenith::pack(zenith::reference(), values);
  const auto* const memory = column.bytes().data();
  refuses(zenith::error_code::out_of_memory, "scratch",
          [&] { zenith::pack_into(zenith::make_executor("refusing"), values, column); });
  CHECK(column.size() == 3);
  CHECK(column.get(0) == 3);
  refuses(zenith::error_code::device_failure, "gone",
          [&] { zenith::pack_into(zenith::make_executor("failing"), values, column); });
  CHECK(column.empty());
  CHECK(column.bytes().empty());
  CHECK(zenith::sum(zenith::reference(), column) == 0);
  zenith::pack_into(zenith::reference(), values, column);
  CHECK(column.get(2) == 2);
  CHECK(column.bytes().data() == memory);
}

namespace {

// A device whose memory is the host's, but nobody may know.
void* allocate_fake(const zenith::execution& /*on*/, std::size_t bytes) { return ::operator new(bytes); }
void deallocate_fake(const zenith::execution& /*on*/, void* pointer, std::size_t /*bytes*/) noexcept {
  ::operator delete(pointer);
}
void copy_fake(const zenith::execution& /*on*/, void* to, zenith::memory_space /*to_space*/, const void* from,
               zenith::memory_space /*from_space*/, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
void wait_fake(const zenith::execution& /*on*/) {}
// By the kind of encoding: before or after the memory was asked for.
void fail_on_device(const zenith::execution& /*on*/, const zenith::device_pack_call& call) {
  if (call.kind != zenith::encoding::plain) call.allocate(call.context, 64)[0] = std::byte{1};
  throw zenith::error(zenith::error_code::device_failure, "the device is gone");
}

}  // namespace

TEST_CASE("a device column whose packing fails holds what it held, or nothing", "[checker]") {
  static constexpr zenith::kernel failing[] = {
      zenith::make_kernel<zenith::device_pack_call, fail_on_device>("group_encode")};
  static constexpr zenith::backend backend{.name = "failing-device",
                                           .description = "fails",
                                           .needs = "nothing",
                                           .memory = zenith::memory_space::device,
                                           .kernels = failing,
                                           .allocate = allocate_fake,
                                           .deallocate = deallocate_fake,
                                           .copy = copy_fake,
                                           .synchronize = wait_fake};
  zenith::register_backend(backend);
  const auto on = zenith::make_executor("failing-device");
  const std::vector<std::int32_t> values{3, 1, 2};
  const auto expected = zenith::pack(zenith::reference(), values);
  zenith::packed_device_column<std::int32_t> column(on, expected.view());
  refuses(zenith::error_code::device_failure, "gone",
          [&] { zenith::pack_into(on, values, column, zenith::encoding::plain); });
  CHECK(std::ranges::equal(column.to_host().bytes(), expected.bytes()));
  refuses(zenith::error_code::device_failure, "gone",
          [&] { zenith::pack_into(on, values, column, zenith::encoding::delta); });
  CHECK(column.empty());
  CHECK(column.to_host().bytes().empty());
  CHECK(column.to_host().empty());
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
    using device_column = zenith::packed_device_column<TestType>;
    refuses(invalid, "lanes",
            [&] { (void)device_column::pack(on.on, values, zenith::encoding::vertical, {.lanes = 5}); });
    refuses(invalid, "encoding", [&] { (void)device_column::pack(on.on, values, static_cast<zenith::encoding>(8)); });
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
      refuses(invalid, "device",
              [&] { (void)zenith::packed_device_column<TestType>::pack(on.on, std::vector<TestType>(10)); });
      continue;
    }
    const zenith::packed_device_column<TestType> there(on.on, data.view());
    refuses(invalid, "device", [&] { (void)zenith::sum(zenith::reference(), there); });
    zenith::array<TestType> out(on.on, there.size());
    refuses(invalid, "packed_device_column", [&] { zenith::unpack(on.on, data.view(), out.device()); });
  }
}

TEST_CASE("the strategies of packed columns have names that say the method") {
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"pack", "group_encode"},       {"pack_on_device", "group_encode"},  {"unpack", "block_decode"},
      {"packed_sum", "fused_reduce"}, {"packed_extremes", "fused_reduce"}, {"packed_select", "fused_bitmap"},
      {"packed_top_k", "filter"},
  };
  for (const auto& on : the_suite().targets) {
    if (on.on.backend() == "reference") continue;
    for (const auto& [operation, name] : expected) {
      INFO(on.name() << " " << operation);
      if (offers(on, operation)) CHECK(strategy_of(on, operation) == name);
    }
  }
}

TEMPLATE_TEST_CASE("the form of top-k that returns a value", "[packed_column]", int32, uint32, int64, uint64) {
  random_source random{zenith_test::seed_of("value", 0)};
  auto data = make_sample<TestType>(shape::few_distinct, 3001, 20, some_manner(random), random);
  const auto expected = zenith::top_k(zenith::reference(), data.values(), 40);
  for (const auto& on : the_suite().targets) {
    if (!offers(on, "packed_top_k")) continue;
    INFO(on.name() << " " << data.describe());
    const auto best = zenith::top_k(on.on, data.view(), 40, {.strategy = strategy_of(on, "packed_top_k")});
    CHECK(best.keys == expected.keys);
    CHECK(best.indices == expected.indices);
    CHECK(best.backend == on.on.backend());
    CHECK(best.strategy == (on.on.backend() == "reference" ? "sort" : "filter"));
    refuses(zenith::error_code::unsupported, "'tiles'",
            [&] { (void)zenith::top_k(on.on, data.view(), 40, {.strategy = "tiles"}); });
    CHECK(zenith::top_k(on.on, data.view(), 0).keys.empty());
  }
}

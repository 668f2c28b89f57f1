// Arrays own memory where their executor says, and let nothing through that lies elsewhere.

#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <pretend_device.hpp>
#include <zenith/zenith.hpp>

using zenith::error_code;
using zenith_test::expect_error;

namespace {

std::vector<int> numbers(std::size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 5);
  return all;
}

zenith::executor on_device() { return zenith::make_executor(unit::pretend_device().name); }

// At the end of a test the device must be as it was.
struct no_leak {
  no_leak() : before(unit::the_device_log().live_allocations) {}
  no_leak(const no_leak&) = delete;
  no_leak& operator=(const no_leak&) = delete;
  ~no_leak() {
    CHECK(unit::the_device_log().live_allocations == before);
    CHECK(unit::the_device_log().fault == "");
  }
  std::size_t before;
};

}  // namespace

TEST_CASE("an array of host memory") {
  const auto values = numbers(1000);
  zenith::array<int> held(zenith::reference(), std::span<const int>(values));
  CHECK(held.size() == 1000);
  CHECK(held.space() == zenith::memory_space::host);
  CHECK(std::ranges::equal(held.host(), values));
  CHECK(reinterpret_cast<std::uintptr_t>(held.host().data()) % 64 == 0);
  held.host()[0] = -1;
  std::vector<int> back(1000);
  held.copy_to(back);
  CHECK(back[0] == -1);
  CHECK(back[999] == 1004);
  expect_error(error_code::invalid_argument, {"device()", "host memory"}, [&] { (void)held.device(); });
}

TEST_CASE("an array of device memory") {
  const no_leak watch;
  const auto values = numbers(1000);
  const zenith::array<int> held(on_device(), std::span<const int>(values));
  CHECK(held.space() == zenith::memory_space::device);
  CHECK(held.device().size() == 1000);
  std::vector<int> back(1000);
  held.copy_to(back);
  CHECK(back == values);
  expect_error(error_code::invalid_argument, {"host()", "device memory"}, [&] { (void)held.host(); });
}

TEST_CASE("arrays move") {
  const no_leak watch;
  const auto values = numbers(10);
  zenith::array<int> first(on_device(), std::span<const int>(values));
  const auto* where = first.device().data();
  zenith::array<int> second(std::move(first));
  CHECK(second.device().data() == where);
  CHECK(second.size() == 10);
  CHECK(first.size() == 0);
  zenith::array<int> third(on_device(), 3);
  third = std::move(second);
  CHECK(third.device().data() == where);
  CHECK(third.size() == 10);
  zenith::array<int> on_host(zenith::reference(), 4);
  on_host = std::move(third);
  CHECK(on_host.device().data() == where);
  auto& self = on_host;
  on_host = std::move(self);
  CHECK(on_host.device().data() == where);
}

TEST_CASE("an array of nothing") {
  const no_leak watch;
  const auto allocations = unit::the_device_log().allocations;
  zenith::array<float> none;
  CHECK(none.size() == 0);
  CHECK(none.host().empty());
  zenith::array<float> empty(on_device(), 0);
  CHECK(empty.device().empty());
  empty.copy_from({});
  empty.copy_to({});
  CHECK(unit::the_device_log().allocations == allocations);
}

TEST_CASE("copies of another length are refused") {
  zenith::array<int> held(zenith::reference(), 10);
  std::vector<int> nine(9);
  expect_error(error_code::invalid_argument, {"array", "9", "10"}, [&] { held.copy_from(nine); });
  expect_error(error_code::invalid_argument, {"array", "9", "10"}, [&] { held.copy_to(nine); });
}

TEST_CASE("memory that cannot be had is out_of_memory") {
  const no_leak watch;
  const auto bytes = std::size_t{1} << 60;
  expect_error(error_code::out_of_memory, {"array"}, [&] { const zenith::array<char> a(zenith::reference(), bytes); });
  expect_error(error_code::out_of_memory, {}, [&] { const zenith::array<char> a(on_device(), bytes); });
}

TEST_CASE("a count whose bytes do not fit a size is out_of_memory, not a small array") {
  const auto count = std::numeric_limits<std::size_t>::max() / 4;  // 8 * count wraps round to a small number
  expect_error(error_code::out_of_memory, {"array"},
               [&] { const zenith::array<double> a(zenith::reference(), count + 2); });
}

TEST_CASE("top_k over device spans") {
  const no_leak watch;
  const std::vector<float> values{1, 5, 2, 5, 3};
  const zenith::array<float> keys(on_device(), std::span<const float>(values));
  zenith::array<float> best(on_device(), 3);
  zenith::array<std::uint32_t> indices(on_device(), 3);
  const auto run = zenith::top_k(on_device(), keys.device(), best.device(), indices.device());
  CHECK(run.backend == "pretend");
  std::vector<float> seen(3);
  std::vector<std::uint32_t> seen_indices(3);
  best.copy_to(seen);
  indices.copy_to(seen_indices);
  CHECK(seen == std::vector<float>{5, 5, 3});
  CHECK(seen_indices == std::vector<std::uint32_t>{1, 3, 4});
}

TEST_CASE("the rejecting policy over device spans leaves no memory behind and the outputs untouched") {
  const no_leak watch;
  std::vector<double> values{1, 5, std::numeric_limits<double>::quiet_NaN(), 5, 3};
  zenith::array<double> keys(on_device(), std::span<const double>(values));
  const std::vector<double> before{-1, -2};
  zenith::array<double> best(on_device(), std::span<const double>(before));
  zenith::array<std::int64_t> indices(on_device(), 2);
  const zenith::top_k_options options{.nans = zenith::nan_policy::reject};
  const std::size_t mark = unit::the_device_log().live_allocations;
  expect_error(error_code::invalid_argument, {"keys", "NaN"},
               [&] { zenith::top_k(on_device(), keys.device(), best.device(), indices.device(), options); });
  CHECK(unit::the_device_log().live_allocations == mark);
  std::vector<double> seen(2);
  best.copy_to(seen);
  CHECK(seen == before);
  values[2] = 9;
  keys.copy_from(values);
  zenith::top_k(on_device(), keys.device(), best.device(), indices.device(), options);
  best.copy_to(seen);
  CHECK(seen == std::vector<double>{9, 5});
}

TEST_CASE("device spans on a backend of host memory are refused") {
  const no_leak watch;
  std::vector<float> values{1, 2};
  std::vector<std::uint32_t> index{77};
  std::vector<float> best{-1};
  expect_error(error_code::invalid_argument, {"keys", "device_span"}, [&] {
    zenith::top_k(zenith::reference(), zenith::device_span<float>(values.data(), 2),
                  zenith::device_span<float>(best.data(), 1), zenith::device_span<std::uint32_t>(index.data(), 1));
  });
  CHECK(best[0] == -1);
  CHECK(index[0] == 77);
}

TEST_CASE("host spans on a device backend") {
  const no_leak watch;
  const std::vector<std::int64_t> values{4, -9, 12};
  const auto best = zenith::top_k(on_device(), values, 2, {.select = zenith::selection::smallest});
  CHECK(best.keys == std::vector<std::int64_t>{-9, 4});
  CHECK(best.indices == std::vector<std::uint64_t>{1, 0});
}

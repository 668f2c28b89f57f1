// The suite of the device context on the CPU's, with every instruction set and several numbers of threads.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <thread>
#include <utility>
#include <vector>

#include <backends/cpu/context.hpp>
#include <backends/cpu/kernel_launch.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <tests/device/suite.hpp>

namespace zenith::cpu_backend {

namespace sse2::device_suite {
extern const kernel_entry* const family_kernels;
}
namespace avx2::device_suite {
extern const kernel_entry* const family_kernels;
}
#if defined(ZENITH_TEST_AVX512)
namespace avx512::device_suite {
extern const kernel_entry* const family_kernels;
}
#endif

}  // namespace zenith::cpu_backend

namespace {

using namespace zenith;
using suite_context = cpu_backend::context<device_suite::kernels>;

suite_context make_context(const execution& on) {
  return {on, cpu_backend::by_isa(on.isa, {
            cpu_backend::sse2::device_suite::family_kernels, cpu_backend::avx2::device_suite::family_kernels,
#if defined(ZENITH_TEST_AVX512)
                cpu_backend::avx512::device_suite::family_kernels
#endif
          })};
}

}  // namespace

static_assert(device::device_context<suite_context>);

TEST_CASE("every word of the device context on the CPU's") {
  std::uint64_t number = 0;
  const auto run = [&](const zenith_test::target& target, bool brief) {
    const auto faults = device_suite::run_suite(
        [&] { return make_context(target.on.settings()); },
        {.seed = zenith_test::seed_of("device.cpu", number++), .share = zenith_test::share_of_cases(), .brief = brief});
    for (const auto& fault : faults) FAIL_CHECK(target.executor_string + ": " + fault);
    CHECK(faults.empty());
  };
  const auto executors = zenith_test::executors("top_k", {"cpu"});
  for (const auto& target : executors) run(target, true);
  if (zenith_test::scale() >= 1 && !executors.empty()) run(executors.back(), false);
}

TEST_CASE("the CPU wakes no worker for whom a launch has no item") {
  std::atomic<unsigned> workers{0};
  const auto count_worker = [](const void* kernel, const zenith::cpu_backend::launch_worker&) {
    ++**static_cast<std::atomic<unsigned>* const*>(kernel);
  };
  auto* const to = &workers;
  constexpr std::uint64_t much = std::uint64_t{1} << 40;
  const auto workers_of = [&](std::uint64_t count, std::uint64_t bytes, bool is_of_teams) {
    workers = 0;
    zenith::cpu_backend::launch_state scratch(*std::pmr::get_default_resource());
    zenith::cpu_backend::launch_on(8, scratch, {count_worker, &to, count, bytes, 0, is_of_teams});
    return workers.load();
  };
  CHECK(workers_of(0, much, true) == 0);
  CHECK(workers_of(1, much, true) == 1);
  CHECK(workers_of(3, much, true) == 3);
  CHECK(workers_of(100, much, true) == 8);
  CHECK(workers_of(100, 100, true) == 1);
  CHECK(workers_of(1, much, false) == 1);
  CHECK(workers_of(1024, much, false) == 1);
  CHECK(workers_of(1025, much, false) == 2);
  CHECK(workers_of(1 << 20, much, false) == 8);
}

TEST_CASE("workers of the CPU that are awake get short launches, too") {
  std::atomic<int> workers{0};
  const auto count_worker = [](const void* kernel, const zenith::cpu_backend::launch_worker&) {
    ++**static_cast<std::atomic<int>* const*>(kernel);
  };
  auto* const to = &workers;
  zenith::cpu_backend::launch_state state(*std::pmr::get_default_resource());
  const auto workers_of = [&](int threads, std::uint64_t bytes) {
    workers = 0;
    zenith::cpu_backend::launch_on(threads, state, {count_worker, &to, 100, bytes, 0, true});
    return workers.load();
  };
  constexpr std::uint64_t much = std::uint64_t{1} << 40;
  constexpr std::uint64_t little = 300 * 1024;
  CHECK(workers_of(8, little) == 1);
  int most = 0;
  for (int i = 0; i < 1000 && most < 2; ++i) {  // the system may take a core away between both
    REQUIRE(workers_of(2, much) == 2);
    most = workers_of(8, little);
    REQUIRE(most <= 2);
  }
  CHECK(most == (zenith::cpu_backend::launch_state::keeps_workers() ? 2 : 1));
  (void)workers_of(8, much);
  CHECK(workers_of(8, little) <= 3);  // no more than it is worth
  CHECK(workers_of(8, 1000) == 1);
  (void)workers_of(8, much);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(workers_of(8, little) == 1);
}

TEST_CASE("a worker of the CPU takes its own share of a launch first, and then what others leave") {
  using zenith::cpu_backend::launch_share;
  using chunk = std::pair<std::uint64_t, std::uint64_t>;
  std::array<launch_share, 3> shares{launch_share{0, 2}, {2, 3}, {3, 5}};
  const auto chunks_of = [&](std::uint32_t id) {
    std::vector<chunk> taken;
    const zenith::cpu_backend::launch_worker worker{id, 3, 23, 5, shares.data(), nullptr};
    zenith::cpu_backend::each_chunk(worker,
                                    [&](std::uint64_t begin, std::uint64_t end) { taken.emplace_back(begin, end); });
    return taken;
  };
  shares[0].next = 1;  // another worker is at it
  CHECK(chunks_of(1) == std::vector<chunk>{{10, 15}, {15, 20}, {20, 23}, {5, 10}});
  CHECK(chunks_of(0).empty());
  CHECK(chunks_of(2).empty());
}

TEST_CASE("each item of a launch on the CPU is some worker's") {
  struct counted {
    std::array<std::atomic<unsigned>, 5000> times{};
  };
  const auto count_items = [](const void* kernel, const zenith::cpu_backend::launch_worker& worker) {
    auto& to = **static_cast<counted* const*>(kernel);
    zenith::cpu_backend::each_chunk(worker, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) ++to.times[i];
    });
  };
  constexpr std::uint64_t much = std::uint64_t{1} << 40;
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::uint64_t count : {1, 2, 7, 1024, 1025, 5000}) {
      for (const bool is_of_teams : {false, true}) {
        counted items;
        auto* const to = &items;
        zenith::cpu_backend::launch_state scratch(*std::pmr::get_default_resource());
        zenith::cpu_backend::launch_on(threads, scratch, {count_items, &to, count, much, 100, is_of_teams});
        CAPTURE(threads, count, is_of_teams);
        CHECK(std::all_of(items.times.begin(), items.times.begin() + count, [](const auto& n) { return n == 1; }));
        CHECK(std::all_of(items.times.begin() + count, items.times.end(), [](const auto& n) { return n == 0; }));
      }
    }
  }
}

TEST_CASE("launches of a call on the CPU share their scratch") {
  alignas(64) std::array<std::byte, 4096> memory{};
  std::pmr::monotonic_buffer_resource once(memory.data(), memory.size(), std::pmr::null_memory_resource());
  zenith::cpu_backend::launch_state scratch(once);
  CHECK(scratch.reserve(0) == nullptr);
  auto* const first = scratch.reserve(40);
  REQUIRE(first != nullptr);
  CHECK(scratch.reserve(40) == first);
  CHECK(scratch.reserve(7) == first);
  CHECK(scratch.reserve(0) == first);
  CHECK_THROWS(scratch.reserve(41));  // which is all that this memory has
  CHECK(scratch.reserve(0) == nullptr);
}

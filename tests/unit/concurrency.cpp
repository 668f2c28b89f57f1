// Any number of threads may call with their own executors, wherever those threads come from.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory_resource>
#include <thread>
#include <vector>

#include <catch.hpp>
#include <check.hpp>
#include <inputs.hpp>
#include <settings.hpp>
#include <targets.hpp>
#include <zenith/zenith.hpp>

#if defined(ZENITH_TEST_TBB)
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

using namespace conformance;

namespace {

constexpr std::size_t count = 400'000;

// One input and its ranking, worked out before the threads start.
column<float>& shared_input() {
  static column<float> input = [] {
    random_source random{zenith_test::seed_of("concurrency", 0)};
    column<float> made("few_values", make_keys<float>(distribution::normal, count, random), 0);
    (void)made.ranking(zenith::selection::largest, false);
    (void)made.ranking(zenith::selection::smallest, false);
    return made;
  }();
  return input;
}

std::string fault_of_call(const zenith_test::target& on, std::uint64_t number) {
  request asked;
  asked.k = 1 + number * 37 % 500;
  asked.select = number % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  asked.indices = index_kind::uint32;
  return fault_of(on, shared_input(), asked);
}

std::vector<zenith_test::target> fast_targets() {
  auto all = zenith_test::targets("top_k");
  std::erase_if(all, [](const auto& one) { return one.on.backend() == "reference"; });
  return all;
}

// Calls the library in the middle of a call, on the same thread: as a thread does that takes up another call while it
// waits for its workers.
class calling_resource final : public std::pmr::memory_resource {
 public:
  [[nodiscard]] int calls() const { return calls_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const auto best = zenith::top_k(zenith::cpu({.threads = 1}), shared_input().keys(), 7, {.strategy = "filter"});
    if (best.strategy == "filter") ++calls_;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::atomic<int> calls_{0};  // workers allocate too
};

}  // namespace

TEST_CASE("a call within a call, on one thread, changes nothing of it") {
  calling_resource memory;
  const auto best = zenith::top_k(zenith::cpu({.threads = 2, .memory = &memory}), shared_input().keys(), 100,
                                  {.strategy = "bitonic"});
  CHECK(memory.calls() > 0);
  CHECK(best.strategy == "bitonic");
  const auto& expected = shared_input().ranking(zenith::selection::largest, false);
  CHECK(std::equal(best.indices.begin(), best.indices.end(), expected.indices.begin()));
}

TEST_CASE("eight threads call at once, each with executors of its own") {
  const auto on = fast_targets();
  if (on.empty()) return;
  (void)shared_input();
  std::vector<std::string> faults(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < faults.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 6; ++i) {
          auto mine = on[(t + i * 5) % on.size()];
          mine.on = zenith::make_executor(mine.executor_string);
          if (auto fault = fault_of_call(mine, t * 100 + i); !fault.empty()) faults[t] = std::move(fault);
        }
      });
    }
  }
  for (const auto& fault : faults) CHECK(fault == "");
}

TEST_CASE("eight threads share one executor by copies, automatic ones too") {
  (void)shared_input();
  // without a profile of any device nothing can be chosen
  const bool can_choose = !zenith::machine::local().devices().empty();
  for (const auto& text : {"cpu", can_choose ? "auto" : "reference"}) {
    const auto on = zenith::make_executor(text);
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, mine = on] {
          for (std::size_t i = 1; i < 5; ++i) {
            const auto best = zenith::top_k(mine, shared_input().keys(), i * 10);
            const auto& expected = shared_input().ranking(zenith::selection::largest, false);
            if (!std::equal(best.indices.begin(), best.indices.end(), expected.indices.begin())) ++wrong;
          }
        });
      }
    }
    INFO(text);
    CHECK(wrong == 0);
  }
}

#if defined(ZENITH_TEST_TBB)

TEST_CASE("calls from within a caller's task arena stay in it and leave its settings alone") {
  const auto on = fast_targets();
  (void)shared_input();
  for (const int width : {1, 2, 4}) {
    oneapi::tbb::task_arena arena(width);
    std::vector<std::string> faults(on.size());
    arena.execute([&] {
      oneapi::tbb::parallel_for(std::size_t{0}, on.size(), [&](std::size_t i) { faults[i] = fault_of_call(on[i], i); });
      CHECK(oneapi::tbb::this_task_arena::max_concurrency() == width);
    });
    for (const auto& fault : faults) CHECK(fault == "");
    CHECK(arena.max_concurrency() == width);
  }
}

#endif

// Every wrong call of top_k is refused with a message that names the argument, before anything was written.

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <targets.hpp>
#include <zenith/zenith.hpp>

using zenith::error_code;
using zenith_test::expect_error;

namespace {

// Three keys and memory for results, all of which must be as they were after a call that throws.
struct arguments {
  std::vector<float> keys{3.0F, 1.0F, 2.0F};
  std::vector<float> best{-1.0F, -1.0F, -1.0F, -1.0F, -1.0F};
  std::vector<std::uint32_t> indices{77, 77, 77, 77, 77};

  void check_untouched() const {
    const arguments fresh;
    CHECK(keys == fresh.keys);
    CHECK(best == fresh.best);
    CHECK(indices == fresh.indices);
  }
};

// A span that claims more items than there are: only the claim is looked at.
std::span<const float> claimed(const std::vector<float>& keys, std::size_t count) { return {keys.data(), count}; }

}  // namespace

TEST_CASE("wrong arguments are named, nothing is written") {
  for (const auto& on : zenith_test::executors("top_k")) {
    INFO(on.executor_string);
    arguments given;
    const auto best = std::span{given.best};
    const auto indices = std::span{given.indices};
    expect_error(error_code::invalid_argument, {"top_k", "k is 4", "keys", "3"},
                 [&] { zenith::top_k(on.on, given.keys, best.first(4), indices.first(4)); });
    expect_error(error_code::invalid_argument, {"top_k", "k is 4", "keys", "3"},
                 [&] { (void)zenith::top_k(on.on, given.keys, 4); });
    expect_error(error_code::invalid_argument, {"top_k", "k is negative: -1"},
                 [&] { (void)zenith::top_k(on.on, given.keys, static_cast<std::size_t>(-1)); });
    expect_error(error_code::invalid_argument, {"top_k", "k is 1", "keys", "0"},
                 [&] { (void)zenith::top_k(on.on, std::vector<float>{}, 1); });
    expect_error(error_code::invalid_argument, {"top_k", "out_keys", "2", "out_indices", "1"},
                 [&] { zenith::top_k(on.on, given.keys, best.first(2), indices.first(1)); });
    expect_error(error_code::invalid_argument, {"top_k", "out_keys", "out_indices"},
                 [&] { zenith::top_k(on.on, given.keys, best.first(0), indices.first(3)); });
    expect_error(error_code::unsupported, {"top_k", "options.strategy", "'guess'"},
                 [&] { zenith::top_k(on.on, given.keys, best.first(2), indices.first(2), {.strategy = "guess"}); });
    expect_error(error_code::unsupported, {"top_k", "options.strategy", "''"},
                 [&] { zenith::top_k(on.on, given.keys, best.first(2), indices.first(2), {.strategy = ""}); });
    given.check_untouched();
    CHECK_NOTHROW(zenith::top_k(on.on, given.keys, best.first(0), indices.first(0)));
    given.check_untouched();
  }
}

TEST_CASE("32-bit indices that cannot hold every position are refused") {
  const auto on = zenith::reference();
  arguments given;
  const auto best = std::span{given.best}.first(1);
  std::vector<std::int32_t> signed_index{77};
  const std::size_t most_signed = std::size_t{1} << 31;
  const std::size_t most = std::size_t{1} << 32;
  expect_error(error_code::invalid_argument, {"keys", "out_indices", "2147483649"},
               [&] { zenith::top_k(on, claimed(given.keys, most_signed + 1), best, signed_index); });
  expect_error(error_code::invalid_argument, {"keys", "out_indices", "4294967297"},
               [&] { zenith::top_k(on, claimed(given.keys, most + 1), best, std::span{given.indices}.first(1)); });
  CHECK(signed_index[0] == 77);
  given.check_untouched();
  // no results, no indices that could fail to fit: but the claim is as wrong
  std::vector<std::uint32_t> none;
  expect_error(error_code::invalid_argument, {"out_indices"},
               [&] { zenith::top_k(on, claimed(given.keys, most + 1), best.first(0), none); });
}

TEST_CASE("NaN under the rejecting policy is refused, on every target") {
  for (const auto& on : zenith_test::targets("top_k")) {
    INFO(on.name());
    arguments given;
    given.keys[1] = std::numeric_limits<float>::quiet_NaN();
    const auto best = std::span{given.best}.first(2);
    const auto indices = std::span{given.indices}.first(2);
    expect_error(error_code::invalid_argument, {"top_k", "keys", "NaN", "options.nans"}, [&] {
      zenith::top_k(on.on, given.keys, best, indices, {.nans = zenith::nan_policy::reject, .strategy = on.strategy});
    });
    given.keys[1] = 1.0F;
    given.check_untouched();
    CHECK_NOTHROW(
        zenith::top_k(on.on, given.keys, best, indices, {.nans = zenith::nan_policy::reject, .strategy = on.strategy}));
    CHECK(given.best[0] == 3.0F);
    CHECK(given.indices[1] == 2);
  }
}

TEST_CASE("an error knows what it is") {
  const zenith::error thrown(error_code::device_failure, "the fan stopped", "cuda", 719);
  CHECK(thrown.code() == error_code::device_failure);
  CHECK(thrown.backend() == "cuda");
  CHECK(thrown.native_code() == 719);
  CHECK(std::string_view{thrown.what()}.find("the fan stopped") != std::string_view::npos);
  CHECK(std::string_view{thrown.what()}.find("device_failure") != std::string_view::npos);
  CHECK(std::string_view{thrown.where().file_name()}.ends_with("errors.cpp"));
  CHECK_THROWS_AS(throw thrown, std::runtime_error);
  CHECK(zenith::to_string(error_code::invalid_argument) == "invalid_argument");
  CHECK(zenith::to_string(error_code::out_of_memory) == "out_of_memory");
}

namespace {

// Serves `grants` requests and no more, and counts what was not given back.
class miserly_resource : public std::pmr::memory_resource {
 public:
  explicit miserly_resource(int grants) : grants_(grants) {}
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (grants_.fetch_sub(1) <= 0) {
      refused_ = true;
      throw std::bad_alloc();
    }
    outstanding_ += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) override {
    outstanding_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(pointer, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::atomic<int> grants_;
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<bool> refused_{false};
};

}  // namespace

TEST_CASE("scratch that cannot be had is an error wherever it happens, and nothing leaks") {
  std::vector<double> keys(2'000'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<double>((i * 7919) % 1000003);
  for (const auto* strategy : {"filter", "bitonic"}) {
    for (const int threads : {1, 2}) {
      const auto probe = zenith::cpu({.threads = threads});
      if (zenith::find_kernel(zenith::find_backend("cpu"), "top_k", strategy) == nullptr) continue;
      bool refused = true;
      int grants = 0;
      for (; refused && grants < 200; ++grants) {
        INFO(strategy << ", threads " << threads << ", grants " << grants);
        miserly_resource memory(grants);
        std::vector<double> best(5000, -1.0);
        std::vector<std::uint64_t> indices(5000, 77);
        const auto on = zenith::cpu({.threads = threads, .memory = &memory});
        try {
          zenith::top_k(on, keys, best, indices, {.strategy = strategy});
          CHECK(!memory.refused());
          CHECK(best[0] == 1000002.0);
        } catch (const zenith::error& thrown) {
          CHECK(thrown.code() == error_code::out_of_memory);
          CHECK(thrown.backend() == "cpu");
          CHECK(best == std::vector<double>(5000, -1.0));
          CHECK(indices == std::vector<std::uint64_t>(5000, 77));
        }
        CHECK(memory.outstanding() == 0);
        refused = memory.refused();
      }
      CHECK(!refused);
      CHECK(grants > 1);
    }
  }
}

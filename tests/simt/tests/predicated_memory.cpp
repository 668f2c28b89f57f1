// Predicated top-k by a packed column over the emulated CUDA backend, with each of its allocations failing.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <catch.hpp>
#include <predicated_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <zenith/cuda.hpp>

namespace {

using conformance::predicated::results;

/// Memory of the emulated device that is not there when it is asked for the n-th time.
class failing_memory final : public zenith::cuda_memory_resource {
 public:
  void fail_at(int n) { left_ = n; }
  void fail_never() { left_ = -1; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  void forget() { has_failed_ = false; }
  [[nodiscard]] int live() const { return live_; }

  void* allocate(std::size_t bytes, CUstream_st* /*stream*/) override {
    if (left_ >= 0 && left_-- == 0) {
      has_failed_ = true;
      throw zenith::error(zenith::error_code::out_of_memory, "as the test wants it", "cuda-emulated");
    }
    void* const at = beneath_.target->allocate(beneath_, bytes);
    ++live_;
    return at;
  }
  void deallocate(void* pointer, std::size_t bytes, CUstream_st* /*stream*/) noexcept override {
    beneath_.target->deallocate(beneath_, pointer, bytes);
    --live_;
  }

 private:
  zenith::execution beneath_ = zenith::make_executor("cuda-emulated").settings();
  int left_ = -1;
  int live_ = 0;
  bool has_failed_ = false;
};

zenith::executor executor_with(failing_memory& memory) {
  auto settings = zenith::make_executor("cuda-emulated").settings();
  settings.memory = static_cast<zenith::cuda_memory_resource*>(&memory);
  return zenith::executor(settings);
}

constexpr std::size_t rows = 700;
constexpr std::size_t k = 20;

/// A call writes to `to` and returns how many. Each of its allocations fails in turn, and at last none does.
template <class Call>
void check_allocations(failing_memory& memory, const zenith::top_k_result<float, std::uint32_t>& expected,
                       const Call& call) {
  const int before = memory.live();
  for (int n = 0; n < 1000; ++n) {
    INFO("allocation " << n);
    results<float> to(k);
    std::size_t count = 0;
    bool ran_out = false;
    memory.forget();
    memory.fail_at(n);
    try {
      count = call(to);
    } catch (const zenith::error& fault) {
      ran_out = fault.code() == zenith::error_code::out_of_memory;
    }
    memory.fail_never();
    REQUIRE(memory.live() == before);
    REQUIRE(ran_out == memory.has_failed());
    if (ran_out) {
      CHECK(to.is_unwritten_from(0));
      continue;
    }
    CHECK(n > 3);
    CHECK(count == expected.keys.size());
    CHECK(to.is_unwritten_from(count));
    to.keys.resize(count);
    to.indices.resize(count);
    CHECK(to.keys == expected.keys);
    CHECK(to.indices == expected.indices);
    return;
  }
  FAIL("the call does not end to allocate");
}

}  // namespace

TEST_CASE("emulated predicated top-k by a packed column when memory runs out", "[predicated]") {
  zenith_test::register_emulated_cuda();
  failing_memory memory;
  const auto on = executor_with(memory);
  zenith_test::random_source random{zenith_test::seed_of("predicated.memory", 0)};
  std::vector<float> keys(rows);
  std::vector<std::int32_t> values(rows);
  for (auto& key : keys) key = static_cast<float>(random() % 100);
  for (auto& value : values) value = static_cast<std::int32_t>(random() % 100);
  values[5] = 1000;
  for (const auto kind : {zenith::encoding::frame_of_reference, zenith::encoding::null_suppression_variable}) {
    const auto packed = zenith::pack(zenith::reference(), values, kind);
    const zenith::packed_device_column<std::int32_t> packed_there(on, packed);
    const zenith::array<float> keys_there(on, keys);
    for (const std::int32_t low : {10, 1000}) {  // one row alone is taken: a second pass looks for others
      INFO(zenith::to_string(kind) << " from " << low << " on");
      const auto expected =
          zenith::top_k<std::uint32_t>(zenith::reference(), keys, zenith::where(packed, low, 1000), k);
      check_allocations(memory, expected, [&](results<float>& to) {
        return zenith::top_k(on, keys, zenith::where(packed, low, 1000), std::span(to.keys).first(k),
                             std::span(to.indices).first(k))
            .count;
      });
      const results<float> unwritten(k);
      zenith::array<float> out_keys(on, unwritten.keys);
      zenith::array<std::uint32_t> out_rows(on, unwritten.indices);
      check_allocations(memory, expected, [&](results<float>& to) {
        const auto fetch = [&] {
          out_keys.copy_to(to.keys);
          out_rows.copy_to(to.indices);
        };
        std::size_t count = 0;
        try {
          count = zenith::top_k(on, keys_there.device(), zenith::where(packed_there, low, 1000),
                                out_keys.device().first(k), out_rows.device().first(k))
                      .count;
        } catch (const zenith::error&) {
          fetch();
          throw;
        }
        fetch();
        return count;
      });
    }
  }
}

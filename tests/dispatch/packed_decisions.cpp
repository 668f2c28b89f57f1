#include <cmath>
#include <string_view>
#include <vector>

#include <catch.hpp>

#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>
#include "scenes.hpp"

using namespace zenith;
using zenith_test::fixture;

namespace {

constexpr std::string_view queries[] = {unpack_call::operation, packed_sum_call::operation,
                                        packed_extremes_call::operation, packed_select_call::operation,
                                        packed_top_k_call::operation};

packed_problem problem(std::string_view operation, encoding kind, int log_count, double bits, memory_space space) {
  packed_problem asked;
  asked.operation = operation;
  asked.count = std::uint64_t{1} << log_count;
  asked.bits_per_value = bits;
  asked.kind = kind;
  asked.k = operation == packed_top_k_call::operation ? 32 : 0;
  asked.space = space;
  return asked;
}

double predicted(const packed_problem& asked, const device_profile& on) { return seconds(packed_cost(asked, on), on); }

}  // namespace

TEST_CASE("a packed column in device memory is queried there, whatever its size") {
  const auto here = fixture("server-h200.json");
  for (const auto operation : queries) {
    for (const auto kind : packed_encodings) {
      for (int log_count = 4; log_count <= 34; log_count += 5) {
        const auto decided = decide(problem(operation, kind, log_count, 10, memory_space::device), here);
        CHECK(decided.backend == "cuda");
        CHECK(decided.strategy == "tiles");
        REQUIRE(decided.rejected.size() == 1);
        CHECK(std::isinf(decided.rejected.front().predicted_seconds));
      }
    }
  }
}

TEST_CASE("a packed column on the host stays there behind a slow link") {
  for (const auto operation : queries) {
    for (int log_count = 10; log_count <= 30; log_count += 4) {
      const auto asked = problem(operation, encoding::frame_of_reference, log_count, 12, memory_space::host);
      CHECK(decide(asked, fixture("slow-link.json")).backend == "cpu");
    }
  }
}

TEST_CASE("predictions of packed operations rise with the number of values and with their bits") {
  for (const auto* file : {"server-h200.json", "workstation-pcie4.json", "integrated-gpu.json"}) {
    const auto here = fixture(file);
    for (const auto& device : here.devices()) {
      for (const auto operation : queries) {
        for (const auto kind : packed_encodings) {
          double before = 0;
          // from where every core has work: where another one wakes, a larger problem may take less time
          for (int log_count = 28; log_count <= 36; log_count += 2) {
            const double now = predicted(problem(operation, kind, log_count, 8, memory_space::host), device);
            CHECK(std::isfinite(now));
            CHECK(now >= before);
            before = now;
          }
          const auto narrow = problem(operation, kind, 30, 2, memory_space::host);
          const auto wide = problem(operation, kind, 30, 30, memory_space::host);
          CHECK(predicted(narrow, device) <= predicted(wide, device));
        }
      }
    }
  }
}

TEST_CASE("a column that is read at the speed of memory is summed faster the fewer bits it has") {
  const auto here = fixture("server-h200.json");
  const auto* device = here.find("cuda");
  REQUIRE(device != nullptr);
  const auto asked = [&](double bits) {
    return predicted(problem(packed_sum_call::operation, encoding::frame_of_reference, 30, bits, memory_space::device),
                     *device);
  };
  // half the bytes, half the time, but for what a call costs
  CHECK(asked(16) < 0.55 * asked(32));
  CHECK(asked(16) > 0.45 * asked(32));
}

TEST_CASE("no device, no decision over packed columns") {
  CHECK_THROWS_AS(decide(problem(packed_sum_call::operation, encoding::delta, 20, 8, memory_space::host), machine{}),
                  error);
  // a backend that does not offer the operation is not chosen, however fast it is
  auto devices = fixture("server-h200.json").devices();
  for (auto& one : devices) {
    if (one.backend == "cuda") one.offers = {"top_k/filter"};
  }
  const machine without(devices);
  CHECK(decide(problem(packed_sum_call::operation, encoding::delta, 30, 8, memory_space::host), without).backend ==
        "cpu");
  CHECK_THROWS_AS(decide(problem(packed_sum_call::operation, encoding::delta, 30, 8, memory_space::device), without),
                  error);
}

// The conformance suite of scored top-k over the emulated CUDA backend, at sizes that lanes of fibers get through: the
// text that all backends share, in this backend's context. Strategy "full" hands its scores to the backend's own top-k,
// which takes other ways from 1025 rows on.

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include <catch.hpp>
#include <scored_suite.hpp>
#include <tests/simt/backend/emulated_cuda.hpp>
#include <tests/simt/engine/kernel_words.hpp>

namespace conformance::scored {

const suite& the_suite() {
  static const suite small = [] {
    zenith_test::register_emulated_cuda();
    if (std::getenv("ZENITH_SIMT_SEED") == nullptr) zenith::simt_engine::set_seed(zenith_test::seed());
    return suite{.targets = zenith_test::targets("scored_top_k", {"cuda-emulated"}), .most_rows = 700};
  }();
  return small;
}

}  // namespace conformance::scored

namespace {

using namespace conformance::scored;

template <class T>
question<T> question_of(std::size_t rows, std::size_t k, zenith_test::random_source& random) {
  question<T> asked;
  asked.name = "more than are ranked as they are";
  asked.k = k;
  asked.offset = random() % 4;
  asked.weights = {2, -1, 0.5F};
  for (std::size_t j = 0; j < asked.weights.size(); ++j) {
    asked.columns.emplace_back(rows);
    // few values, so that scores are equal
    for (auto& value : asked.columns.back()) value = static_cast<T>(random() % 100);
  }
  if constexpr (std::is_floating_point_v<T>) asked.columns[1][random() % rows] = std::numeric_limits<T>::quiet_NaN();
  return asked;
}

}  // namespace

TEMPLATE_TEST_CASE("emulated scores that the backend's own top-k selects from", "[scored]", float, double,
                   std::int32_t) {
  auto by_full = the_suite().targets;
  std::erase_if(by_full, [](const zenith_test::target& one) { return one.strategy != "full"; });
  zenith_test::verdict seen;
  std::uint64_t number = 0;
  for (const std::size_t rows : {1025, 7169, 15000}) {
    for (const std::size_t k : {1, 100, 2049}) {
      if (k > rows) continue;
      zenith_test::random_source random{zenith_test::seed_of("scored.own_top_k", number++)};
      auto asked = question_of<TestType>(rows, k, random);
      asked.select = number % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
      asked.nans = number % 3 == 0 ? zenith::nan_policy::first : zenith::nan_policy::last;
      const answer<TestType> expected(asked);
      zenith_test::judge(
          seen, by_full, random, zenith_test::everywhere, [&] { return asked.text(); },
          [&](const zenith_test::place& at) { return fault_of(at.on, asked, expected, at.on_device); });
    }
  }
  seen.require_none();
  CHECK(seen.cases() == 16);
}

TEST_CASE("emulated scored top-k reports what the backend's own top-k counted", "[scored]") {
  static_cast<void>(the_suite());
  const auto on = zenith::make_executor("cuda-emulated");
  const std::vector<float> values(3000, 1);
  const zenith::array<float> there(on, std::span<const float>(values));
  zenith::array<float> scores(on, 10);
  zenith::array<std::uint32_t> rows(on, 10);
  zenith::top_k_statistics found;
  zenith::top_k(on, zenith::device_column_set<float>{there.device()}, std::vector<float>{2}, scores.device(),
                rows.device(), {.strategy = "full", .statistics = &found});
  CHECK(found.variant == "warp tiles");
  CHECK(found.reads > 0);
  CHECK(found.survivors >= 10);
}

// Every public call of every family, with each of its allocations failing.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch.hpp>
#include <settings.hpp>
#include <zenith/zenith.hpp>

#include "failing_memory.hpp"
#include "scenario.hpp"

using zenith_test::check_allocations;
using zenith_test::scenario;
using zenith_test::strategies_of;

namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(0, 100);
  std::vector<float> made(count);
  std::ranges::generate(made, [&] { return value(random); });
  return made;
}

std::vector<std::uint32_t> random_words(std::size_t count, std::uint32_t bound) {
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> made(count);
  std::ranges::generate(made, [&] { return static_cast<std::uint32_t>(random() % bound); });
  return made;
}

// Outputs that a call fills, as they are before it, and what the first call of all strategies wrote.
template <class... T>
class outputs {
 public:
  explicit outputs(std::vector<T>&... vectors) : vectors_(vectors...), before_(vectors...) {}

  void reset() { vectors_ = before_; }
  [[nodiscard]] bool is_untouched() const { return same(before_); }
  [[nodiscard]] bool is_right() {
    if (expected_ == nullptr) expected_ = std::make_unique<std::tuple<std::vector<T>...>>(vectors_);
    return same(*expected_);
  }
  [[nodiscard]] scenario filled_by(std::string name, std::function<void()> call) {
    return {std::move(name), std::move(call), [this] { reset(); }, [this] { return is_untouched(); },
            [this] { return is_right(); }};
  }

 private:
  [[nodiscard]] bool same(const std::tuple<std::vector<T>...>& other) const {
    return vectors_ == std::tuple<const std::vector<T>&...>(other);
  }

  std::tuple<std::vector<T>&...> vectors_;
  std::tuple<std::vector<T>...> before_;
  std::unique_ptr<std::tuple<std::vector<T>...>> expected_;
};

constexpr std::size_t rows = 5'000;

zenith::column_set<float> three_columns() {
  static const std::array columns{random_floats(rows, 1), random_floats(rows, 2), random_floats(rows, 3)};
  return {columns[0], columns[1], columns[2]};
}

constexpr std::array weights{1.0F, -0.5F, 2.0F};

}  // namespace

TEST_CASE("top-k when memory runs out", "[allocation]") {
  const auto keys = random_floats(70'001, 5);
  for (const std::size_t k : {std::size_t{5}, std::size_t{3000}}) {
    std::vector<float> best(k, -1);
    std::vector<std::uint32_t> indices(k, 77);
    outputs results(best, indices);
    for (const auto& on : strategies_of("top_k")) {
      check_allocations(results.filled_by(
          on.name(), [&] { (void)zenith::top_k(on.on, keys, best, indices, {.strategy = on.strategy}); }));
    }
    check_allocations(results.filled_by("auto", [&] { (void)zenith::top_k(zenith::executor{}, keys, best, indices); }));
  }
}

// A call that returns vectors makes the keys' first.
TEST_CASE("vectors of results when memory runs out", "[allocation]") {
  const auto keys = random_floats(5000, 5);
  const auto fails = [](const auto& call) {
    zenith_test::failing_memory::fail_at(1);
    try {
      call();
    } catch (const zenith::error& fault) {
      CHECK(zenith_test::failing_memory::stop());
      return fault.code() == zenith::error_code::out_of_memory;
    }
    zenith_test::failing_memory::stop();
    return false;
  };
  const auto on = zenith::cpu();
  const auto columns = three_columns();
  const auto table = zenith::threshold_table<float>::build(columns);
  CHECK(fails([&] { (void)zenith::top_k(on, keys, 1000); }));
  CHECK(fails([&] { (void)zenith::top_k(on, columns, weights, 1000); }));
  CHECK(fails([&] { (void)zenith::top_k(on, table, weights, 1000); }));
}

TEST_CASE("scored top-k when memory runs out", "[allocation]") {
  std::vector<float> scores(20, -1);
  std::vector<std::uint32_t> indices(20, 77);
  outputs results(scores, indices);
  for (const auto& on : strategies_of("scored_top_k")) {
    check_allocations(results.filled_by(on.name(), [&] {
      (void)zenith::top_k(on.on, three_columns(), weights, scores, indices, {.strategy = on.strategy});
    }));
  }
}

TEST_CASE("threshold tables when memory runs out", "[allocation]") {
  check_allocations({"build", [] { (void)zenith::threshold_table<float>::build(three_columns()); }});
  const auto table = zenith::threshold_table<float>::build(three_columns());
  check_allocations({"snapshot", [&] {
                       zenith::updatable_threshold_table<float> rows_that_change(table);
                       rows_that_change.erase(7);
                       const auto now = rows_that_change.snapshot();
                       if (now.rows() != rows - 1) throw std::logic_error("another number of rows");
                     }});
  std::vector<float> scores(20, -1);
  std::vector<std::uint32_t> indices(20, 77);
  outputs results(scores, indices);
  for (const auto& on : strategies_of("threshold_table")) {
    check_allocations(results.filled_by(
        on.name(), [&] { (void)zenith::top_k(on.on, table, weights, scores, indices, {.strategy = on.strategy}); }));
  }
}

TEST_CASE("skylines when memory runs out", "[allocation]") {
  const auto points = three_columns();
  std::vector<std::uint32_t> ids(rows, 77);
  std::vector<std::uint32_t> numbers(rows, 77);
  std::vector<std::uint8_t> mask(rows, 7);
  {
    outputs results(ids);
    for (const auto& on : strategies_of("skyline")) {
      check_allocations(
          results.filled_by(on.name(), [&] { (void)zenith::skyline(on.on, points, ids, {.strategy = on.strategy}); }));
    }
  }
  outputs masks(mask);
  for (const auto& on : strategies_of("skyline")) {
    check_allocations(masks.filled_by(
        "mask, " + on.name(), [&] { (void)zenith::skyline_mask(on.on, points, mask, {.strategy = on.strategy}); }));
  }
  outputs bands(ids, numbers);
  for (const auto& on : strategies_of("skyband")) {
    check_allocations(bands.filled_by("band, " + on.name(), [&] {
      (void)zenith::skyband(on.on, points, 3, ids, numbers, {.strategy = on.strategy});
    }));
  }
  outputs layers(numbers);
  for (const auto& on : strategies_of("skyline_layers")) {
    check_allocations(layers.filled_by("layers, " + on.name(), [&] {
      (void)zenith::skyline_layers(on.on, points, std::span(numbers), {.most_layers = 3, .strategy = on.strategy});
    }));
  }
}

TEST_CASE("spatial joins when memory runs out", "[allocation]") {
  static const std::array left{random_floats(rows, 11), random_floats(rows, 12), random_floats(rows, 13)};
  static const std::array right{random_floats(rows, 14), random_floats(rows, 15), random_floats(rows, 16)};
  const zenith::scored_points<float> a{{left[0], left[1]}, left[2]};
  const zenith::scored_points<float> b{{right[0], right[1]}, right[2]};
  std::uint64_t pairs = 0;
  for (const auto& on : strategies_of("spatial_join")) {
    check_allocations({on.name(), [&] {
                         const auto found = zenith::spatial_join(on.on, a.coordinates, b.coordinates,
                                                                 {.predicate = {0.2}, .strategy = on.strategy});
                         if (pairs == 0) pairs = found.count;
                         if (found.count != pairs) throw std::logic_error("another number of pairs");
                       }});
  }
  for (const auto& on : strategies_of("top_k_spatial_join")) {
    check_allocations({on.name(), [&] {
                         const auto found =
                             zenith::top_k_spatial_join(on.on, a, b, 50, {.predicate = {0.2}, .strategy = on.strategy});
                         if (found.left.size() != 50) throw std::logic_error("another number of pairs");
                       }});
  }
}

TEST_CASE("spatial indexes when memory runs out", "[allocation]") {
  static const std::array sides{random_floats(rows, 21), random_floats(rows, 22), random_floats(rows, 23)};
  const zenith::scored_points<float> points{{sides[0], sides[1]}, sides[2]};
  using tree = zenith::spatial_index<float, 2>;
  check_allocations({"build", [&] { (void)tree::build(points); }});
  const auto index = tree::build(points);
  check_allocations({"parse", [&] { (void)tree::parse(index.serialized()); }});
  for (const auto& on : strategies_of("top_k_range")) {
    check_allocations({on.name(), [&] {
                         const auto found = zenith::top_k_range(
                             on.on, index, zenith::spatial_ball<float, 2>{{50, 50}, 20}, 30, {.strategy = on.strategy});
                         if (found.keys.size() != 30) throw std::logic_error("another number of items");
                       }});
  }
  for (const auto& on : strategies_of("index_join")) {
    check_allocations({on.name(), [&] {
                         const auto found = zenith::spatial_join(
                             on.on, index, index, {.predicate = zenith::within{0}, .strategy = on.strategy});
                         if (found.count < rows) throw std::logic_error("another number of pairs");
                       }});
  }
  for (const auto& on : strategies_of("top_k_index_join")) {
    check_allocations({on.name(), [&] {
                         const auto found = zenith::top_k_spatial_join(
                             on.on, index, index, 50, {.predicate = zenith::within{1}, .strategy = on.strategy});
                         if (found.left.size() != 50) throw std::logic_error("another number of pairs");
                       }});
    if (on.strategy != "ba") continue;  // indexes are built alike for all
    const zenith::scored_boxes<float> boxes{points.coordinates, points.coordinates, points.scores};
    check_allocations({"columns, " + on.name(), [&] {
                         const auto found = zenith::top_k_spatial_join(
                             on.on, boxes, points, 50, {.predicate = zenith::within{1}, .strategy = on.strategy});
                         if (found.left.size() != 50) throw std::logic_error("another number of pairs");
                       }});
  }
}

TEST_CASE("packed columns when memory runs out", "[allocation]") {
  const auto values = random_words(20'000, 1'000'000);
  for (const auto& on : strategies_of("pack")) {
    check_allocations({"pack, " + on.name(), [&] { (void)zenith::pack(on.on, values); }});
  }
  const auto column = zenith::pack(zenith::make_executor("reference"), values);
  std::vector<std::uint32_t> unpacked(values.size(), 77);
  outputs all(unpacked);
  for (const auto& on : strategies_of("unpack")) {
    check_allocations(all.filled_by("unpack, " + on.name(), [&] { zenith::unpack(on.on, column, unpacked); }));
  }
  const auto sum = std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  for (const auto& on : strategies_of("packed_sum")) {
    check_allocations({"sum, " + on.name(), [&] {
                         if (zenith::sum(on.on, column) != sum) throw std::logic_error("another sum");
                       }});
  }
  std::vector<std::uint64_t> words((values.size() + 63) / 64, 77);
  outputs bitmap(words);
  for (const auto& on : strategies_of("packed_select")) {
    check_allocations(bitmap.filled_by("bitmap, " + on.name(),
                                       [&] { (void)zenith::select_bitmap(on.on, column, 1000U, 500'000U, words); }));
  }
  std::vector<std::uint32_t> indices(values.size(), 77);
  outputs selected(indices);
  for (const auto& on : strategies_of("packed_select")) {
    check_allocations(selected.filled_by(
        "indices, " + on.name(), [&] { (void)zenith::select_indices(on.on, column, 1000U, 500'000U, indices); }));
  }
  std::vector<std::uint32_t> best(50, 77);
  std::vector<std::uint32_t> places(50, 77);
  outputs results(best, places);
  for (const auto& on : strategies_of("packed_top_k")) {
    check_allocations(
        results.filled_by("top-k, " + on.name(), [&] { (void)zenith::top_k(on.on, column, best, places); }));
  }
}

TEST_CASE("profiles when memory runs out", "[allocation]") {
  const auto text = zenith::machine::defaults().to_json();
  check_allocations({"parse", [&] { (void)zenith::machine::parse(text); }});
  const auto file =
      std::filesystem::temp_directory_path() / ("zenith-allocation-" + std::to_string(getpid()) + ".json");
  zenith::machine::parse(text).write(file);
  check_allocations({"read", [&] { (void)zenith::machine::read(file); }});
  std::filesystem::remove(file);
  check_allocations({"to_json", [] { (void)zenith::machine::defaults().to_json(); }});
  const auto here = zenith::machine::parse(text);
  check_allocations({"decide", [&] { (void)zenith::decide(zenith::top_k_problem{.count = 1000, .k = 5}, here); }});
}

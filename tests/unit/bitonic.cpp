// The bitonic network's index functions, by running the network that they describe.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <algorithms/top_k/bitonic.hpp>
#include <catch.hpp>
#include <settings.hpp>

#include <random>

using namespace zenith::top_k_detail;

namespace {

using item = std::uint64_t;

// A tile that is a vector, with the vocabulary's ordering functions built of the index functions and nothing else.
class vector_tile {
 public:
  explicit vector_tile(std::vector<item> items) : items_(std::move(items)) {}

  [[nodiscard]] zenith::tile_index size() const { return static_cast<zenith::tile_index>(items_.size()); }
  [[nodiscard]] const std::vector<item>& items() const { return items_; }

  void sort_runs(std::uint64_t k) {
    for (std::uint64_t run = 2; run <= k; run *= 2) rebuild(run);
  }
  void merge_runs(std::uint64_t k) {
    std::vector<item> merged(items_.size() / 2);
    for (std::uint64_t t = 0; t < merged.size(); ++t) {
      const auto at = merge_position(t, k);
      merged[t] = std::max(items_[at], items_[at + k]);
    }
    items_ = std::move(merged);
  }
  void rebuild_runs(std::uint64_t k) { rebuild(k); }

 private:
  void rebuild(std::uint64_t run) {
    for (std::uint64_t distance = run / 2; distance > 0; distance /= 2) {
      for (std::uint64_t t = 0; t < items_.size() / 2; ++t) {
        const auto low = pair_position(t, distance);
        auto& a = items_[low];
        auto& b = items_[low + distance];
        if (is_descending(low, run) ? a < b : a > b) std::swap(a, b);
      }
    }
  }

  std::vector<item> items_;
};

std::vector<item> random_items(std::size_t count, item values) {
  std::mt19937_64 random{zenith_test::seed_of("bitonic", count)};
  std::vector<item> items(count);
  for (auto& one : items) one = random() % values;
  return items;
}

}  // namespace

TEST_CASE("a step of the network pairs every position once, at its distance") {
  for (const std::uint64_t size : {2, 8, 64, 1024}) {
    for (std::uint64_t distance = 1; distance < size; distance *= 2) {
      std::set<std::uint64_t> seen;
      for (std::uint64_t t = 0; t < size / 2; ++t) {
        const auto low = pair_position(t, distance);
        CHECK((low ^ distance) == low + distance);
        seen.insert({low, low + distance});
      }
      CHECK(seen.size() == size);
      CHECK(*seen.rbegin() == size - 1);
    }
  }
}

TEST_CASE("a merge compares every position once") {
  for (const std::uint64_t k : {1, 2, 16, 256}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t t = 0; t < 512; ++t) seen.insert({merge_position(t, k), merge_position(t, k) + k});
    CHECK(seen.size() == 1024);
    CHECK(*seen.rbegin() == 1023);
  }
}

TEST_CASE("runs alternate in direction, the first is best first") {
  CHECK(is_descending(0, 4));
  CHECK(is_descending(3, 4));
  CHECK(!is_descending(4, 4));
  CHECK(!is_descending(7, 4));
  CHECK(is_descending(8, 4));
}

TEST_CASE("sorted runs alternate, and their merge holds the better halves as bitonic runs") {
  for (const std::uint64_t k : {1, 2, 4, 32, 256}) {
    auto items = random_items(1024, 50);
    vector_tile tile(items);
    tile.sort_runs(k);
    for (std::uint64_t run = 0; run < 1024 / k; ++run) {
      const auto at = [&](const auto& from) { return from.begin() + static_cast<std::ptrdiff_t>(run * k); };
      const auto length = static_cast<std::ptrdiff_t>(k);
      std::vector<item> expected(at(items), at(items) + length);
      if (run % 2 == 0)
        std::ranges::sort(expected, std::greater{});
      else
        std::ranges::sort(expected);
      CHECK(std::equal(expected.begin(), expected.end(), at(tile.items())));
    }
  }
}

TEST_CASE("the skeletons leave the best of a tile") {
  for (const item values : {item{3}, item{1} << 40}) {
    for (const zenith::tile_index k : {1U, 2U, 8U, 64U}) {
      for (zenith::tile_index reduction = 1; reduction * k <= 1024; reduction *= 4) {
        const auto items = random_items(1024, values);
        vector_tile tile(items);
        sort_reduce_tile(tile, k, reduction);
        CHECK(tile.size() == 1024 / reduction);
        vector_tile again(tile.items());
        bitonic_reduce_tile(again, k, tile.size() / k);
        auto best = items;
        std::ranges::sort(best, std::greater{});
        best.resize(k);
        CHECK(again.items() == best);
      }
    }
  }
}

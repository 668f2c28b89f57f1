// The bitonic network's index functions, by running the network that they describe.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <algorithms/top_k/bitonic.hpp>
#include <algorithms/top_k/strategies.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <tests/device/listing_context.hpp>

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

namespace {

/// Whether a shared strategy, on the sequential context, finds what a sort finds.
template <class Strategy, class Key, class Index>
bool finds_the_best(const std::vector<Key>& keys, std::uint64_t k, bool smallest) {
  std::vector<Index> places(keys.size());
  std::iota(places.begin(), places.end(), Index{0});
  std::ranges::stable_sort(places, [&](Index a, Index b) { return smallest ? keys[a] < keys[b] : keys[b] < keys[a]; });
  places.resize(k);
  std::vector<Key> out_keys(k);
  std::vector<Index> out_indices(k);
  zenith::top_k_statistics seen;
  zenith::top_k_call call;
  call.type = zenith::key_type_of<Key>;
  call.keys = keys.data();
  call.count = keys.size();
  call.k = k;
  call.out_keys = out_keys.data();
  call.out_indices = out_indices.data();
  call.index_bytes = sizeof(Index);
  call.select = smallest ? zenith::selection::smallest : zenith::selection::largest;
  call.statistics = &seen;
  zenith::device_suite::listing_context<zenith::top_k_family::kernels> on;
  Strategy::run(on, call);
  bool is_right = out_indices == places && seen.reads >= 1 && seen.variant == "sequential";
  for (std::uint64_t i = 0; i < k; ++i) is_right = is_right && out_keys[i] == keys[places[i]];
  return is_right;
}

}  // namespace

TEST_CASE("the shared strategies on the sequential context") {
  const auto check = [](std::uint64_t n, std::uint64_t k) {
    std::vector<float> floats;
    std::vector<std::int64_t> longs;
    for (const auto one : random_items(n, n % 2 == 0 ? 1 << 20 : 7)) {
      floats.push_back(static_cast<float>(one) - 3);
      longs.push_back(static_cast<std::int64_t>(one) * 5'000'000'000 - 11);
    }
    INFO(n << " keys, k = " << k);
    namespace family = zenith::top_k_family;
    CHECK(finds_the_best<family::bitonic, float, std::uint32_t>(floats, k, false));
    CHECK(finds_the_best<family::bitonic, std::int64_t, std::uint64_t>(longs, k, true));
    CHECK(finds_the_best<family::filter, float, std::uint64_t>(floats, k, true));
    CHECK(finds_the_best<family::filter, std::int64_t, std::uint32_t>(longs, k, false));
  };
  // a tile, several, and levels of them; runs that fit a tile and runs that do not
  for (const std::uint64_t n : {1, 2, 100, 2048, 2049, 30001}) {
    for (const std::uint64_t k : {1, 2, 31, 512, 1024, 1025, 5000}) {
      if (k <= n) check(n, k);
    }
  }
  // several chunks
  check((1 << 20) + 5000, 3);
  check((1 << 20) + 5000, 1500);
}

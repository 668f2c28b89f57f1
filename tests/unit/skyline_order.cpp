// The order of a device's rows by keys of 32 bits, against a stable sort by what it stands for. The strategy itself
// takes it for more rows than a test of this suite has.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <algorithms/skyline/table_rounds.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <tests/device/listing_context.hpp>

namespace {

using namespace conformance::skyline;
namespace family = zenith::skyline_family;
using family::u32;
using family::u64;

/// What orders a row.
template <class T>
struct exact_key {
  u32 bits;
  u32 place;
  family::exact_sum<typename family::row_source<T>::image> sum;

  bool operator<(const exact_key& other) const {
    if (bits != other.bits) return bits < other.bits;
    return place != other.place ? place < other.place : sum < other.sum;
  }
};

/// A table, its cuts, and its rows by exact keys.
template <class T>
struct cut_table {
  using image = typename family::row_source<T>::image;

  explicit cut_table(const table<T>& of) : rows(of.rows), ids(of.rows), short_keys(of.rows) {
    zenith::skyline_call call;
    for (std::size_t c = 0; c < of.columns; ++c) columns.push_back(of.values.data() + c);
    preferences.resize(of.columns, zenith::preference::minimise);
    call.type = zenith::key_type_of<T>;
    call.columns = columns.data();
    call.column_count = static_cast<unsigned>(of.columns);
    call.rows = of.rows;
    call.row_stride = of.columns;
    call.preferences = preferences.data();
    from = family::detail::make_row_source<T>(on, call);
    buckets = family::buckets_of(from.columns);
    cuts.resize(std::size_t{from.columns} * buckets);
    of_sums.resize(family::sum_cuts + 1);
    std::iota(ids.begin(), ids.end(), u32{0});
    const family::find_cuts_of_columns<T> find{from, ids.data(), rows, buckets, cuts.data(), of_sums.data()};
    on.for_teams(find.teams(), find);
    const family::write_short_keys<T> write{from, ids.data(), cuts.data(), buckets, of_sums.data(), short_keys.data()};
    on.for_each(rows, write);
    for (u64 row = 0; row < rows; ++row) {
      exact_key<T> key{};
      const u32 median = family::sum_and_median(from, row, cuts.data(), buckets, key.sum);
      key.bits = family::bits_in(median);
      key.place = family::gray_rank(median);
      keys.push_back(key);
    }
    sorted = ids;
    std::ranges::stable_sort(sorted, [&](u32 a, u32 b) { return keys[a] < keys[b]; });
  }

  /// Orders rows by short keys; returns whether there are too many ties.
  bool order(std::vector<u32>& found) {
    found = ids;
    u32 has_ties = 0;
    family::detail::order_table_rows(on, from, found.data(), rows, cuts.data(), of_sums.data(), buckets,
                                     family::detail::order_keys::rounded, &has_ties);
    return has_ties != 0;
  }
  /// The most rows of a short key.
  [[nodiscard]] u64 most_of_a_key() const {
    auto all = short_keys;
    std::ranges::sort(all);
    u64 most = 0;
    for (auto at = all.begin(); at != all.end();) {
      const auto end = std::upper_bound(at, all.end(), *at);
      most = std::max(most, static_cast<u64>(end - at));
      at = end;
    }
    return most;
  }

  zenith::device_suite::device_like on;
  u64 rows;
  std::vector<const void*> columns;
  std::vector<zenith::preference> preferences;
  family::row_source<T> from{};
  u32 buckets = 0;
  std::vector<image> cuts;
  std::vector<u64> of_sums;
  std::vector<u32> ids;
  std::vector<u32> short_keys;
  std::vector<exact_key<T>> keys;
  std::vector<u32> sorted;
};

/// Whether there were too many ties.
template <class T>
bool check_order(const table<T>& made) {
  INFO(made.text() << " seed " << zenith_test::seed());
  cut_table<T> of(made);
  // a row before another has no larger key
  u64 wrong = 0;
  for (u64 i = 1; i < of.rows; ++i) {
    wrong += of.short_keys[of.sorted[i]] < of.short_keys[of.sorted[i - 1]] ? 1U : 0U;
  }
  CHECK(wrong == 0);
  std::vector<u32> found;
  const bool has_ties = of.order(found);
  if (has_ties) {
    CHECK(of.most_of_a_key() > family::order_ties<T>::most);
    std::ranges::sort(found);  // no row is lost
    CHECK((found == of.ids));
  } else {
    CHECK((found == of.sorted));
  }
  return has_ties;
}

template <class T>
void check_shapes() {
  u64 number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t columns : {1, 2, 4, 8, 14}) {
      if (!zenith_test::is_drawn("short keys", ++number)) continue;
      random_source random{zenith_test::seed_of("short keys", number)};
      (void)check_order(make_table<T>(one, 500 + random() % 3000, columns, random));
    }
  }
}

}  // namespace

TEST_CASE("rounded keys put rows in the order of exact ones", "[skyline]") {
  check_shapes<float32>();
  check_shapes<float64>();
  check_shapes<int32>();
  check_shapes<uint64>();
}

TEST_CASE("rounded keys tell the rows of a large table apart", "[skyline]") {
  random_source random{zenith_test::seed_of("short keys of many", 0)};
  for (const std::size_t columns : {4, 8}) {
    const auto made = make_table<float32>(shape::independent, 30'000, columns, random);
    INFO(made.text() << " seed " << zenith_test::seed());
    CHECK(!check_order(made));
    CHECK(cut_table<float32>(made).most_of_a_key() <= family::order_ties<float32>::most);
  }
}

TEST_CASE("rows outside of a sample's range have keys of their own", "[skyline]") {
  // a sample takes every fourth row; half of the others have smaller or larger sums than all of those
  constexpr u32 rows = 4 * family::most_cut_samples;
  table<int32> made{"beyond a sample", rows, 1, {}};
  for (u32 i = 0; i < rows; ++i) {
    const auto value = static_cast<int32>(i) * 1000;
    made.values.push_back(i % 8 == 1   ? -value / 8 - 1
                          : i % 8 == 2 ? 1000 * static_cast<int32>(rows) + value / 8
                                       : value);
  }
  CHECK(!check_order(made));
  CHECK(cut_table<int32>(made).most_of_a_key() <= 2);
}

TEST_CASE("rounded keys say where they tell too little apart", "[skyline]") {
  CHECK(!check_order(table_of_twins<int32>(2000, 2)));  // of equal sums
  CHECK(check_order(table_of_close_sums()));
  CHECK(check_order(table_of_close_sums(40)));
  CHECK(check_order(table_of_close_sums<int64>(40)));
}

TEST_CASE("a key of 32 bits has some for the sum, or there is none", "[skyline]") {
  for (u32 columns = 1; columns <= 64; ++columns) {
    const u32 bits = family::short_sum_bits(columns);
    CHECK((bits == 0) == (columns > 14));
    if (bits == 0) continue;
    CHECK(bits > family::sum_cut_bits);
    // the number of bits of a mask is up to that of the columns
    CHECK(((u64{columns} << columns) | ((u64{1} << columns) - 1)) < u64{1} << (32 - bits));
  }
}

TEST_CASE("buckets begin at rows of the sorted sample, whatever keys are equal", "[skyline]") {
  random_source random{zenith_test::seed_of("first rows of buckets", 0)};
  for (const u32 samples : {1U, 15U, 1000U, 1025U, family::most_key_samples}) {
    for (const u64 different : {1, 3, 100, 1 << 30}) {
      std::vector<family::keyed_row> sampled(samples);
      for (u32 i = 0; i < samples; ++i) sampled[i] = {~(random() % different), 2 * i, 0};
      std::vector<family::keyed_row> found(family::order_buckets);
      zenith::device_suite::device_like on;
      const family::pick_first_of_buckets pick{sampled.data(), samples, found.data()};
      on.for_teams(pick.teams(), pick);
      std::ranges::sort(sampled, [](const auto& a, const auto& b) { return a < b; });
      u32 wrong = 0;
      for (u32 k = 1; k < family::order_buckets; ++k) {
        wrong += found[k].row == sampled[u64{k} * samples / family::order_buckets].row ? 0U : 1U;
      }
      INFO(samples << " samples of " << different << " keys, seed " << zenith_test::seed());
      CHECK(wrong == 0);
    }
  }
}

// Where rows of an updatable table are, by id: ids whose rows are gone take hardly any memory.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <algorithms/threshold_table/src/row_places.hpp>
#include <catch.hpp>
#include <settings.hpp>

using zenith::detail::row_place;
using zenith::detail::row_places;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Free places that may be kept.
constexpr u64 one_slab = u64{2} << 20;

/// Beside it, what should be there.
struct checked_places {
  row_places places;
  std::map<u32, row_place> rows;

  void set(u32 id, row_place to) {
    places.set(id, to);
    rows[id] = to;
  }
  void insert(row_place to) {
    places.add_one();
    set(static_cast<u32>(places.size() - 1), to);
  }
  void insert(u64 more, const std::vector<u32>& ids, u32 leaf) {
    const u64 first = places.size();
    places.add(more, ids);
    for (const auto id : ids) set(id, {leaf, id % 100});
    places.shrink_from(first);
  }
  void erase(u32 id) {
    places.erase(id);
    rows.erase(id);
  }
  [[nodiscard]] bool is_right() const {
    bool is = true;
    for (u64 id = 0; id < places.size() + 10; ++id) {
      const auto found = rows.find(static_cast<u32>(id));
      const row_place expected = found == rows.end() ? row_place{} : found->second;
      const auto seen = places.at(id);
      is = is && seen.leaf == expected.leaf && (expected.leaf == row_places::none || seen.row == expected.row);
      is = is && places.contains(id) == (found != rows.end());
    }
    return is;
  }
};

}  // namespace

TEST_CASE("places of rows after any inserts, moves and erasures") {
  for (u64 number = 0; number < 4; ++number) {
    std::mt19937_64 random(zenith_test::seed_of("table.row_places", number));
    checked_places of;
    const auto any = [&] { return std::next(of.rows.begin(), static_cast<long>(random() % of.rows.size()))->first; };
    for (int step = 0; step < 60; ++step) {
      const auto choice = random() % 4;
      if (choice == 0) {
        const auto more = random() % 3000;
        for (u64 i = 0; i < more; ++i) of.insert({static_cast<u32>(random() % 1000), static_cast<u32>(i)});
      } else if (choice == 1) {
        // ids of which most were never of a row, as those of a table with gaps
        const auto more = random() % 9000;
        const auto first = static_cast<u32>(of.places.size());
        std::vector<u32> ids;
        for (u32 i = 0; i < more; ++i) {
          if (random() % 16 < number * 5) ids.push_back(first + i);
        }
        of.insert(more, ids, 7);
      } else if (choice == 2 && !of.rows.empty()) {
        for (int i = 0; i < 100; ++i) {
          const auto id = any();
          of.rows[id].row = static_cast<u32>(i);
          of.places.set_row(id, static_cast<u32>(i));
          of.set(any(), {5, static_cast<u32>(i)});
        }
      } else {
        std::vector<u32> ids;
        for (const auto& one : of.rows) {
          if (random() % 3 != 0) ids.push_back(one.first);
        }
        std::ranges::shuffle(ids, random);
        for (const auto id : ids) of.erase(id);
      }
      if (step % 10 == 9) CHECK(of.is_right());
    }
    while (!of.rows.empty()) of.erase(any());
    CHECK(of.is_right());
  }
}

TEST_CASE("ids that are taken back are given again") {
  row_places places;
  for (u32 i = 0; i < row_places::page_ids; ++i) {
    places.add_one();
    places.set(i, {1, i});
  }
  places.add_one();  // the first one of a page
  places.take_back();
  CHECK(places.size() == row_places::page_ids);
  CHECK_FALSE(places.contains(row_places::page_ids));
  places.add_one();
  places.set(row_places::page_ids, {3, 4});
  CHECK(places.at(row_places::page_ids).leaf == 3);
  CHECK(places.at(5).row == 5);

  // many at once, of which some had their rows already
  const u64 first = places.size();
  places.add(10000, std::vector<u32>{static_cast<u32>(first), static_cast<u32>(first + 1), 14000});
  places.set(static_cast<u32>(first + 1), {8, 8});
  places.set(14000, {8, 8});
  places.take_back(first);
  CHECK(places.size() == first);
  CHECK(places.at(row_places::page_ids).leaf == 3);
  for (u64 id = first; id < 20000; ++id) {
    CHECK_FALSE(places.contains(id));
    places.add_one();
    CHECK_FALSE(places.contains(id));
  }
}

// Rows come and go for ever, and some stay.
TEST_CASE("ids whose rows are gone take hardly any memory") {
  constexpr u64 window = 10000;
  constexpr u64 ids = 1000000;
  constexpr u64 stays = 1000;  // each of so many
  row_places places;
  u64 rows = 0;
  for (u64 id = 0; id < ids; ++id) {
    places.add_one();
    places.set(static_cast<u32>(id), {static_cast<u32>(id % 77), static_cast<u32>(id)});
    ++rows;
    if (id < window || (id - window) % stays == 0) continue;
    places.erase(id - window);
    --rows;
  }
  const u64 pages = ids / row_places::page_ids + 1;
  CHECK(places.bytes() <= 64 * rows + 64 * pages + one_slab);
  for (u64 id = 0; id < ids; ++id) {
    if (places.contains(id) != (id + window >= ids || id % stays == 0)) FAIL("id " << id);
    if (places.contains(id)) REQUIRE(places.at(id).row == id);
  }
}

// The last row of each page stays, and is the last of its page that comes.
TEST_CASE("a page whose rows are gone before its last id is given takes hardly any memory") {
  row_places places;
  constexpr u64 pages = 50;
  for (u64 id = 0; id < pages * row_places::page_ids; ++id) {
    places.add_one();
    places.set(static_cast<u32>(id), {1, 2});
    if ((id + 1) % row_places::page_ids != 0) places.erase(id);
  }
  CHECK(places.bytes() <= 128 * pages + one_slab);
  CHECK(places.contains(row_places::page_ids - 1));
}

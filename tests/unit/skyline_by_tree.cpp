// The skyline by a tree of regions, of every depth, against a double loop; and the strategy that has one.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <algorithms/skyline/region_tree.hpp>
#include <catch.hpp>
#include <settings.hpp>
#include <tables.hpp>
#include <tests/unit/skyline_strategies_with.hpp>

template std::vector<skyline_on_device::named_strategy>
skyline_on_device::strategies_with<skyline_on_device::only_bskytree>();

namespace {

using namespace conformance::skyline;
using zenith::device::u64;

/// The skyline by a tree of so many levels. Rows come in any order, so that the first of equal ones is not always met
/// first.
template <zenith::device::u32 Levels>
std::vector<std::uint64_t> by_tree(const table<uint32>& of, const request& asked, random_source& random) {
  using namespace zenith::skyline_family;
  constexpr auto padding = std::size_t{row_padding} / sizeof(uint32);
  std::vector<uint32> rows(of.rows);
  for (std::size_t i = 0; i < of.rows; ++i) rows[i] = static_cast<uint32>(i);
  std::shuffle(rows.begin(), rows.end(), random);
  std::vector<uint32> values(of.values.size() + padding);
  for (std::size_t i = 0; i < of.rows; ++i) {
    for (std::size_t c = 0; c < of.columns; ++c) values[i * of.columns + c] = of.at(rows[i], c);
  }
  std::vector<std::vector<uint32>> arrays(4, std::vector<uint32>(of.rows + padding));
  std::vector<unsigned char> members(of.rows);
  u64 partitions = 0;
  find_by_region_tree<uint32, Levels>{values.data(),    rows.data(),
                                      of.rows,          static_cast<uint32>(of.columns),
                                      arrays[0].data(), arrays[1].data(),
                                      arrays[2].data(), arrays[3].data(),
                                      members.data(),   asked.duplicates == zenith::duplicate_rows::keep_all,
                                      &partitions,      {}}(0);
  CHECK(partitions > 0);
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < of.rows; ++i) {
    if (members[i] != 0) ids.push_back(i);
  }
  return ids;
}

}  // namespace

TEST_CASE("a tree of regions of every depth", "[skyline]") {
  std::uint64_t number = 0;
  for (const auto one : every_shape) {
    for (const std::size_t columns : {1, 2, 3, 5, 8, 33, 40}) {
      random_source random{zenith_test::seed_of("tree", number++)};
      const auto made = make_table<uint32>(one, 1 + random() % 700, columns, random);
      for (const auto duplicates : {zenith::duplicate_rows::keep_all, zenith::duplicate_rows::keep_first}) {
        request asked;
        asked.duplicates = duplicates;
        const auto ids = expected(made, asked);
        INFO(made.name << " n=" << made.rows << " d=" << columns << " " << asked.text() << " seed "
                       << zenith_test::seed());
        CHECK((by_tree<2>(made, asked, random) == ids));
        CHECK((by_tree<3>(made, asked, random) == ids));
        CHECK((by_tree<5>(made, asked, random) == ids));
        CHECK((by_tree<48>(made, asked, random) == ids));
      }
    }
  }
}

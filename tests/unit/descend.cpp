#include <algorithms/threshold_table/src/descend.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch.hpp>

using namespace zenith::detail;

TEST_CASE("wide registers go down a tree of cuts as a loop does", "[unit]") {
  const descent descend = wide_descent();
  if (descend == nullptr) return;
  std::mt19937 random(7);
  constexpr std::size_t rows = 67;
  constexpr std::uint32_t sign = 0x80000000U;
  const auto rank_of = [](std::uint32_t bits, rank_form form) {
    if (form == rank_form::bits) return bits;
    if (form == rank_form::integer) return bits ^ sign;
    return (bits & sign) != 0 ? ~bits : bits | sign;
  };
  for (unsigned levels = 0; levels <= most_wide_levels + 2; ++levels) {
    for (std::size_t columns = 1; columns <= most_wide_columns; ++columns) {
      for (const std::uint32_t range : {2U, 1000U, 0U}) {  // 0: all bits
        for (const auto form : {rank_form::bits, rank_form::integer, rank_form::real}) {
          const auto draw = [&] {
            const auto drawn = static_cast<std::uint32_t>(random());
            return range == 0 ? drawn : 0xffffffffU - drawn % range;
          };
          const std::size_t nodes = std::max(wide_nodes, std::size_t{1} << levels);
          std::vector<std::uint32_t> limits(nodes);
          std::vector<std::uint8_t> column_of(nodes);
          for (auto& one : limits) one = rank_of(draw(), form);
          for (auto& one : column_of) one = static_cast<std::uint8_t>(random() % columns);
          std::vector<std::vector<std::uint32_t>> values(columns, std::vector<std::uint32_t>(rows));
          std::vector<const void*> pointers;
          for (auto& column : values) {
            for (auto& one : column) one = draw();
            pointers.push_back(column.data());
          }
          for (const std::size_t first : {0, 3, 60}) {
            for (const std::size_t count : {std::size_t{1}, std::size_t{7}, rows - first}) {
              std::vector<std::uint32_t> reached(rows, 12345);
              auto expected = reached;
              for (std::size_t i = 0; i < count; ++i) {
                expected[i] = 1;
                for (unsigned level = 0; level < std::min(levels, most_wide_levels); ++level) {
                  const auto at = expected[i];
                  const auto rank = rank_of(values[column_of[at]][first + i], form);
                  expected[i] = 2 * at + (rank >= limits[at] ? 1 : 0);
                }
              }
              const cut_tree tree{limits.data(), column_of.data(), levels, form};
              descend(tree, pointers.data(), columns, first, count, reached.data());
              CHECK(reached == expected);
            }
          }
        }
      }
    }
  }
}

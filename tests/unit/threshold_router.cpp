// The route to an updatable table's blocks stays short, in whatever order rows come and go.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <algorithms/threshold_table/src/updatable.hpp>
#include <catch.hpp>

using namespace zenith;

namespace {

using table_type = detail::updatable_storage<float>;
using random_source = std::mt19937_64;
constexpr std::size_t columns = 3;
constexpr std::uint32_t count = 40000;
constexpr std::uint32_t block_rows = 8;

struct order_of_rows {
  std::string name;
  std::function<std::vector<float>(std::uint32_t, random_source&)> row;
};

std::vector<order_of_rows> orders() {
  const auto along = [](float base, float noise, random_source& random) {
    std::vector<float> row(columns);
    for (auto& one : row) one = base + noise * static_cast<float>(random() % 1000) / 1000;
    return row;
  };
  return {
      {"ascending", [=](std::uint32_t i, random_source& random) { return along(static_cast<float>(i), 0, random); }},
      {"descending", [=](std::uint32_t i, random_source& random) { return along(-static_cast<float>(i), 0, random); }},
      {"ascending with noise",
       [=](std::uint32_t i, random_source& random) { return along(static_cast<float>(i), 50, random); }},
      {"correlated",
       [=](std::uint32_t, random_source& random) { return along(static_cast<float>(random() % count), 50, random); }},
      {"equal", [=](std::uint32_t, random_source& random) { return along(1, 0, random); }},
      {"independent", [=](std::uint32_t, random_source& random) { return along(0, 1, random); }},
  };
}

/// The longest route to a row's block: that of blocks which hold no row is not used.
std::uint32_t longest_route(const table_type& table) {
  std::uint32_t longest = 0;
  for (std::uint64_t id = 0; id < table.id_limit(); ++id) {
    if (table.contains(id)) longest = std::max(longest, table.route().depth(table.leaf_of(id)));
  }
  return longest;
}

}  // namespace

TEST_CASE("the route to a block of an updatable table has O(log blocks) planes") {
  for (const auto& order : orders()) {
    CAPTURE(order.name);
    random_source random(13);
    table_type table(columns, block_rows, 2);
    for (std::uint32_t i = 0; i < count; ++i) table.insert(order.row(i, random).data());
    REQUIRE(table.route().leaves() >= count / block_rows);
    // a split below the deepest leaf may add one
    CHECK(longest_route(table) <= table.route().most_depth(table.route().leaves()) + 1);

    // all but every 64th row go, the first ones first
    for (std::uint64_t id = 0; id < count; ++id) {
      if (id % 64 != 0) table.erase(id);
    }
    const std::uint32_t left = table.route().leaves();
    REQUIRE(left <= count / 64);
    // leaves may have been twice as many when the planes were chosen
    CHECK(longest_route(table) <= table.route().most_depth(2 * left) + 1);
  }
}

TEST_CASE("rows of one call go to blocks with a short route") {
  for (const auto& order : orders()) {
    CAPTURE(order.name);
    random_source random(14);
    table_type table(columns, block_rows, 2);
    for (std::uint32_t i = 0; i < count;) {
      detail::loose_rows<float> rows;
      const auto first = static_cast<std::uint32_t>(table.id_limit());
      const auto end = std::min<std::uint32_t>(count, i + 1 + static_cast<std::uint32_t>(random() % 500));
      for (; i < end; ++i) {
        const auto row = order.row(i, random);
        rows.values.insert(rows.values.end(), row.begin(), row.end());
        rows.ids.push_back(i);
      }
      table.insert_all(rows, end - first);
    }
    CHECK(longest_route(table) <= table.route().most_depth(table.route().leaves()) + 1);
  }
}

TEST_CASE("a route that was short for many leaves is short for the few that are left") {
  detail::router<float> route(0);
  std::uint32_t leaves = 1;
  const auto split = [&](std::uint32_t leaf) {
    route.reserve_one_for(leaves);
    route.split(leaf, 0, 0, leaves);
    return leaves++;
  };
  const auto plane = [](std::span<std::uint32_t>) { return detail::router_plane<float>{}; };
  // one leaf is split again and again, and one becomes a subtree of 256
  constexpr std::uint32_t deep = 20;
  const std::uint32_t top = split(0);
  for (std::uint32_t i = 1; i < deep; ++i) (void)split(0);
  std::vector<std::uint32_t> bushy{top};
  while (bushy.size() < 256) {
    for (std::size_t i = 0, n = bushy.size(); i < n; ++i) bushy.push_back(split(bushy[i]));
  }
  REQUIRE(route.depth(0) == deep);
  REQUIRE(route.depth(0) <= route.most_depth(route.leaves()));
  for (const std::uint32_t leaf : bushy) {
    route.remove(leaf);
    route.balance_after_removal(plane);
  }
  CHECK(route.leaves() == deep);
  CHECK(route.depth(0) <= route.most_depth(2 * deep));
}

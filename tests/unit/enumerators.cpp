// A value that an enumeration does not have is refused by every call, before anything was written, and named.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <catch.hpp>
#include <expect_error.hpp>
#include <zenith/zenith.hpp>

namespace {

using zenith::nan_policy;
using zenith::selection;

void refuses(std::string_view function, std::string_view option, const std::function<void()>& call) {
  INFO(function << " " << option);
  const std::string begin = "zenith: invalid_argument: " + std::string{function} + ": " + std::string{option} + " is ";
  zenith_test::expect_error(zenith::error_code::invalid_argument, {begin, "is not one of the known ones"}, call);
}

template <class Enum>
Enum unknown(int value) {
  return static_cast<Enum>(value);
}

const std::vector<float> keys{3, 1, 2};
const std::vector<std::int32_t> numbers{3, 1, 2};
const std::vector<float> weights{1, 1};

std::vector<zenith::executor> executors() {
  return {zenith::executor{}, zenith::make_executor("reference"), zenith::make_executor("cpu:threads=1")};
}

struct wrong_option {
  std::string name;
  zenith::top_k_options options;
};

/// Options of top-k, each with one value that is unknown: the first behind the last, or the highest.
std::vector<wrong_option> wrong_options() {
  return {{"options.select", {.select = unknown<selection>(2)}},
          {"options.select", {.select = unknown<selection>(255)}},
          {"options.order", {.order = unknown<zenith::ordering>(2)}},
          {"options.ties", {.ties = unknown<zenith::tie_break>(2)}},
          {"options.nans", {.nans = unknown<nan_policy>(3)}}};
}

}  // namespace

TEST_CASE("top-k refuses unknown enumerators") {
  const zenith::column_set<float> columns{keys, keys};
  const auto column = zenith::pack(zenith::reference(), numbers);
  for (const auto& on : executors()) {
    for (const auto& wrong : wrong_options()) {
      const auto& option = wrong.name;
      const auto& options = wrong.options;
      std::vector<float> best(2, -1);
      std::vector<std::uint32_t> indices(2, 77);
      refuses("top_k", option, [&] { zenith::top_k(on, keys, best, indices, options); });
      refuses("top_k", option, [&] { (void)zenith::top_k(on, keys, 0, options); });
      refuses("top_k", option, [&] { (void)zenith::top_k(on, column, 2, options); });
      refuses("top_k", option, [&] { (void)zenith::top_k(on, keys, zenith::where(numbers, 1, 2), 2, options); });
      refuses("top_k", option, [&] { (void)zenith::top_k(on, columns, weights, 2, options); });
      CHECK(best == std::vector<float>{-1, -1});
      CHECK(indices == std::vector<std::uint32_t>{77, 77});
    }
  }
  zenith_test::expect_error(zenith::error_code::invalid_argument, {"top_k: options.select is 7, which is not one"},
                            [&] { (void)zenith::top_k({}, keys, 2, {.select = unknown<selection>(7)}); });
}

TEST_CASE("queries of threshold tables refuse unknown enumerators") {
  const zenith::column_set<float> columns{keys, keys};
  const auto table = zenith::threshold_table<float>::build(columns);
  const zenith::updatable_threshold_table<float> rows(table);
  const auto snapshot = rows.snapshot();
  const zenith::table_query_options selects{.select = unknown<selection>(9)};
  const zenith::table_query_options nans{.nans = unknown<nan_policy>(9)};
  for (const auto& on : executors()) {
    refuses("top_k", "options.select", [&] { (void)zenith::top_k(on, table, weights, 2, selects); });
    refuses("top_k", "options.nans", [&] { (void)zenith::top_k(on, table, weights, 2, nans); });
    refuses("top_k", "options.select", [&] { (void)zenith::top_k(on, snapshot, weights, 2, selects); });
    refuses("top_k", "options.nans", [&] { (void)zenith::top_k(on, snapshot, weights, 2, nans); });
  }
}

TEST_CASE("spatial joins and indexes refuse unknown enumerators") {
  using tree = zenith::spatial_index<float, 2>;
  const zenith::scored_points<float> points{{keys, keys}, keys};
  const auto index = tree::build(points);
  const auto scored = unknown<zenith::pair_score>(5);
  const auto selected = unknown<selection>(2);
  const zenith::spatial_ball<float, 2> ball{{2, 2}, 5};
  for (const auto& on : executors()) {
    refuses("top_k_spatial_join", "options.score",
            [&] { (void)zenith::top_k_spatial_join(on, points, points, 2, {.predicate = {9}, .score = scored}); });
    refuses("top_k_spatial_join", "options.select",
            [&] { (void)zenith::top_k_spatial_join(on, points, points, 2, {.predicate = {9}, .select = selected}); });
    refuses("top_k_spatial_join", "options.score", [&] {
      (void)zenith::top_k_spatial_join(on, index, index, 2, {.predicate = zenith::within{9}, .score = scored});
    });
    refuses("top_k_spatial_join", "options.select", [&] {
      (void)zenith::top_k_spatial_join(on, index, index, 2, {.predicate = zenith::within{9}, .select = selected});
    });
    refuses("top_k_range", "options.select",
            [&] { (void)zenith::top_k_range(on, index, ball, 2, {.select = selected}); });
  }
  refuses("top_k_spatial_join_problem_of", "options.score",
          [&] { (void)zenith::top_k_spatial_join_problem_of(points, points, 2, {.score = scored}); });
  refuses("spatial_index", "options.order",
          [&] { (void)tree::build(points, {.order = unknown<zenith::bulk_order>(2)}); });
  refuses("spatial_index", "options.node_order",
          [&] { (void)tree::build(points, {.node_order = unknown<zenith::level_order>(2)}); });
}

TEST_CASE("other enumerators that are unknown are named with their values, too") {
  const auto on = zenith::reference();
  refuses("pack", "encoding", [&] { (void)zenith::pack(on, numbers, unknown<zenith::encoding>(99)); });
  const zenith::column_set<float> columns{keys, keys};
  const std::vector<zenith::preference> preferences{zenith::preference::minimise, unknown<zenith::preference>(77)};
  refuses("skyline", "options.preferences[1]",
          [&] { (void)zenith::skyline(on, columns, zenith::skyline_options{.preferences = preferences}); });
  refuses("skyline", "options.nans",
          [&] { (void)zenith::skyline(on, columns, zenith::skyline_options{.nans = unknown<zenith::nan_rows>(77)}); });
}

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/spatial_index_tree.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Ranked range queries of a spatial index: the k best items in a box or a ball.

namespace zenith {

/// All points from `low` to `high`, both included.
template <class T, unsigned Dim>
struct spatial_box {
  std::array<T, Dim> low{};
  std::array<T, Dim> high{};
};

/// All points no farther than `distance` from the centre.
template <class T, unsigned Dim>
struct spatial_ball {
  std::array<T, Dim> centre{};
  double distance = 0;
};

struct top_k_range_options {
  selection select = selection::largest;
  /// "auto", or the name of a strategy: "descent".
  std::string_view strategy = "auto";
};

/// A ranked range query as the cost models see it.
struct top_k_range_problem {
  std::uint64_t items = 0;
  std::uint64_t k = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;

  [[nodiscard]] bool operator==(const top_k_range_problem&) const = default;
};

namespace detail {

struct range_arguments {
  key_type type;
  unsigned dimensions;
  index_argument index;
  bool is_ball;
  double low[3];  ///< or the centre
  double high[3];
  double distance;
  std::size_t k;
  int index_bytes;
  bool index_signed;
  spatial_output (*provide)(void* state, std::uint64_t count);
  void* state;
  spatial_target target = {};
};
spatial_run top_k_range(const executor& on, const range_arguments& given, const top_k_range_options& options);

template <class Index, class T, std::size_t Dim>
[[nodiscard]] range_arguments range_of(const index_argument& index, const std::array<T, Dim>& low,
                                       const std::array<T, Dim>& high) {
  range_arguments given{key_type_of<T>,
                        static_cast<unsigned>(Dim),
                        index,
                        false,
                        {},
                        {},
                        0,
                        0,
                        static_cast<int>(sizeof(Index)),
                        std::is_signed_v<Index>,
                        nullptr,
                        nullptr};
  for (std::size_t a = 0; a < Dim; ++a) {
    given.low[a] = low[a];
    given.high[a] = high[a];
  }
  return given;
}
template <class Index, class T, unsigned Dim>
[[nodiscard]] range_arguments range_of(const index_argument& index, const spatial_box<T, Dim>& region) {
  return range_of<Index>(index, region.low, region.high);
}
template <class Index, class T, unsigned Dim>
[[nodiscard]] range_arguments range_of(const index_argument& index, const spatial_ball<T, Dim>& region) {
  auto given = range_of<Index>(index, region.centre, region.centre);
  given.is_ball = true;
  given.distance = region.distance;
  return given;
}

template <class Index, class T>
[[nodiscard]] top_k_result<T, Index> range_result(const executor& on, range_arguments given, std::size_t k,
                                                  const top_k_range_options& options) {
  using result_type = top_k_result<T, Index>;
  result_type result;
  given.k = k;
  given.provide = [](void* state, std::uint64_t count) -> spatial_output {
    auto& to = *static_cast<result_type*>(state);
    detail::resize_results(to.keys, static_cast<std::size_t>(count));
    detail::resize_results(to.indices, static_cast<std::size_t>(count));
    return {to.indices.data(), nullptr, to.keys.data()};
  };
  given.state = &result;
  auto run = detail::top_k_range(on, given, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

template <class Region, class Tree>
concept region_of = std::same_as<Region, spatial_box<typename Tree::value_type, Tree::dimensions>> ||
    std::same_as<Region, spatial_ball<typename Tree::value_type, Tree::dimensions>>;

}  // namespace detail

/// The k best items that intersect a box, by score and then by id: `keys` are their scores, `indices` their rows in the
/// input of the index; all such items when they are no more than k. The answer is unique and the same for every
/// backend. -0 equals +0.
///
/// Strategy "descent": a level of the tree at a time, the nodes that meet the region; once k nodes lie inside as a
/// whole, the k-th best of their scores bounds the result, and nodes that miss it are left out. Complexity: O(fanout *
/// nodes that are looked at); scratch: 4 bytes for each entry of those, at most about 12 bytes an item and 16 bytes for
/// each that is found. It synchronises once or twice a level. A GPU executor copies a host's index to the device at
/// each call; `device_spatial_index` keeps it there.
///
/// Throws `invalid_argument` when a coordinate of the region is NaN, when a lowest coordinate is above the highest,
/// when the ids' type cannot hold size() - 1, and for a device's index on an executor of the host; `unsupported` for a
/// strategy that the backend does not offer; `out_of_memory`.
///
/// Source: ranked range queries on MAX aR-trees, Åmdal 2020, section 4.3.2, there one item at a time.
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] auto top_k_range(const executor& on, const Tree& tree,
                               const spatial_box<typename Tree::value_type, Tree::dimensions>& region, std::size_t k,
                               const top_k_range_options& options = {})
    -> top_k_result<typename Tree::value_type, Index> {
  return detail::range_result<Index, typename Tree::value_type>(
      on, detail::range_of<Index>(detail::argument_of(tree), region), k, options);
}

/// The same of the items within a distance of a point. With g the gap between item and point on each axis, 0 where the
/// item's box holds the point's coordinate, an item is within the distance d when
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// where d is rounded to the coordinates' type, and every operation is rounded in this order. Throws as above, and
/// `invalid_argument` for a centre that is NaN or infinite and for a distance that is negative or NaN.
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] auto top_k_range(const executor& on, const Tree& tree,
                               const spatial_ball<typename Tree::value_type, Tree::dimensions>& region, std::size_t k,
                               const top_k_range_options& options = {})
    -> top_k_result<typename Tree::value_type, Index> {
  return detail::range_result<Index, typename Tree::value_type>(
      on, detail::range_of<Index>(detail::argument_of(tree), region), k, options);
}

/// Writes the scores and ids of the k best items in a box or a ball, where k is the length of `keys_out`, to the
/// beginning of `keys_out` and `indices_out`, which have the same length, and returns how many there are. Elements
/// behind them are untouched. Both are ranges on the host, or both `device_span`s. Results in device memory are
/// complete in the order of the executor's stream. Throws as above, and `invalid_argument` when both differ in length.
/// Outputs are untouched then, unless memory runs out while they are written.
template <detail::any_spatial_index Tree, detail::region_of<Tree> Region,
          detail::score_range<typename Tree::value_type> Keys, detail::id_range Ids>
requires(detail::are_together<Keys, Ids>) spatial_run
    top_k_range(const executor& on, const Tree& tree, const Region& region, Keys&& keys_out, Ids&& indices_out,
                const top_k_range_options& options = {}) {
  using Index = typename detail::output_of<Ids>::value_type;
  detail::require_same_length("top_k_range: indices_out", detail::size_of_range(indices_out), "keys_out",
                              detail::size_of_range(keys_out));
  auto given = detail::range_of<Index>(detail::argument_of(tree), region);
  given.k = detail::size_of_range(keys_out);
  given.target = {detail::spatial_target::kind::memory,
                  detail::output_of<Keys>::space,
                  {detail::data_of(indices_out), nullptr, detail::data_of(keys_out)},
                  given.k};
  return detail::top_k_range(on, given, options);
}

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it.
[[nodiscard]] decision decide(const top_k_range_problem& problem, const machine& on);

/// Takes what no overload takes, so that the compiler's message is short.
ZENITH_NO_OVERLOAD(top_k_range);

}  // namespace zenith

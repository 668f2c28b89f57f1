#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <zenith/columns.hpp>
#include <zenith/spatial_index_tree.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/spatial_output.hpp>

/// \file
/// What joins of points and boxes take for their sides: two indexes, or columns, of which they build indexes.

namespace zenith {

/// Boxes without scores as columns of their lowest and highest coordinates, x, y or x, y, z. Borrowed.
template <class Span>
struct basic_boxes {
  basic_column_set<Span> low;
  basic_column_set<Span> high;
};
/// In the host's memory.
template <class T>
using boxes = basic_boxes<std::span<const T>>;
/// In the memory of an executor's device.
template <class T>
using device_boxes = basic_boxes<device_span<const T>>;

namespace detail {

/// Two sides have the same `kind`. `is_plain`: of a join of all pairs; `is_ranked`: of a ranked one.
template <class Kind, class T, bool IsPlain, bool IsRanked>
struct side_traits {
  using kind = Kind;
  using value_type = T;
  static constexpr bool is_plain = IsPlain;
  static constexpr bool is_ranked = IsRanked;
};
/// What can be a side; of any other type it is not defined.
template <class Side>
struct join_side;
template <any_spatial_index Tree>
struct join_side<Tree> : side_traits<Tree, typename Tree::value_type, true, true> {};
template <point_span Span>
struct join_side<basic_column_set<Span>> : side_traits<Span, typename Span::value_type, true, false> {};
template <point_span Span>
struct join_side<basic_boxes<Span>> : side_traits<Span, typename Span::value_type, true, false> {};
template <point_span Span>
struct join_side<basic_scored_points<Span>> : side_traits<Span, typename Span::value_type, false, true> {};
template <point_span Span>
struct join_side<basic_scored_boxes<Span>> : side_traits<Span, typename Span::value_type, false, true> {};

template <class Side>
using side_kind = typename join_side<Side>::kind;
template <class Right, class Left>
concept joined_with =
    std::same_as<side_kind<Left>, side_kind<Right>> && join_side<Left>::is_plain && join_side<Right>::is_plain;
template <class Right, class Left>
concept ranked_with =
    std::same_as<side_kind<Left>, side_kind<Right>> && join_side<Left>::is_ranked && join_side<Right>::is_ranked;

template <class Range>
using output_value = typename output_of<Range>::value_type;
/// Where the other ids of the pairs go.
template <class Right, class Left>
concept ids_beside =
    id_range<Right> && are_together<Left, Right> && std::same_as<output_value<Left>, output_value<Right>>;

struct index_join_arguments {
  key_type type;
  unsigned dimensions;
  index_argument left;
  index_argument right;
  std::size_t k;
  int index_bytes;
  bool index_signed;
  spatial_output (*provide)(void* state, std::uint64_t count) = nullptr;
  void* state = nullptr;
  spatial_target target = {};
  std::vector<index_input> columns = {};  ///< of both sides, whose indexes are still to be built; else none
};

/// An index needs scores: a column of coordinates stands for those that no join looks at.
[[nodiscard]] inline index_input without_scores(index_input input) {
  if (!input.low.columns.empty()) input.low.scores = input.low.columns[0];
  input.low.score_count = input.low.rows;
  input.has_scores = false;
  return input;
}
template <class Span>
[[nodiscard]] index_input input_of(unsigned dimensions, const basic_column_set<Span>& points) {
  return without_scores(input_of(dimensions, basic_scored_points<Span>{points, {}}));
}
template <class Span>
[[nodiscard]] index_input input_of(unsigned dimensions, const basic_boxes<Span>& given) {
  return without_scores(input_of(dimensions, basic_scored_boxes<Span>{given.low, given.high, {}}));
}

/// A join of two sides; where its pairs go is still to be said.
template <class Index, class Left, class Right>
[[nodiscard]] index_join_arguments join_of(const Left& left, const Right& right) {
  using side = join_side<Left>;
  index_join_arguments given{
      key_type_of<typename side::value_type>, 0, {}, {}, 0, static_cast<int>(sizeof(Index)), std::is_signed_v<Index>};
  if constexpr (any_spatial_index<Left>) {
    given.dimensions = Left::dimensions;
    given.left = argument_of(left);
    given.right = argument_of(right);
  } else {
    given.columns = {input_of(0, left), input_of(0, right)};
    given.dimensions = static_cast<unsigned>(given.columns[0].low.columns.size());
    for (auto& one : given.columns) one.dimensions = given.dimensions;
    given.columns[0].name = "left";
    given.columns[1].name = "right";
    given.left.space = given.right.space = memory_of<side_kind<Left>>;
  }
  return given;
}

}  // namespace detail

}  // namespace zenith

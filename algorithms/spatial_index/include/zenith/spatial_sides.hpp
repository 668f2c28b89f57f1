#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <zenith/columns.hpp>
#include <zenith/spatial_index_tree.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/spatial_output.hpp>

/// \file
/// What joins of points and boxes take for their sides: indexes, or columns, of which they build indexes.

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

/// `memory`: where the side lies. `is_plain`: of a join of all pairs; `is_ranked`: of a ranked one.
template <class T, memory_space Memory, bool IsPlain, bool IsRanked>
struct side_traits {
  using value_type = T;
  static constexpr memory_space memory = Memory;
  static constexpr bool is_plain = IsPlain;
  static constexpr bool is_ranked = IsRanked;
};
template <class Span, bool IsRanked>
using column_traits = side_traits<typename Span::value_type, memory_of<Span>, !IsRanked, IsRanked>;
/// What can be a side; of any other type it is not defined.
template <class Side>
struct join_side;
template <class T, unsigned Dim>
struct join_side<spatial_index<T, Dim>> : side_traits<T, memory_space::host, true, true> {};
template <class T, unsigned Dim>
struct join_side<device_spatial_index<T, Dim>> : side_traits<T, memory_space::device, true, true> {};
template <point_span Span>
struct join_side<basic_column_set<Span>> : column_traits<Span, false> {};
template <point_span Span>
struct join_side<basic_boxes<Span>> : column_traits<Span, false> {};
template <point_span Span>
struct join_side<basic_scored_points<Span>> : column_traits<Span, true> {};
template <point_span Span>
struct join_side<basic_scored_boxes<Span>> : column_traits<Span, true> {};

/// Values of one type in one kind of memory.
template <class Left, class Right>
inline constexpr bool lie_together = std::is_same_v<typename Left::value_type, typename Right::value_type> &&
                                     (Left::memory == Right::memory);
/// Two indexes have as many dimensions; of columns that is known at run time.
template <class Left, class Right>
inline constexpr bool have_equal_dimensions = true;
template <any_spatial_index Left, any_spatial_index Right>
inline constexpr bool have_equal_dimensions<Left, Right> = Left::dimensions == Right::dimensions;
template <class Side>
concept any_side = requires {
  typename join_side<Side>::value_type;
};
template <class Right, class Left>
concept can_be_joined = any_side<Left> && any_side<Right> && lie_together<join_side<Left>, join_side<Right>> &&
    have_equal_dimensions<Left, Right>;
template <class Right, class Left>
concept joined_with = can_be_joined<Right, Left> && join_side<Left>::is_plain && join_side<Right>::is_plain;
template <class Right, class Left>
concept ranked_with = can_be_joined<Right, Left> && join_side<Left>::is_ranked && join_side<Right>::is_ranked;

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
  std::array<std::optional<index_input>, 2> columns = {};  ///< of a side whose index is still to be built
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
  index_join_arguments given{key_type_of<typename join_side<Left>::value_type>,
                             0,
                             {},
                             {},
                             0,
                             static_cast<int>(sizeof(Index)),
                             std::is_signed_v<Index>};
  const auto enter = [&]<class Side>(const Side& one, index_argument& index, std::optional<index_input>& columns,
                                     const char* name) {
    if constexpr (any_spatial_index<Side>) {
      given.dimensions = Side::dimensions;
      index = argument_of(one);
    } else {
      columns = input_of(0, one);
      columns->name = name;
    }
    index.space = join_side<Side>::memory;
  };
  enter(left, given.left, given.columns[0], "left");
  enter(right, given.right, given.columns[1], "right");
  if (given.dimensions == 0) given.dimensions = static_cast<unsigned>(given.columns[0]->low.columns.size());
  for (auto& one : given.columns) {
    if (one) one->dimensions = given.dimensions;
  }
  return given;
}

}  // namespace detail

}  // namespace zenith

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

#include <zenith/error.hpp>
#include <zenith/span.hpp>
#include <zenith/spatial_join_call.hpp>
#include <zenith/top_k.hpp>
#include <zenith/types.hpp>

/// \file
/// Where spatial joins and ranked ranges write: vectors that grow, or memory of the caller's, on the host or a device.

namespace zenith::detail {

/// Memory of the caller for results: all of it on the host, or all on a device.
struct spatial_target {
  enum class kind : std::uint8_t {
    vectors,  ///< none: vectors grow
    memory,
    nothing,  ///< only the number of results is wanted
  };
  kind is = kind::vectors;
  memory_space space = memory_space::host;
  spatial_output at = {};
  std::size_t size = 0;  ///< of each array
};

template <class Range>
inline constexpr bool is_device_span = false;
template <class T>
inline constexpr bool is_device_span<device_span<T>> = true;

template <class Range>
struct output_memory {
  static constexpr bool is_any = false;
};
template <writable_range Range>
struct output_memory<Range> {
  static constexpr bool is_any = true;
  static constexpr memory_space space = memory_space::host;
  using value_type = element_t<Range>;
};
template <class T>
requires(!std::is_const_v<T>) struct output_memory<device_span<T>> {
  static constexpr bool is_any = true;
  static constexpr memory_space space = memory_space::device;
  using value_type = T;
};
template <class Range>
using output_of =
    output_memory<std::conditional_t<is_device_span<std::remove_cvref_t<Range>>, std::remove_cvref_t<Range>, Range>>;

/// A `device_span`, or a writable contiguous range on the host.
template <class Range>
concept output_range = output_of<Range>::is_any;
template <class Range>
concept id_range = output_range<Range> && index<typename output_of<Range>::value_type>;
template <class Range, class T>
concept score_range = output_range<Range> && std::same_as<typename output_of<Range>::value_type, T>;
/// Arrays in one kind of memory.
template <class Range, class... More>
inline constexpr bool are_together = ((output_of<Range>::space == output_of<More>::space) && ...);

template <class Range>
[[nodiscard]] auto* data_of(Range& range) {
  if constexpr (is_device_span<std::remove_cvref_t<Range>>) {
    return range.data();
  } else {
    return std::ranges::data(range);
  }
}
template <class Range>
[[nodiscard]] std::size_t size_of_range(Range& range) {
  if constexpr (is_device_span<std::remove_cvref_t<Range>>) {
    return range.size();
  } else {
    return std::ranges::size(range);
  }
}

/// Two arrays for a pair's ids, as long as each other; throws `invalid_argument`.
template <class Left, class Right>
[[nodiscard]] spatial_target pair_target(const char* function, Left& left, Right& right) {
  require_same_length(std::string{function} + ": right_out", size_of_range(right), "left_out", size_of_range(left));
  return {spatial_target::kind::memory,
          output_of<Left>::space,
          {data_of(left), data_of(right), nullptr},
          size_of_range(left)};
}
/// The same and one for scores.
template <class Left, class Right, class Scores>
[[nodiscard]] spatial_target pair_target(const char* function, Left& left, Right& right, Scores& scores) {
  require_same_length(std::string{function} + ": scores_out", size_of_range(scores), "left_out", size_of_range(left));
  auto target = pair_target(function, left, right);
  target.at.scores = data_of(scores);
  return target;
}

}  // namespace zenith::detail

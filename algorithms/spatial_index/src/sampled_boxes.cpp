#include <algorithms/spatial_index/src/sampled_boxes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <algorithms/spatial_join/points.hpp>

namespace zenith::detail {
namespace {

/// The columns of a side, of an index in the order of its tree.
template <class T>
struct side_columns {
  std::array<const T*, 3> low{};
  std::array<const T*, 3> high{};
  const T* scores;
  std::uint64_t rows;
};

template <class T>
side_columns<T> columns_of(const index_join_arguments& given, bool is_right) {
  side_columns<T> to{};
  const auto column = [](const void* at) { return static_cast<const T*>(at); };
  if (const auto& side = given.columns[is_right ? 1 : 0]) {
    const auto& high = side->has_boxes ? side->high : side->low;
    for (unsigned a = 0; a < given.dimensions; ++a) {
      to.low[a] = column(side->low.columns[a]);
      to.high[a] = column(high.columns[a]);
    }
    to.scores = column(side->low.scores);
    to.rows = side->low.rows;
    return to;
  }
  const auto& index = is_right ? given.right : given.left;
  for (unsigned a = 0; a < given.dimensions; ++a) {
    to.low[a] = column(index.bytes + index.layout->low[a]);
    to.high[a] = column(index.bytes + index.layout->high[a]);
  }
  to.scores = column(index.bytes + index.layout->scores);
  to.rows = index.layout->items;
  return to;
}

}  // namespace

template <class T>
sampled_boxes<T>::sampled_boxes(const index_join_arguments& given, double distance) : dimensions_(given.dimensions) {
  constexpr std::uint64_t most = 512;
  double pairs = 1;
  double taken = 1;
  for (unsigned s = 0; s < 2; ++s) {
    const auto from = columns_of<T>(given, s == 1);
    auto& to = sides_[s];
    const std::uint64_t count = std::min(from.rows, most);
    pairs *= static_cast<double>(from.rows);
    taken *= static_cast<double>(count);
    // Not in the order of a tree, whose neighbours lie together. A side that is joined with itself is to meet other
    // boxes.
    const std::uint64_t first = s * most;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t row = spatial_join_family::sampled_row(first + i, from.rows);
      for (unsigned a = 0; a < dimensions_; ++a) {
        to.centres[a].push_back(from.low[a][row] / 2 + from.high[a][row] / 2);
        to.widths[a] += static_cast<double>(from.high[a][row] - from.low[a][row]) / static_cast<double>(count);
      }
      to.scores.push_back(from.scores[row]);
    }
  }
  pairs_of_one_ = pairs / taken;
  // a ball as large as what centres may lie in
  double space = dimensions_ == 2 ? 1 / std::numbers::pi : 0.75 / std::numbers::pi;
  for (unsigned a = 0; a < dimensions_; ++a) space *= sides_[0].widths[a] + sides_[1].widths[a] + 2 * distance;
  distance_ = dimensions_ == 2 ? std::sqrt(space) : std::cbrt(space);
  if (!(distance_ >= distance)) distance_ = distance;
}

template <class T>
spatial_arguments sampled_boxes<T>::sides() const {
  spatial_arguments to{};
  to.type = key_type_of<T>;
  to.space = memory_space::host;
  to.index_bytes = 8;
  for (unsigned s = 0; s < 2; ++s) {
    auto& points = s == 0 ? to.left : to.right;
    for (unsigned a = 0; a < dimensions_; ++a) points.columns.push_back(sides_[s].centres[a].data());
    points.scores = sides_[s].scores.data();
    points.rows = points.score_count = sides_[s].scores.size();
  }
  return to;
}

template class sampled_boxes<float>;
template class sampled_boxes<double>;

}  // namespace zenith::detail

#pragma once

/// \file
/// Some boxes of both sides of a join as points, for a guess that knows points alone.

#include <array>
#include <vector>

#include <algorithms/spatial_index/src/sides.hpp>

namespace zenith::detail {

/// The centres of some boxes of both sides with their scores, and the distance within which as many pairs of centres
/// are expected as pairs of boxes meet the predicate.
template <class T>
class sampled_boxes {
 public:
  /// Both sides lie on the host and have items. `distance`: of the predicate; 0 where boxes are to intersect.
  sampled_boxes(const index_join_arguments& given, double distance);

  /// The samples as points of both sides; valid as long as this is.
  [[nodiscard]] spatial_arguments sides() const;
  [[nodiscard]] double distance() const { return distance_; }
  /// As many pairs of the join as one of samples stands for.
  [[nodiscard]] double pairs_of_one() const { return pairs_of_one_; }

 private:
  struct side {
    std::array<std::vector<T>, 3> centres;
    std::vector<T> scores;
    std::array<double, 3> widths{};  ///< the means
  };

  unsigned dimensions_;
  std::array<side, 2> sides_;
  double distance_;
  double pairs_of_one_;
};

}  // namespace zenith::detail

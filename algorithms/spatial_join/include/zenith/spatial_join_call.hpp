#pragma once

#include <cstdint>
#include <string_view>

#include <zenith/top_k_call.hpp>
#include <zenith/types.hpp>

namespace zenith {

/// What the score of a pair is, made of the scores of its two points.
enum class pair_score : std::uint8_t {
  sum,           ///< a + b
  product,       ///< a * b; no score may be negative
  minimum,       ///< b < a ? b : a
  maximum,       ///< a < b ? b : a
  weighted_sum,  ///< (left weight * a) + (right weight * b)
};

/// Pairs of points whose Euclidean distance is at most `distance`.
struct within {
  double distance = 0;
};

/// What happened during a ranked join.
struct spatial_join_statistics {
  std::uint64_t rounds = 0;      ///< joins of parts of the sides that it took
  std::uint64_t left_rows = 0;   ///< of the left side that took part in the last of them
  std::uint64_t right_rows = 0;  ///< of the right side
  std::uint64_t candidates = 0;  ///< pairs among which the last of them chose
};

/// What a side has that a join does not take.
enum class spatial_fault : std::uint8_t {
  none,
  coordinate,      ///< NaN or infinite
  score,           ///< NaN or infinite
  negative_score,  ///< where scores are multiplied
  weighted_score,  ///< the product with its weight is infinite
  turned_box,      ///< of an index: a lowest coordinate is above the highest
};

/// What a kernel found. With a fault nothing was written.
struct spatial_outcome {
  std::uint64_t count = 0;  ///< of pairs
  spatial_fault fault = spatial_fault::none;
  bool is_right = false;  ///< the side of the fault
  unsigned axis = 0;      ///< of a coordinate
  std::uint64_t row = 0;  ///< the first of that column
};

/// One side of a join. Every column has `rows` values of the call's type.
struct spatial_side {
  const void* coordinates[3] = {};
  const void* scores = nullptr;  ///< nullptr: none
  std::uint64_t rows = 0;
};

/// Where pairs go: arrays in the memory that the call says. No array: only their number is wanted.
struct spatial_output {
  void* left = nullptr;
  void* right = nullptr;
  void* scores = nullptr;
};

/// What both joins have. Arguments are checked: 2 or 3 dimensions, 1 <= rows < 2^32 - 1, a distance that is not
/// negative. Points a and b are within the distance when
///
///     (ax - bx) * (ax - bx) + (ay - by) * (ay - by)  [+ (az - bz) * (az - bz)]  <=  distance * distance
///
/// where every operation is rounded to the coordinates' type, in this order from left to right, and none is contracted;
/// the distance is rounded to that type first. Of faults the first counts, in the order: left x, y, z, scores, right x,
/// y, z, scores, and the lowest row in the column.
struct spatial_call {
  key_type type{};  ///< of coordinates and scores: float32, float64
  memory_space space = memory_space::host;
  unsigned dimensions = 2;
  spatial_side left;
  spatial_side right;
  double distance = 0;
  int index_bytes = 4;  ///< of an id: 4 or 8
  memory_space out_space = memory_space::host;
  /// Gives memory in `out_space` for so many pairs. Called once, if at all: not with a fault.
  spatial_output (*provide)(void* state, std::uint64_t count) = nullptr;
  /// May be asked before, with the same state and count: where the memory is that `provide` will make the results' and
  /// write, so that many threads can touch it first. nullptr: it is not known.
  spatial_output (*reserve)(void* state, std::uint64_t count) = nullptr;
  /// May be called after `reserve`, and before `provide`, to make one side's results so many: two threads can make both
  /// at the same time. nullptr: `provide` makes both.
  void (*grow)(void* state, std::uint64_t count, bool is_right) = nullptr;
  void* provide_state = nullptr;
  spatial_outcome* outcome = nullptr;
};

/// All pairs within the distance, by left id and then by right id. Scores are not looked at.
struct spatial_join_call : spatial_call {
  static constexpr std::string_view operation = "spatial_join";
};

/// The min(k, pairs) best pairs within the distance, by score, left id, right id. 1 <= k, weights are finite, and 1 but
/// for `weighted_sum`. The score of a pair is computed in the coordinates' type, each operation rounded.
struct top_k_spatial_join_call : spatial_call {
  static constexpr std::string_view operation = "top_k_spatial_join";

  pair_score score = pair_score::sum;
  double left_weight = 1;
  double right_weight = 1;
  selection select = selection::largest;
  std::uint64_t k = 0;
  spatial_join_statistics* statistics = nullptr;  ///< the host's, filled in; nullptr: not wanted
  std::uint64_t blocks_at_once = 0;               ///< of "ba" and "sfa"; 0: chosen
  std::uint64_t expected_pairs = 0;               ///< 0: not known
};

}  // namespace zenith

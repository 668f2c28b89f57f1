#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/subject.hpp>

namespace zenith_study {

/// Two sides of points in the thesis' square of 1000, with scores from 0 to 100. Clusters are the same for both sides.
/// Anticorrelated scores rise to the right on the left side and to the left on the right side, so that the best points
/// are far apart.
inline constexpr std::array<std::string_view, 3> spatial_kinds{"uniform", "clustered", "anticorrelated"};

/// The thesis' own data: uniform points with whole scores.
inline constexpr std::string_view thesis_kind = "thesis";

/// Rows of both sides.
struct side_rows {
  std::uint64_t left = 0;
  std::uint64_t right = 0;

  [[nodiscard]] bool operator==(const side_rows&) const = default;
  [[nodiscard]] std::uint64_t most() const { return left > right ? left : right; }
  /// "1,024", or "1,024 x 32".
  [[nodiscard]] std::string text() const;
};
/// Counts as `parse_counts` takes them, for both sides, and "2^20x2^10" for sides of different size; the smallest
/// joins first.
[[nodiscard]] std::vector<side_rows> parse_side_rows(std::string_view what, std::string_view text);

struct spatial_sides;
[[nodiscard]] std::shared_ptr<spatial_sides> draw_sides(std::string_view kind, side_rows rows, double distance,
                                                        std::uint64_t seed);

/// How many pairs there are; counted once.
[[nodiscard]] std::uint64_t pairs_of(spatial_sides& sides);

/// The one question for the `k` best pairs of both sides, or for all of them where `k` is 0. Right is what the first
/// strategy finds.
[[nodiscard]] std::shared_ptr<input> make_spatial_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k);
[[nodiscard]] std::string_view spatial_operation(std::uint64_t k);

/// What a join of indexes by blocks can be told.
enum class block_parameter {
  fanout,   ///< items of a block, which is a leaf
  at_once,  ///< blocks that are joined together
};
[[nodiscard]] std::string_view name_of(block_parameter which);

/// The same by indexes, a question for each of these values: a call builds both sides' indexes on the host and joins
/// them. There is no model of both together.
[[nodiscard]] std::shared_ptr<input> make_block_input(std::shared_ptr<spatial_sides> sides, std::uint64_t k,
                                                      block_parameter which, std::vector<std::uint32_t> values);
[[nodiscard]] std::string_view block_operation();

/// The best pairs of the first strategy that answered, as SVG.
[[nodiscard]] std::string map_of(const input& of, std::string_view kind);

}  // namespace zenith_study

#pragma once

/// \file
/// Points for the suite of spatial joins, the double loop that says what their joins are, and the comparison of a
/// target with it. The same cases make two programs: one for the backends of the build and one for the CUDA backend
/// emulated lane by lane.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <settings.hpp>
#include <spatial_cases.hpp>
#include <targets.hpp>
#include <verdict.hpp>
#include <zenith/spatial_join.hpp>

namespace conformance::spatial {

using zenith_test::random_source;
using zenith_test::spatial::every_shape;
using zenith_test::spatial::shape;
using float32 = float;
using float64 = double;

struct suite {
  std::vector<zenith_test::target> joins;   ///< of spatial_join
  std::vector<zenith_test::target> ranked;  ///< of top_k_spatial_join
  std::size_t most_rows = 0;
  bool asks_for_one_k = false;  ///< of several, one that is drawn
};

/// Each program defines it.
[[nodiscard]] const suite& the_suite();

template <class T>
struct point_table {
  std::vector<std::vector<T>> columns;
  std::vector<T> scores;

  [[nodiscard]] std::size_t rows() const { return scores.size(); }
};

enum class scores {
  whole,    ///< few whole numbers: many ties
  real,     ///< hardly any ties
  against,  ///< the best of the left side are far from the best of the right
  all_equal,
};
inline constexpr scores every_scores[] = {scores::whole, scores::real, scores::against, scores::all_equal};

[[nodiscard]] std::string name_of(shape one);

/// Scores are not negative if `positive`.
template <class T>
[[nodiscard]] point_table<T> make_points(shape one, scores kind, std::size_t rows, unsigned dimensions, bool is_right,
                                         bool positive, random_source& random);

/// A distance with some partners for a point of the shape; 0 and infinite ones, too.
[[nodiscard]] double some_distance(shape one, random_source& random);

struct pair {
  std::uint64_t left;
  std::uint64_t right;
  double score;
};

template <class T>
struct question {
  std::string name;
  point_table<T> left;
  point_table<T> right;
  zenith::top_k_spatial_join_options options;  ///< but for the strategy
};

/// All pairs, by the definition; in the order of ids.
template <class T>
[[nodiscard]] std::vector<pair> all_pairs(const question<T>& asked);

/// Compares the targets with all pairs, and with the k best of them for each k. A share of the targets that the seed
/// draws, at least one of each backend and strategy.
template <class T>
void ask(zenith_test::verdict& seen, const question<T>& asked, const std::vector<std::size_t>& ks,
         random_source& random);

/// 0, 1, about the number of pairs, and something between.
[[nodiscard]] std::vector<std::size_t> some_ks(std::size_t pairs, random_source& random);

}  // namespace conformance::spatial

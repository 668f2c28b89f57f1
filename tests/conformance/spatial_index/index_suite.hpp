#pragma once

/// \file
/// Items for the suite of spatial indexes, the loops that say what their queries are, and the comparison of a target
/// with them. The same cases make several programs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <settings.hpp>
#include <spatial_cases.hpp>
#include <targets.hpp>
#include <verdict.hpp>
#include <zenith/spatial_index.hpp>

namespace conformance::spatial_index {

using zenith_test::random_source;
using zenith_test::spatial::every_shape;
using zenith_test::spatial::shape;
using float32 = float;
using float64 = double;

struct suite {
  std::vector<zenith_test::target> ranges;     ///< of top_k_range
  std::vector<zenith_test::target> joins;      ///< of top_k_index_join
  std::vector<zenith_test::target> all_pairs;  ///< of index_join
  std::vector<zenith_test::target> builds;     ///< of index_build
  std::size_t most_items = 0;
  double effort = 1;  ///< the share of the questions that is asked
};

/// Each program defines it.
[[nodiscard]] const suite& the_suite();

/// Items of a side. Points have no `high`.
template <class T>
struct item_table {
  std::vector<std::vector<T>> low;
  std::vector<std::vector<T>> high;
  std::vector<T> scores;

  [[nodiscard]] std::size_t size() const { return scores.size(); }
};

template <class T>
struct question {
  std::string name;
  item_table<T> left;
  item_table<T> right;
  zenith::spatial_index_options left_build;
  zenith::spatial_index_options right_build;
  zenith::top_k_index_join_options options;  ///< but for the strategy
  std::size_t k = 1;
};

/// Points or boxes of a shape, scores with many ties or few, some of them zeros of both signs; of one number of
/// dimensions for both sides.
template <class T>
[[nodiscard]] question<T> make_question(shape one, std::size_t left, std::size_t right, random_source& random);

/// Compares the joins of a share of the targets, at least one of each backend and strategy, with a double loop.
template <class T>
void ask_join(zenith_test::verdict& seen, const question<T>& asked, random_source& random);
/// Compares a build of the left side's index where a target has its memory with the host's, byte by byte.
template <class T>
void ask_build(zenith_test::verdict& seen, const question<T>& asked, random_source& random);
/// The same of ranges over the left side: around some items, over all, and beside them.
template <class T>
void ask_range(zenith_test::verdict& seen, const question<T>& asked, random_source& random);

}  // namespace conformance::spatial_index

#pragma once

/// \file
/// A join of two sides, whatever they are, in one of the ways that there are, compared with what is expected.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <oracle.hpp>

namespace conformance::spatial_index {

/// All pairs: as vectors, in memory of the caller's, or in batches.
template <class Left, class Right, class T>
[[nodiscard]] std::string join_all(const zenith_test::target& on, const Left& left, const Right& right,
                                   const std::variant<zenith::within, zenith::intersects>& predicate,
                                   const std::vector<ranked<T>>& expected, random_source& random) {
  using namespace zenith_test::spatial;
  const std::size_t count = expected.size();
  const zenith::index_join_options options{predicate, on.strategy};
  const auto way = random() % 3;
  const std::string name = "all pairs, way " + std::to_string(way) + ": ";
  zenith::spatial_join_result<std::uint32_t> found;
  if (way == 0) {
    found = zenith::spatial_join(on.on, left, right, options);
    if (found.strategy != on.strategy || found.backend != on.on.backend()) return name + "ran as " + found.strategy;
  } else if (way == 1) {
    if (zenith::count_spatial_join(on.on, left, right, options).count != count) return name + "counts otherwise";
    const bool to_device = on.memory == zenith::memory_space::device && random() % 4 != 0;
    outputs<std::uint32_t> lefts(on, count + random() % 3, to_device);
    outputs<std::uint32_t> rights(on, lefts.on_host().size(), to_device);
    found.count = (to_device ? zenith::spatial_join(on.on, left, right, lefts.on_device(), rights.on_device(), options)
                             : zenith::spatial_join(on.on, left, right, lefts.on_host(), rights.on_host(), options))
                      .count;
    if (!take_first(lefts, found.count, found.left) || !take_first(rights, found.count, found.right)) {
      return name + "writes behind the pairs";
    }
  } else {
    const std::size_t batch_pairs = 1 + count / (1 + random() % 6);
    bool is_right = true;
    const auto take = [&](std::span<const std::uint32_t> ids, std::span<const std::uint32_t> partners) {
      is_right = is_right && !ids.empty() && ids.size() == partners.size() &&
                 (ids.size() <= 2 * batch_pairs || ids.front() == ids.back());
      found.left.insert(found.left.end(), ids.begin(), ids.end());
      found.right.insert(found.right.end(), partners.begin(), partners.end());
    };
    const zenith::index_join_batch_options of_batches{predicate, on.strategy, batch_pairs};
    found.count = zenith::spatial_join_batches(on.on, left, right, take, of_batches).count;
    if (!is_right) return name + "a batch is empty or too large";
  }
  if (found.count != count || found.left.size() != count || found.right.size() != count) {
    return name + "count is " + std::to_string(found.count) + ", expected " + std::to_string(count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (found.left[i] == expected[i].left && found.right[i] == expected[i].right) continue;
    return name + "place " + std::to_string(i) + " is (" + std::to_string(found.left[i]) + ", " +
           std::to_string(found.right[i]) + ")";
  }
  return {};
}

/// The k best: as vectors, or in memory of the caller's.
template <class Left, class Right, class T>
[[nodiscard]] std::string join_best(const zenith_test::target& on, const Left& left, const Right& right,
                                    const question<T>& asked, const std::vector<ranked<T>>& expected,
                                    random_source& random) {
  using namespace zenith_test::spatial;
  auto options = asked.options;
  options.strategy = on.strategy;
  if (asked.k <= expected.size() + 3 && random() % 2 == 0) {
    const bool to_device = on.memory == zenith::memory_space::device;
    outputs<std::uint64_t> to_left(on, asked.k, to_device);
    outputs<std::uint64_t> to_right(on, asked.k, to_device);
    outputs<T> to_scores(on, asked.k, to_device);
    const auto run = to_device ? zenith::top_k_spatial_join(on.on, left, right, to_left.on_device(),
                                                            to_right.on_device(), to_scores.on_device(), options)
                               : zenith::top_k_spatial_join(on.on, left, right, to_left.on_host(), to_right.on_host(),
                                                            to_scores.on_host(), options);
    std::vector<std::uint64_t> lefts;
    std::vector<std::uint64_t> rights;
    std::vector<T> scores;
    if (!take_first(to_left, run.count, lefts) || !take_first(to_right, run.count, rights) ||
        !take_first(to_scores, run.count, scores)) {
      return "writes behind the pairs";
    }
    return difference<T>(expected, scores, lefts, rights);
  }
  const auto found = zenith::top_k_spatial_join(on.on, left, right, asked.k, options);
  if (found.strategy != on.strategy || found.count != found.left.size()) return "ran as " + found.strategy;
  return difference<T>(expected, found.scores, widened(found.left), widened(found.right));
}

}  // namespace conformance::spatial_index

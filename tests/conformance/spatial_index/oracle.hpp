#pragma once

/// \file
/// The loops that say what queries of indexes are.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <index_suite.hpp>

namespace conformance::spatial_index {

/// One item, or a region, as the double loop sees it.
struct box_at {
  double low[3];
  double high[3];
};

template <class T>
[[nodiscard]] box_at at(const item_table<T>& of, std::size_t i) {
  box_at one{};
  for (std::size_t a = 0; a < of.low.size(); ++a) {
    one.low[a] = of.low[a][i];
    one.high[a] = of.high.empty() ? of.low[a][i] : of.high[a][i];
  }
  return one;
}

/// Coordinates are numbers of T. nullptr: whether they intersect.
template <class T>
[[nodiscard]] bool are_near(const box_at& left, const box_at& right, std::size_t dimensions, const double* distance) {
  volatile T sum = 0;
  bool has_gap = false;
  for (std::size_t a = 0; a < dimensions; ++a) {
    volatile T gap = 0;
    if (left.high[a] < right.low[a]) gap = static_cast<T>(right.low[a]) - static_cast<T>(left.high[a]);
    if (right.high[a] < left.low[a]) gap = static_cast<T>(left.low[a]) - static_cast<T>(right.high[a]);
    has_gap = has_gap || left.high[a] < right.low[a] || right.high[a] < left.low[a];
    volatile T square = gap * gap;
    if (a == 0) {
      sum = square;
    } else {
      sum = sum + square;
    }
  }
  if (distance == nullptr) return !has_gap;
  volatile T most = static_cast<T>(*distance) * static_cast<T>(*distance);
  return sum <= most;
}

template <class T>
struct ranked {
  T score;
  std::size_t left;
  std::size_t right;
};

/// All pairs that are near each other, by ids.
template <class T>
[[nodiscard]] std::vector<ranked<T>> every_pair(const question<T>& asked) {
  const auto* const near = std::get_if<zenith::within>(&asked.options.predicate);
  std::vector<ranked<T>> all;
  for (std::size_t i = 0; i < asked.left.size(); ++i) {
    for (std::size_t j = 0; j < asked.right.size(); ++j) {
      if (!are_near<T>(at(asked.left, i), at(asked.right, j), asked.left.low.size(),
                       near == nullptr ? nullptr : &near->distance)) {
        continue;
      }
      const T score = zenith_test::spatial::score_of(asked.options, asked.left.scores[i], asked.right.scores[j]);
      all.push_back({score, i, j});
    }
  }
  return all;
}

/// Items in the order of their ids become the k best of them.
template <class T>
void keep_best(std::vector<ranked<T>>& all, zenith::selection select, std::size_t k) {
  std::stable_sort(all.begin(), all.end(), [&](const ranked<T>& a, const ranked<T>& b) {
    return select == zenith::selection::largest ? a.score > b.score : a.score < b.score;
  });
  all.resize(std::min(k, all.size()));
}

template <class T>
[[nodiscard]] std::string difference(const std::vector<ranked<T>>& expected, std::span<const T> scores,
                                     const std::vector<std::uint64_t>& left, const std::vector<std::uint64_t>& right) {
  if (left.size() != expected.size() || right.size() != expected.size() || scores.size() != expected.size()) {
    return "count is " + std::to_string(left.size()) + ", expected " + std::to_string(expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& one = expected[i];
    if (left[i] == one.left && right[i] == one.right && std::memcmp(&scores[i], &one.score, sizeof(T)) == 0) continue;
    return "place " + std::to_string(i) + " is (" + std::to_string(left[i]) + ", " + std::to_string(right[i]) +
           "), expected (" + std::to_string(one.left) + ", " + std::to_string(one.right) + ") with " +
           std::to_string(one.score);
  }
  return {};
}

template <class T>
[[nodiscard]] std::string text_of(const question<T>& asked) {
  const auto side = [](const item_table<T>& of, std::uint32_t fanout) {
    return std::to_string(of.size()) + (of.high.empty() ? " points" : " boxes") + " (fanout " + std::to_string(fanout) +
           ")";
  };
  const auto* const near = std::get_if<zenith::within>(&asked.options.predicate);
  return asked.name + " " + std::to_string(asked.left.low.size()) + "-D, " + side(asked.left, asked.left_build.fanout) +
         " and " + side(asked.right, asked.right_build.fanout) + ", " +
         (near == nullptr ? "intersects" : "within " + std::to_string(near->distance)) + ", score " +
         std::to_string(static_cast<int>(asked.options.score)) +
         (asked.options.select == zenith::selection::largest ? " largest" : " smallest") +
         ", k = " + std::to_string(asked.k);
}

[[nodiscard]] inline std::vector<std::uint64_t> widened(const std::vector<std::uint32_t>& ids) {
  return {ids.begin(), ids.end()};
}

}  // namespace conformance::spatial_index

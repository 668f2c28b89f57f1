#pragma once

/// \file
/// How large the suite of scored top-k is, and what it compares with. The same cases make two programs: one for the
/// backends of the build and one for the CUDA backend emulated lane by lane.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <harness.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/scored_top_k.hpp>

namespace conformance::scored {

struct suite {
  std::vector<zenith_test::target> targets;
  std::size_t most_rows = 0;
};

/// Each program defines it.
[[nodiscard]] const suite& the_suite();

/// A table, its weights, and what is asked of it.
template <class T>
struct question {
  using score = zenith::score_t<T>;

  std::string name;
  std::vector<std::vector<T>> columns;
  std::vector<score> weights;
  std::size_t k = 0;
  zenith::selection select = zenith::selection::largest;
  zenith::nan_policy nans = zenith::nan_policy::last;
  std::size_t offset = 0;  ///< of column j: this times j elements, so that columns differ in alignment

  [[nodiscard]] std::string text() const {
    return name + ", " + std::to_string(columns.front().size()) + " rows, " + std::to_string(columns.size()) +
           " columns, k = " + std::to_string(k) + (select == zenith::selection::largest ? " largest" : " smallest") +
           " nans=" + std::to_string(static_cast<int>(nans));
  }
};

/// Rows by rank with their scores, by the definition.
template <class T>
struct answer {
  std::vector<zenith::score_t<T>> scores;
  std::vector<std::uint64_t> order;
  bool has_nan = false;

  explicit answer(const question<T>& asked) {
    using score = zenith::score_t<T>;
    const std::size_t rows = asked.columns.front().size();
    scores.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      bool first = true;
      volatile score sum = 0;
      for (std::size_t j = 0; j < asked.columns.size(); ++j) {
        if (asked.weights[j] == 0) continue;
        // through memory: no operation is contracted, reordered or widened
        volatile score product = asked.weights[j] * static_cast<score>(asked.columns[j][i]);
        if (first) {
          sum = product;
        } else {
          sum = sum + product;
        }
        first = false;
      }
      scores[i] = sum;
      has_nan = has_nan || scores[i] != scores[i];
    }
    order.resize(rows);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::ranges::stable_sort(order, [&](std::uint64_t a, std::uint64_t b) {
      const score x = scores[a];
      const score y = scores[b];
      if (x != x || y != y) return asked.nans == zenith::nan_policy::last ? y != y && x == x : x != x && y == y;
      return asked.select == zenith::selection::largest ? x > y : x < y;
    });
  }
};

/// The first place that differs; empty when none does.
template <class T, class Index>
[[nodiscard]] std::string difference(const question<T>& asked, const answer<T>& expected,
                                     std::span<const zenith::score_t<T>> scores, std::span<const Index> rows) {
  for (std::size_t i = 0; i < asked.k; ++i) {
    const auto row = expected.order[i];
    const auto score = expected.scores[row];
    // what a NaN carries is the machine's business
    const bool same = score != score ? scores[i] != scores[i] : std::memcmp(&score, &scores[i], sizeof score) == 0;
    if (same && static_cast<std::uint64_t>(rows[i]) == row) continue;
    return "place " + std::to_string(i) + " is row " + std::to_string(rows[i]) + " with " + std::to_string(scores[i]) +
           ", expected row " + std::to_string(row) + " with " + std::to_string(score);
  }
  return {};
}

/// What is wrong with `asked` on a target; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, const question<T>& asked, const answer<T>& expected,
                                   bool on_device) {
  using score = zenith::score_t<T>;
  const std::size_t rows = asked.columns.front().size();
  const zenith::top_k_options options{.select = asked.select, .nans = asked.nans, .strategy = on.strategy};
  std::vector<std::vector<T>> shifted;
  for (std::size_t j = 0; j < asked.columns.size(); ++j) {
    shifted.emplace_back(asked.offset * j + rows);
    std::ranges::copy(asked.columns[j], shifted.back().begin() + static_cast<std::ptrdiff_t>(asked.offset * j));
  }
  constexpr score untouched{-77};
  std::vector<score> scores(asked.k, untouched);
  std::vector<std::uint32_t> narrow(asked.k);
  bool rejected = false;
  try {
    if (on_device) {
      std::vector<zenith::array<T>> held;
      zenith::device_column_set<T> columns;
      for (std::size_t j = 0; j < shifted.size(); ++j) {
        held.emplace_back(on.on, std::span<const T>(shifted[j]));
        columns.add(std::as_const(held.back()).device().subspan(asked.offset * j, rows));
      }
      zenith::array<score> out(on.on, std::span<const score>(scores));
      zenith::array<std::uint32_t> out_rows(on.on, std::span<const std::uint32_t>(narrow));
      zenith::top_k(on.on, columns, asked.weights, out.device(), out_rows.device(), options);
      out.copy_to(scores);
      out_rows.copy_to(narrow);
    } else {
      zenith::column_set<T> columns;
      for (std::size_t j = 0; j < shifted.size(); ++j) {
        columns.add(std::span<const T>(shifted[j]).subspan(asked.offset * j));
      }
      zenith::top_k(on.on, columns, asked.weights, scores, narrow, options);
    }
  } catch (const zenith::error& fault) {
    if (fault.code() != zenith::error_code::invalid_argument || !expected.has_nan) return fault.what();
    rejected = true;
  }
  if (asked.nans == zenith::nan_policy::reject && expected.has_nan && asked.k > 0) {
    if (!rejected) return "a NaN was not rejected";
    return std::ranges::all_of(scores, [](score one) { return one == untouched; }) ? "" : "outputs were written";
  }
  if (rejected) return "it was rejected";
  return difference<T, std::uint32_t>(asked, expected, scores, narrow);
}

/// Puts a question to every target of the suite.
template <class T>
void ask_everywhere(zenith_test::verdict& seen, const question<T>& asked, zenith_test::random_source& random) {
  const answer<T> expected(asked);
  zenith_test::judge(
      seen, the_suite().targets, random, zenith_test::everywhere, [&] { return asked.text(); },
      [&](const zenith_test::place& at) { return fault_of(at.on, asked, expected, at.on_device); });
}

}  // namespace conformance::scored

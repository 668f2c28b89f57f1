#pragma once

/// \file
/// What every target of predicated top-k is asked, and the answer by the definition.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <harness.hpp>
#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/predicated_top_k.hpp>

namespace conformance::predicated {

struct suite {
  std::vector<zenith_test::target> targets;
  std::size_t most_rows = 0;
};

/// Each program defines it.
[[nodiscard]] const suite& the_suite();

/// Keys of T, and a column of U in which the rows taken lie in [low, high].
template <class T, class U>
struct question {
  std::string name;
  std::vector<T> keys;
  std::vector<U> column;
  U low{};
  U high{};
  bool is_packed = false;  ///< integers only
  zenith::encoding kind = zenith::encoding::automatic;
  std::size_t k = 0;
  zenith::selection select = zenith::selection::largest;
  zenith::nan_policy nans = zenith::nan_policy::last;
  std::size_t offset = 0;  ///< of the keys and the plain column in their memory
};

/// The rows taken, best first, by the definition.
template <class T, class U>
[[nodiscard]] std::vector<std::size_t> rows_by_rank(const question<T, U>& asked) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < asked.keys.size(); ++i) {
    if (asked.column[i] >= asked.low && asked.column[i] <= asked.high) rows.push_back(i);
  }
  const bool nan_first = asked.nans != zenith::nan_policy::last;
  std::ranges::stable_sort(rows, [&](std::size_t i, std::size_t j) {
    const T a = asked.keys[i];
    const T b = asked.keys[j];
    const bool a_is_nan = a != a;
    const bool b_is_nan = b != b;
    if (a_is_nan || b_is_nan) return nan_first ? a_is_nan && !b_is_nan : !a_is_nan && b_is_nan;
    return asked.select == zenith::selection::largest ? a > b : a < b;
  });
  return rows;
}

/// Keys and indices with a margin that must stay as it was.
template <class T>
struct results {
  static constexpr std::size_t margin = 3;
  std::vector<T> keys;
  std::vector<std::uint32_t> indices;

  explicit results(std::size_t k) : keys(k + margin, T(77)), indices(k + margin, 0xabcdU) {}
  [[nodiscard]] bool is_unwritten_from(std::size_t first) const {
    return std::all_of(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end(),
                       [](T one) { return one == T(77); }) &&
           std::all_of(indices.begin() + static_cast<std::ptrdiff_t>(first), indices.end(),
                       [](std::uint32_t one) { return one == 0xabcdU; });
  }
};

template <class T, class U>
[[nodiscard]] std::size_t run_on_host(const zenith_test::target& on, const question<T, U>& asked,
                                      const zenith::top_k_options& options, results<T>& to) {
  std::vector<T> keys(asked.offset);
  keys.insert(keys.end(), asked.keys.begin(), asked.keys.end());
  const auto some_keys = std::span<const T>(keys).subspan(asked.offset);
  const auto out_keys = std::span(to.keys).first(asked.k);
  const auto out_indices = std::span(to.indices).first(asked.k);
  if constexpr (zenith::packable<U>) {
    if (asked.is_packed) {
      const auto packed = zenith::pack(zenith::reference(), asked.column, asked.kind);
      return zenith::top_k(on.on, some_keys, zenith::where(packed, asked.low, asked.high), out_keys, out_indices,
                           options)
          .count;
    }
  }
  std::vector<U> column(asked.offset);
  column.insert(column.end(), asked.column.begin(), asked.column.end());
  const auto rows = zenith::where(std::span<const U>(column).subspan(asked.offset), asked.low, asked.high);
  return zenith::top_k(on.on, some_keys, rows, out_keys, out_indices, options).count;
}

template <class T, class U>
[[nodiscard]] std::size_t run_on_device(const zenith_test::target& on, const question<T, U>& asked,
                                        const zenith::top_k_options& options, results<T>& to) {
  const zenith::array<T> keys(on.on, asked.keys);
  zenith::array<T> out_keys(on.on, std::span<const T>(to.keys));
  zenith::array<std::uint32_t> out_indices(on.on, std::span<const std::uint32_t>(to.indices));
  const auto run = [&](const zenith::row_predicate& rows) {
    const auto count = zenith::top_k(on.on, keys.device(), rows, out_keys.device().first(asked.k),
                                     out_indices.device().first(asked.k), options)
                           .count;
    out_keys.copy_to(to.keys);
    out_indices.copy_to(to.indices);
    return count;
  };
  if constexpr (zenith::packable<U>) {
    if (asked.is_packed) {
      const auto packed = zenith::pack(zenith::reference(), asked.column, asked.kind);
      const zenith::packed_device_column<U> there(on.on, packed);
      return run(zenith::where(there, asked.low, asked.high));
    }
  }
  const zenith::array<U> column(on.on, asked.column);
  return run(zenith::where(column.device(), asked.low, asked.high));
}

/// What is wrong with `asked` on a target; empty when nothing is.
template <class T, class U>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, const question<T, U>& asked,
                                   const std::vector<std::size_t>& expected, bool on_device) {
  zenith::top_k_statistics statistics;
  const zenith::top_k_options options{
      .select = asked.select, .nans = asked.nans, .strategy = on.strategy, .statistics = &statistics};
  results<T> seen(asked.k);
  const bool is_rejected = asked.nans == zenith::nan_policy::reject && asked.k > 0 && !expected.empty() &&
                           asked.keys[expected[0]] != asked.keys[expected[0]];
  std::size_t count = 0;
  try {
    count = on_device ? run_on_device(on, asked, options, seen) : run_on_host(on, asked, options, seen);
  } catch (const zenith::error& fault) {
    if (!is_rejected || fault.code() != zenith::error_code::invalid_argument) return fault.what();
    return seen.is_unwritten_from(0) ? "" : "outputs were written";
  }
  if (is_rejected) return "a NaN was not rejected";
  const auto most = std::min(asked.k, expected.size());
  if (count != most) return "says " + std::to_string(count) + " keys, expected " + std::to_string(most);
  for (std::size_t i = 0; i < most; ++i) {
    const auto row = expected[i];
    if (seen.indices[i] == row && std::memcmp(&seen.keys[i], &asked.keys[row], sizeof(T)) == 0) continue;
    return "place " + std::to_string(i) + " is row " + std::to_string(seen.indices[i]) + " with " +
           std::to_string(seen.keys[i]) + ", expected row " + std::to_string(row) + " with " +
           std::to_string(asked.keys[row]);
  }
  return seen.is_unwritten_from(most) ? "" : "wrote behind the results";
}

/// Puts a question to every target of the suite.
template <class T, class U>
void ask_everywhere(zenith_test::verdict& seen, const question<T, U>& asked, zenith_test::random_source& random) {
  const auto expected = rows_by_rank(asked);
  const auto text = [&] {
    return asked.name + ", " + std::to_string(asked.keys.size()) + " rows, " + std::to_string(expected.size()) +
           " taken by [" + std::to_string(asked.low) + ", " + std::to_string(asked.high) +
           "], k = " + std::to_string(asked.k) +
           (asked.select == zenith::selection::largest ? " largest" : " smallest") +
           (asked.is_packed ? " packed " + std::string{zenith::to_string(asked.kind)} : std::string{}) +
           " nans=" + std::to_string(static_cast<int>(asked.nans));
  };
  zenith_test::judge(seen, the_suite().targets, random, zenith_test::everywhere, text,
                     [&](const zenith_test::place& at) { return fault_of(at.on, asked, expected, at.on_device); });
}

}  // namespace conformance::predicated

#pragma once

/// \file
/// What every target of predicated top-k is asked, and the answer by the definition.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
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
  std::size_t most_packed_rows = 0;  ///< where every encoding is asked: a few groups of packed values
};

/// Each program defines it.
[[nodiscard]] const suite& the_suite();

/// The column of a question, of whatever type: what is asked is compiled for each type of keys, not for each pair.
class some_column {
 public:
  using use_predicate = std::function<void(const zenith::row_predicate&)>;

  bool is_packed = false;  ///< integers only
  zenith::encoding kind = zenith::encoding::automatic;

  virtual ~some_column() = default;
  [[nodiscard]] virtual bool can_be_packed() const = 0;
  [[nodiscard]] virtual bool takes(std::size_t row) const = 0;
  [[nodiscard]] virtual std::string range() const = 0;
  /// Calls use(the rows taken) with the column at an offset in the host's memory.
  virtual void on_host(std::size_t offset, const use_predicate& use) const = 0;
  virtual void on_device(const zenith::executor& on, const use_predicate& use) const = 0;
};

/// One of U, in which the rows taken lie in [low, high].
template <class U>
class column_of final : public some_column {
 public:
  std::vector<U> values;
  U low{};
  U high{};

  [[nodiscard]] bool can_be_packed() const override { return zenith::packable<U>; }
  [[nodiscard]] bool takes(std::size_t row) const override { return values[row] >= low && values[row] <= high; }
  [[nodiscard]] std::string range() const override {
    return "[" + std::to_string(low) + ", " + std::to_string(high) + "]";
  }
  void on_host(std::size_t offset, const use_predicate& use) const override {
    if constexpr (zenith::packable<U>) {
      if (is_packed) {
        const auto packed = zenith::pack(zenith::reference(), values, kind);
        return use(zenith::where(packed, low, high));
      }
    }
    std::vector<U> moved(offset);
    moved.insert(moved.end(), values.begin(), values.end());
    use(zenith::where(std::span<const U>(moved).subspan(offset), low, high));
  }
  void on_device(const zenith::executor& on, const use_predicate& use) const override {
    if constexpr (zenith::packable<U>) {
      if (is_packed) {
        const auto packed = zenith::pack(zenith::reference(), values, kind);
        const zenith::packed_device_column<U> there(on, packed);
        return use(zenith::where(there, low, high));
      }
    }
    const zenith::array<U> there(on, values);
    use(zenith::where(there.device(), low, high));
  }
};

/// Keys of T, and what is wanted of them.
template <class T>
struct question {
  std::string name;
  std::vector<T> keys;
  std::size_t k = 0;
  zenith::selection select = zenith::selection::largest;
  zenith::nan_policy nans = zenith::nan_policy::last;
  std::size_t offset = 0;  ///< of the keys and a plain column in their memory
};

/// The rows taken, best first, by the definition.
template <class T>
[[nodiscard]] std::vector<std::size_t> rows_by_rank(const question<T>& asked, const some_column& column) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < asked.keys.size(); ++i) {
    if (column.takes(i)) rows.push_back(i);
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

template <class T>
[[nodiscard]] std::size_t run_on_host(const zenith_test::target& on, const question<T>& asked,
                                      const some_column& column, const zenith::top_k_options& options, results<T>& to) {
  std::vector<T> keys(asked.offset);
  keys.insert(keys.end(), asked.keys.begin(), asked.keys.end());
  std::size_t count = 0;
  column.on_host(asked.offset, [&](const zenith::row_predicate& rows) {
    count = zenith::top_k(on.on, std::span<const T>(keys).subspan(asked.offset), rows,
                          std::span(to.keys).first(asked.k), std::span(to.indices).first(asked.k), options)
                .count;
  });
  return count;
}

template <class T>
[[nodiscard]] std::size_t run_on_device(const zenith_test::target& on, const question<T>& asked,
                                        const some_column& column, const zenith::top_k_options& options,
                                        results<T>& to) {
  const zenith::array<T> keys(on.on, asked.keys);
  zenith::array<T> out_keys(on.on, std::span<const T>(to.keys));
  zenith::array<std::uint32_t> out_indices(on.on, std::span<const std::uint32_t>(to.indices));
  std::size_t count = 0;
  column.on_device(on.on, [&](const zenith::row_predicate& rows) {
    count = zenith::top_k(on.on, keys.device(), rows, out_keys.device().first(asked.k),
                          out_indices.device().first(asked.k), options)
                .count;
    out_keys.copy_to(to.keys);
    out_indices.copy_to(to.indices);
  });
  return count;
}

/// What is wrong with `asked` on a target; empty when nothing is.
template <class T>
[[nodiscard]] std::string fault_of(const zenith_test::target& on, const question<T>& asked, const some_column& column,
                                   const std::vector<std::size_t>& expected, bool on_device) {
  zenith::top_k_statistics statistics;
  const zenith::top_k_options options{
      .select = asked.select, .nans = asked.nans, .strategy = on.strategy, .statistics = &statistics};
  results<T> seen(asked.k);
  const bool is_rejected = asked.nans == zenith::nan_policy::reject && asked.k > 0 && !expected.empty() &&
                           asked.keys[expected[0]] != asked.keys[expected[0]];
  std::size_t count = 0;
  try {
    count = on_device ? run_on_device(on, asked, column, options, seen) : run_on_host(on, asked, column, options, seen);
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
template <class T>
void ask_everywhere(zenith_test::verdict& seen, const question<T>& asked, const some_column& column,
                    zenith_test::random_source& random) {
  const auto expected = rows_by_rank(asked, column);
  const auto text = [&] {
    return asked.name + ", " + std::to_string(asked.keys.size()) + " rows, " + std::to_string(expected.size()) +
           " taken by " + column.range() + ", k = " + std::to_string(asked.k) +
           (asked.select == zenith::selection::largest ? " largest" : " smallest") +
           (column.is_packed ? " packed " + std::string{zenith::to_string(column.kind)} : std::string{}) +
           " nans=" + std::to_string(static_cast<int>(asked.nans));
  };
  zenith_test::judge(
      seen, the_suite().targets, random, zenith_test::everywhere, text,
      [&](const zenith_test::place& at) { return fault_of(at.on, asked, column, expected, at.on_device); });
}

}  // namespace conformance::predicated

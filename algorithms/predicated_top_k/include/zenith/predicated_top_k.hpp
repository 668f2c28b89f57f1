#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <zenith/executor.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/packed_column.hpp>
#include <zenith/predicated_top_k_call.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/span.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Top-k among the rows that satisfy a predicate on another column, in one pass over both.

namespace zenith {

/// A predicated top-k problem as the cost models see it.
struct predicated_top_k_problem {
  std::uint64_t count = 0;  ///< rows
  std::uint64_t k = 0;
  key_type type = key_type::float32;        ///< of the keys
  double bits_per_value = 32;               ///< of the predicate's column
  bool is_packed = false;                   ///< whether that column is packed
  memory_space space = memory_space::host;  ///< where both lie

  [[nodiscard]] bool operator==(const predicated_top_k_problem&) const = default;
};

/// Chooses the device that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no device can run it.
[[nodiscard]] decision decide(const predicated_top_k_problem& problem, const machine& on);

/// The cost of one strategy ("fused") on one device; throws `invalid_argument` for an unknown strategy.
[[nodiscard]] cost predicated_top_k_cost(std::string_view strategy, const predicated_top_k_problem& problem,
                                         const device_profile& on);

/// The rows whose value in a column lies in a range: what `where` makes. Borrows the column.
struct row_predicate {
  row_range rows;
  std::uint64_t count = 0;  ///< rows of the column
  memory_space space = memory_space::host;
  bool is_empty = false;  ///< no value is in the range
};

/// What ran, and how many keys were written.
struct predicated_top_k_run : top_k_run {
  std::size_t count = 0;
};

namespace detail {

template <class T>
[[nodiscard]] std::uint64_t value_bits(T value) noexcept {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<word>(value);
}

template <class T>
[[nodiscard]] row_predicate range_of(memory_space space, std::uint64_t count, T low, T high) noexcept {
  row_predicate made;
  made.rows.type = key_type_of<T>;
  made.rows.low = value_bits(low);
  made.rows.high = value_bits(high);
  made.count = count;
  made.space = space;
  made.is_empty = !(low <= high);
  return made;
}

template <class T>
[[nodiscard]] row_predicate where_plain(memory_space space, const T* values, std::uint64_t count, T low,
                                        T high) noexcept {
  auto made = range_of(space, count, low, high);
  made.rows.values = values;
  return made;
}

predicated_top_k_run predicated_top_k(const executor& on, const top_k_call& result, const row_predicate& where,
                                      const top_k_options& options);

/// The type of the values of what `where` takes.
template <class Column>
struct tested_column {
  using type = void;
};
template <host_range Column>
struct tested_column<Column> {
  using type = element_t<Column>;
};
template <class T>
struct tested_column<device_span<T>> {
  using type = std::remove_const_t<T>;
};
template <packed_queryable Column>
struct tested_column<Column> {
  using type = packed_value<Column>;
};
template <class Column>
using tested_value = typename tested_column<Column>::type;

}  // namespace detail

/// The rows whose value in `column` lies in [low, high]; a NaN does not. No row when low > high or one of them is NaN.
template <detail::host_range Column>
requires key<detail::element_t<Column>>
[[nodiscard]] row_predicate where(const Column& column, std::type_identity_t<detail::element_t<Column>> low,
                                  std::type_identity_t<detail::element_t<Column>> high) {
  return detail::where_plain<detail::element_t<Column>>(memory_space::host, std::ranges::data(column),
                                                        std::ranges::size(column), low, high);
}
/// The same of a column in device memory.
template <class T>
requires key<std::remove_const_t<T>>
[[nodiscard]] row_predicate where(device_span<T> column, std::type_identity_t<std::remove_const_t<T>> low,
                                  std::type_identity_t<std::remove_const_t<T>> high) {
  return detail::where_plain<std::remove_const_t<T>>(memory_space::device, column.data(), column.size(), low, high);
}
/// The same of a packed column, wherever it lies, which is not unpacked.
template <detail::packed_queryable Column>
[[nodiscard]] row_predicate where(const Column& column, detail::packed_value<Column> low,
                                  detail::packed_value<Column> high) {
  auto made = detail::range_of(detail::operand_of(column).space, column.size(), low, high);
  made.rows.is_packed = true;
  made.rows.column = column.layout();
  return made;
}

/// A fraction among whole numbers would be rounded, and take other rows than it says.
template <class Column, class Low, class High>
requires(std::integral<detail::tested_value<Column>> && (std::floating_point<Low> || std::floating_point<High>))
    ZENITH_REFUSED(where, (const Column&, Low, High));

/// Takes what no overload takes, so that the compiler's message is short: see the overloads above.
ZENITH_NO_OVERLOAD(where);

/// Writes the k = `out_keys.size()` best keys among the rows that `rows` selects, and their indices, best first. Where
/// fewer than k rows are selected, it writes all of these. Returns how many were written; the elements behind them are
/// untouched.
///
///     zenith::top_k(on, prices, zenith::where(years, 1998, 2001), out_prices, out_rows);
///
/// Order, ties (the lower index first), NaN among the keys and what `options` says are as for `top_k`. A NaN key of a
/// row that is not selected does not count. Complexity: one read of keys and column, and a second one where fewer than
/// k keys are better than the worst value of their type. A GPU executor copies host columns to the device whole.
/// Synchronises.
///
/// Throws `invalid_argument` when keys and column differ in length or in memory, when k > keys.size(), when the outputs
/// differ in length, for 2^32 - 1 rows or more, when the indices' type cannot hold keys.size() - 1, or for a NaN key
/// among the selected rows under `nan_policy::reject`; `unsupported` for a strategy that the backend does not offer;
/// `out_of_memory`. Outputs are untouched then.
template <detail::host_range Keys, detail::writable_range OutKeys, detail::writable_range OutIndices>
requires key<detail::element_t<Keys>> && std::same_as<detail::element_t<OutKeys>, detail::element_t<Keys>> &&
    index<detail::element_t<OutIndices>>
        predicated_top_k_run top_k(const executor& on, const Keys& keys, const row_predicate& rows, OutKeys&& out_keys,
                                   OutIndices&& out_indices, const top_k_options& options = {}) {
  return detail::predicated_top_k(
      on,
      detail::make_top_k_call<detail::element_t<Keys>>(
          "keys", memory_space::host, std::ranges::data(keys), std::ranges::size(keys), std::ranges::data(out_keys),
          std::ranges::size(out_keys), std::ranges::data(out_indices), std::ranges::size(out_indices), options),
      rows, options);
}

/// The same over device memory.
template <class T, index Index>
requires key<std::remove_const_t<T>> predicated_top_k_run top_k(const executor& on, device_span<T> keys,
                                                                const row_predicate& rows,
                                                                device_span<std::remove_const_t<T>> out_keys,
                                                                device_span<Index> out_indices,
                                                                const top_k_options& options = {}) {
  return detail::predicated_top_k(on,
                                  detail::make_top_k_call<std::remove_const_t<T>>(
                                      "keys", memory_space::device, keys.data(), keys.size(), out_keys.data(),
                                      out_keys.size(), out_indices.data(), out_indices.size(), options),
                                  rows, options);
}

/// The same as a value, of k keys or fewer.
template <index Index = std::uint64_t, detail::host_range Keys>
requires key<detail::element_t<Keys>>
[[nodiscard]] top_k_result<detail::element_t<Keys>, Index> top_k(const executor& on, const Keys& keys,
                                                                 const row_predicate& rows, std::size_t k,
                                                                 const top_k_options& options = {}) {
  detail::require_k(k, "keys", std::ranges::size(keys));
  top_k_result<detail::element_t<Keys>, Index> result{
      detail::make_results<detail::element_t<Keys>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = top_k(on, keys, rows, result.keys, result.indices, options);
  result.keys.resize(run.count);
  result.indices.resize(run.count);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

}  // namespace zenith

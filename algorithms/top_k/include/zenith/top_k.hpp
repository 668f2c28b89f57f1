#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/span.hpp>
#include <zenith/top_k_call.hpp>

/// \file
/// Top-k selection: the k best keys of an array and where they stood.

namespace zenith {

struct top_k_options {
  selection select = selection::largest;
  ordering order = ordering::sorted;
  tie_break ties = tie_break::lowest_index;
  nan_policy nans = nan_policy::last;
  /// "auto", or the name of a strategy: "bitonic", "filter".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  top_k_statistics* statistics = nullptr;
};

/// The backend and the strategy that were chosen.
struct top_k_run {
  std::string backend;
  std::string strategy;
};

/// The k best keys and their indices.
template <key T, index Index = std::uint64_t>
struct top_k_result {
  std::vector<T> keys;
  std::vector<Index> indices;
  std::string backend;
  std::string strategy;
};

/// A top-k problem as the cost models see it.
struct top_k_problem {
  std::uint64_t count = 0;
  std::uint64_t k = 0;
  key_type type = key_type::float32;
  ordering order = ordering::sorted;
  memory_space space = memory_space::host;  ///< where the keys lie

  [[nodiscard]] bool operator==(const top_k_problem&) const = default;
};

/// Chooses the device and strategy that will be fastest for `problem` on `on`: every strategy's cost model, in time by
/// the roofline of each device's profile. Pure. Throws `unsupported` when no device can run it.
[[nodiscard]] decision decide(const top_k_problem& problem, const machine& on);

/// The cost of one strategy on one device, for studies; throws `invalid_argument` for an unknown strategy.
[[nodiscard]] cost top_k_cost(std::string_view strategy, const top_k_problem& problem, const device_profile& on);

/// The names of all strategies that have a cost model, in order of listing.
[[nodiscard]] std::span<const std::string_view> top_k_strategies() noexcept;

namespace detail {

// `call` is what `make_top_k_call` made of the same options.
top_k_run top_k(const executor& on, const top_k_call& call, const top_k_options& options);
// Throws invalid_argument for a k beyond `count`. `given` is what messages call the argument that has so many.
void require_k(std::size_t k, std::string_view given, std::size_t count);
// Throws invalid_argument for outputs that differ in length, for a k beyond `count`, and for indices that cannot name
// all of the `count` items.
void check_outputs(std::string_view given, std::size_t count, std::size_t out_keys_count, std::size_t out_indices_count,
                   std::uint64_t most_index);

template <class Range>
using element_t = std::remove_cvref_t<std::ranges::range_reference_t<Range>>;

template <class Range>
concept host_range = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

template <class Range>
concept writable_range =
    host_range<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// The arguments of a public function, checked, as a backend's kernel receives them. `keys` is nullptr where the `count`
// items are no array.
template <key T, index Index>
[[nodiscard]] top_k_call make_top_k_call(std::string_view given, memory_space space, const T* keys, std::size_t count,
                                         T* out_keys, std::size_t out_keys_count, Index* out_indices,
                                         std::size_t out_indices_count, const top_k_options& options) {
  check_outputs(given, count, out_keys_count, out_indices_count, std::uint64_t{std::numeric_limits<Index>::max()});
  return {.type = key_type_of<T>,
          .space = space,
          .keys = keys,
          .count = count,
          .k = out_keys_count,
          .out_keys = out_keys,
          .out_indices = out_indices,
          .index_bytes = sizeof(Index),
          .select = options.select,
          .order = options.order,
          .ties = options.ties,
          .nan_first = options.nans != nan_policy::last,
          .statistics = options.statistics};
}

}  // namespace detail

/// Writes the k = `out_keys.size()` best of `keys`, and their indices, best first.
///
/// Order: by key, then by lower index, so the answer is unique and the same on every backend. Floating keys are ordered
/// -inf < … < -0 = +0 < … < +inf; NaN stands where `options.nans` says. The keys written are the input's own bits.
/// A GPU executor streams host memory through the device in overlapping chunks.
///
/// Complexity: usually one read of `keys` for strategy "filter"; the worst input takes 2 + w reads on the CPU and 3 + w
/// on CUDA, where w is the key's bits over 16, and 5 + w on Kokkos, where w is its bits over 11, rounded up; O(n log^2
/// k) for "bitonic". Scratch is O(k), or a sixteenth of n for "bitonic" (on CUDA a run of k for each tile of 4096
/// entries of 8 bytes, or 2048 of 16). Any n; with k = 0 nothing is written. Returns what ran, after the results are
/// written.
///
/// Throws `invalid_argument` when k > keys.size(), when the two outputs differ in length, when the indices' type cannot
/// hold keys.size() - 1, or for NaN under `nan_policy::reject`; `unsupported` for a strategy that the backend does not
/// offer; `out_of_memory`. Outputs are untouched then.
///
/// Source: Shanbhag, Pirk, Madden: Efficient Top-K Query Processing on Massively Parallel Hardware, SIGMOD 2018.
template <detail::host_range Keys, detail::writable_range OutKeys, detail::writable_range OutIndices>
requires key<detail::element_t<Keys>> && std::same_as<detail::element_t<Keys>, detail::element_t<OutKeys>> &&
    index<detail::element_t<OutIndices>>
        top_k_run top_k(const executor& on, const Keys& keys, OutKeys&& out_keys, OutIndices&& out_indices,
                        const top_k_options& options = {}) {
  return detail::top_k(
      on,
      detail::make_top_k_call<detail::element_t<Keys>>(
          "keys", memory_space::host, std::ranges::data(keys), std::ranges::size(keys), std::ranges::data(out_keys),
          std::ranges::size(out_keys), std::ranges::data(out_indices), std::ranges::size(out_indices), options),
      options);
}

/// The same over device memory. Asynchronous on the executor's stream, except under `nan_policy::reject` and when
/// statistics are asked for. Memory of both must live until the stream has reached the end of the call.
template <class Key, key T, index Index>
requires std::same_as<std::remove_const_t<Key>, T> top_k_run top_k(const executor& on, device_span<Key> keys,
                                                                   device_span<T> out_keys,
                                                                   device_span<Index> out_indices,
                                                                   const top_k_options& options = {}) {
  return detail::top_k(
      on,
      detail::make_top_k_call<T>("keys", memory_space::device, keys.data(), keys.size(), out_keys.data(),
                                 out_keys.size(), out_indices.data(), out_indices.size(), options),
      options);
}

/// The k best of `keys` as a value. Synchronises. Throws as above.
template <index Index = std::uint64_t, detail::host_range Keys>
requires key<detail::element_t<Keys>>
[[nodiscard]] top_k_result<detail::element_t<Keys>, Index> top_k(const executor& on, const Keys& keys, std::size_t k,
                                                                 const top_k_options& options = {}) {
  detail::require_k(k, "keys", std::ranges::size(keys));
  top_k_result<detail::element_t<Keys>, Index> result{
      detail::make_results<detail::element_t<Keys>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = top_k(on, keys, result.keys, result.indices, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Takes what no overload of any header takes, so that the compiler's message is short: see the overloads above for
/// keys, and those of `column_set`, tables and packed columns in their headers.
ZENITH_NO_OVERLOAD(top_k);

}  // namespace zenith

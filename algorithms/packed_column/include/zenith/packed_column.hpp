#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>

#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/packed_call.hpp>
#include <zenith/packed_operand.hpp>
#include <zenith/packed_storage.hpp>
#include <zenith/result_vector.hpp>
#include <zenith/span.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Packed columns: integers in a few bits each, in one format that every processor decodes at the speed of its memory,
/// and queries over them that write the decoded column nowhere.

namespace zenith {

struct packed_options {
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  packed_statistics* statistics = nullptr;
};

/// Decodes values [first, first + out.size()) into `out`. Other blocks are not decoded. Throws `invalid_argument` when
/// the column ends before.
template <detail::packed_queryable Column, detail::writable_range Out>
requires std::same_as<detail::packed_value<Column>, detail::element_t<Out>>
void unpack(const executor& on, const Column& column, std::uint64_t first, Out&& out,
            const packed_options& options = {}) {
  detail::unpack(on, detail::operand_of(column), first, memory_space::host, std::ranges::data(out),
                 std::ranges::size(out), options);
}
template <detail::packed_queryable Column>
void unpack(const executor& on, const Column& column, std::uint64_t first,
            device_span<detail::packed_value<Column>> out, const packed_options& options = {}) {
  detail::unpack(on, detail::operand_of(column), first, memory_space::device, out.data(), out.size(), options);
}

/// Decodes the whole column; throws `invalid_argument` unless out.size() == column.size().
template <detail::packed_queryable Column, detail::writable_range Out>
requires std::same_as<detail::packed_value<Column>, detail::element_t<Out>>
void unpack(const executor& on, const Column& column, Out&& out, const packed_options& options = {}) {
  detail::require_same_length("unpack: out", std::ranges::size(out), "column", column.size());
  unpack(on, column, 0, out, options);
}
template <detail::packed_queryable Column>
void unpack(const executor& on, const Column& column, device_span<detail::packed_value<Column>> out,
            const packed_options& options = {}) {
  detail::require_same_length("unpack: out", out.size(), "column", column.size());
  unpack(on, column, 0, out, options);
}

/// The sum of all values, in 64 bits of the same signedness, modulo 2^64. 0 for none. One read of the packed bytes,
/// O(size()), also where few runs stand for many values. Synchronises.
template <detail::packed_queryable Column>
[[nodiscard]] detail::sum_t<detail::packed_value<Column>> sum(const executor& on, const Column& column,
                                                              const packed_options& options = {}) {
  return static_cast<detail::sum_t<detail::packed_value<Column>>>(
      detail::packed_sum(on, detail::operand_of(column), options));
}

/// The least value. Throws `invalid_argument` for an empty column. Synchronises.
template <detail::packed_queryable Column>
[[nodiscard]] detail::packed_value<Column> minimum(const executor& on, const Column& column,
                                                   const packed_options& options = {}) {
  return static_cast<detail::packed_value<Column>>(
      detail::extremes(on, detail::operand_of(column), "minimum", options).minimum);
}

/// The greatest value. Throws `invalid_argument` for an empty column. Synchronises.
template <detail::packed_queryable Column>
[[nodiscard]] detail::packed_value<Column> maximum(const executor& on, const Column& column,
                                                   const packed_options& options = {}) {
  return static_cast<detail::packed_value<Column>>(
      detail::extremes(on, detail::operand_of(column), "maximum", options).maximum);
}

/// Which values lie in [low, high]: sets bit i % 64 of words[i / 64] for each, clears all others, and returns how many
/// there are. `words` has (size + 63) / 64 elements, else `invalid_argument`. None when low > high. Synchronises.
template <detail::packed_queryable Column, detail::writable_range Words>
requires detail::word_of_64<detail::element_t<Words>> std::uint64_t select_bitmap(
    const executor& on, const Column& column, detail::packed_value<Column> low, detail::packed_value<Column> high,
    Words&& words, const packed_options& options = {}) {
  return detail::select_bitmap(on, detail::operand_of(column), detail::packed_bits(low), detail::packed_bits(high),
                               memory_space::host, reinterpret_cast<std::uint64_t*>(std::ranges::data(words)),
                               std::ranges::size(words), options);
}
template <detail::packed_queryable Column>
std::uint64_t select_bitmap(const executor& on, const Column& column, detail::packed_value<Column> low,
                            detail::packed_value<Column> high, device_span<std::uint64_t> words,
                            const packed_options& options = {}) {
  return detail::select_bitmap(on, detail::operand_of(column), detail::packed_bits(low), detail::packed_bits(high),
                               memory_space::device, words.data(), words.size(), options);
}

/// The indices of the values in [low, high], rising, written to the front of `indices`; returns how many there are.
/// Throws `invalid_argument`, with nothing written, when they are more than `indices` has elements, or when its type
/// cannot hold size() - 1. None when low > high. Synchronises.
template <detail::packed_queryable Column, detail::writable_range Indices>
requires index<detail::element_t<Indices>> std::uint64_t select_indices(const executor& on, const Column& column,
                                                                        detail::packed_value<Column> low,
                                                                        detail::packed_value<Column> high,
                                                                        Indices&& indices,
                                                                        const packed_options& options = {}) {
  using number = detail::element_t<Indices>;
  return detail::select_indices(on, detail::operand_of(column), detail::packed_bits(low), detail::packed_bits(high),
                                memory_space::host, std::ranges::data(indices), std::ranges::size(indices),
                                sizeof(number), std::is_signed_v<number>, options);
}
template <detail::packed_queryable Column, index Index>
std::uint64_t select_indices(const executor& on, const Column& column, detail::packed_value<Column> low,
                             detail::packed_value<Column> high, device_span<Index> indices,
                             const packed_options& options = {}) {
  return detail::select_indices(on, detail::operand_of(column), detail::packed_bits(low), detail::packed_bits(high),
                                memory_space::device, indices.data(), indices.size(), sizeof(Index),
                                std::is_signed_v<Index>, options);
}

/// The k = out_keys.size() best values and their indices, straight from the packed bytes; see `top_k` for order,
/// options and errors. `options.strategy` is "auto" or the one that the backend has: "filter", of the reference "sort";
/// any other is `unsupported`.
template <detail::packed_queryable Column, detail::writable_range OutKeys, detail::writable_range OutIndices>
requires std::same_as<detail::packed_value<Column>, detail::element_t<OutKeys>> && index<detail::element_t<OutIndices>>
    top_k_run top_k(const executor& on, const Column& column, OutKeys&& out_keys, OutIndices&& out_indices,
                    const top_k_options& options = {}) {
  const auto result = detail::make_top_k_call<detail::packed_value<Column>>(
      "column", detail::packed_source<Column>::space, nullptr, column.size(), std::ranges::data(out_keys),
      std::ranges::size(out_keys), std::ranges::data(out_indices), std::ranges::size(out_indices), options);
  return detail::packed_top_k(on, detail::operand_of(column), memory_space::host, result, options);
}
template <detail::packed_queryable Column, index Index>
top_k_run top_k(const executor& on, const Column& column, device_span<detail::packed_value<Column>> out_keys,
                device_span<Index> out_indices, const top_k_options& options = {}) {
  const auto result = detail::make_top_k_call<detail::packed_value<Column>>(
      "column", detail::packed_source<Column>::space, nullptr, column.size(), out_keys.data(), out_keys.size(),
      out_indices.data(), out_indices.size(), options);
  return detail::packed_top_k(on, detail::operand_of(column), memory_space::device, result, options);
}

/// The k best as a value. Synchronises.
template <index Index = std::uint64_t, detail::packed_queryable Column>
[[nodiscard]] top_k_result<detail::packed_value<Column>, Index> top_k(const executor& on, const Column& column,
                                                                      std::size_t k,
                                                                      const top_k_options& options = {}) {
  detail::require_k(k, "column", column.size());
  top_k_result<detail::packed_value<Column>, Index> result{
      detail::make_results<detail::packed_value<Column>>(k), detail::make_results<Index>(k), {}, {}};
  auto run = top_k(on, column, result.keys, result.indices, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Takes what no overload takes, so that the compiler's message is short: see the overloads above.
ZENITH_NO_OVERLOAD(unpack);
ZENITH_NO_OVERLOAD(sum);
ZENITH_NO_OVERLOAD(minimum);
ZENITH_NO_OVERLOAD(maximum);
ZENITH_NO_OVERLOAD(select_bitmap);
ZENITH_NO_OVERLOAD(select_indices);

/// A problem over a packed column as the cost models see it.
struct packed_problem {
  std::string_view operation = packed_sum_call::operation;  ///< as the call structures name it
  std::uint64_t count = 0;
  double bits_per_value = 32;  ///< of the packed bytes
  key_type type = key_type::int32;
  encoding kind = encoding::frame_of_reference;
  std::uint64_t k = 0;                      ///< of top-k
  double selectivity = 0.5;                 ///< of select: the share that matches
  memory_space space = memory_space::host;  ///< where the column lies

  [[nodiscard]] bool operator==(const packed_problem&) const = default;
};

/// Chooses the device that will be fastest for `problem`: see `decide` for top-k.
[[nodiscard]] decision decide(const packed_problem& problem, const machine& on);
/// The cost of one operation on one device.
[[nodiscard]] cost packed_cost(const packed_problem& problem, const device_profile& on);

}  // namespace zenith

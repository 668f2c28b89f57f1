#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <zenith/array.hpp>
#include <zenith/executor.hpp>
#include <zenith/packed_layout.hpp>
#include <zenith/structure.hpp>
#include <zenith/top_k.hpp>
#include <zenith/types.hpp>

/// \file
/// Packed columns without their type: what the calls of packed_column.hpp ask of the library.

namespace zenith {

/// A type that a packed column can hold: a 32- or 64-bit integer.
template <class T>
concept packable = index<T>;

struct pack_options;
struct packed_options;

namespace detail {

// Where a column's bytes lie, whoever owns them.
struct packed_operand {
  packed_layout layout;
  memory_space space = memory_space::host;
};

// Checks everything that decoding relies on; throws corrupt_data.
[[nodiscard]] packed_layout parse_packed(std::span<const std::byte> bytes, key_type type);
// The layout of bytes that hold a column of whatever type.
[[nodiscard]] packed_layout parse_packed(std::span<const std::byte> bytes);

struct packing;

// Packs into `bytes`, which are used again when they suffice. What throws before any byte was written changes nothing;
// after that, `made` is no values.
void pack(const executor& on, key_type type, memory_space space, const void* values, std::size_t count, encoding kind,
          const pack_options& options, host_bytes& bytes, packed_layout& made);
// The same into the memory of the executor's device.
void pack_on_device(const executor& on, key_type type, memory_space space, const void* values, std::size_t count,
                    encoding kind, const pack_options& options, raw_array& bytes, packed_layout& made);
// A copy on the host of a column that lies on a device.
void copy_to_host(const raw_array& from, const packed_layout& layout, host_bytes& bytes, packed_layout& made);
void unpack(const executor& on, const packed_operand& column, std::uint64_t first, memory_space out_space, void* out,
            std::size_t count, const packed_options& options);
[[nodiscard]] std::uint64_t packed_sum(const executor& on, const packed_operand& column, const packed_options& options);
struct packed_extremes {
  std::uint64_t minimum;
  std::uint64_t maximum;
};
[[nodiscard]] packed_extremes extremes(const executor& on, const packed_operand& column, std::string_view operation,
                                       const packed_options& options);
std::uint64_t select_bitmap(const executor& on, const packed_operand& column, std::uint64_t low, std::uint64_t high,
                            memory_space out_space, std::uint64_t* words, std::size_t word_count,
                            const packed_options& options);
std::uint64_t select_indices(const executor& on, const packed_operand& column, std::uint64_t low, std::uint64_t high,
                             memory_space out_space, void* indices, std::size_t capacity, int index_bytes,
                             bool index_signed, const packed_options& options);
// `result` is what `make_top_k_call` made; its outputs lie in `out_space`.
top_k_run packed_top_k(const executor& on, const packed_operand& column, memory_space out_space,
                       const top_k_call& result, const top_k_options& options);
[[noreturn]] void throw_packed_index(std::uint64_t index, std::uint64_t count);
void gather(const packed_layout& column, const void* indices, std::size_t index_count, int index_bytes,
            bool index_signed, void* out, std::size_t out_count);

// unsigned long and unsigned long long may both be words of 64 bits.
template <class T>
concept word_of_64 = std::unsigned_integral<T> && sizeof(T) == sizeof(std::uint64_t);

template <packable T>
using packed_word = std::make_unsigned_t<T>;

// The value's own bits, in the low half for 32-bit types.
template <packable T>
[[nodiscard]] constexpr std::uint64_t packed_bits(T value) noexcept {
  return static_cast<packed_word<T>>(value);
}

template <packable T>
using sum_t = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

}  // namespace detail

}  // namespace zenith

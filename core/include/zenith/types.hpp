#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zenith {

/// The types of keys and values. Top-k and skylines take all of them; each other operation says which it takes.
enum class key_type : std::uint8_t { float32, float64, int32, uint32, int64, uint64 };

/// "float32", "float64", "int32", "uint32", "int64" or "uint64".
[[nodiscard]] std::string_view to_string(key_type type) noexcept;

/// Bytes of one key: 4 or 8.
[[nodiscard]] constexpr std::size_t size_of(key_type type) noexcept {
  return type == key_type::float32 || type == key_type::int32 || type == key_type::uint32 ? 4 : 8;
}

[[nodiscard]] constexpr bool is_floating(key_type type) noexcept {
  return type == key_type::float32 || type == key_type::float64;
}

/// Where a buffer lies: in the host's memory or in that of the executor's device.
enum class memory_space : std::uint8_t { host, device };

namespace detail {

// Classifies by size and sign, so that `long` and `long long` are both int64 where both have eight bytes.
template <class T>
consteval int classify_key() {
  if (std::same_as<T, float>) return static_cast<int>(key_type::float32);
  if (std::same_as<T, double>) return static_cast<int>(key_type::float64);
  if (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, wchar_t> && !std::same_as<T, char32_t>) {
    if (sizeof(T) == 4) return static_cast<int>(std::signed_integral<T> ? key_type::int32 : key_type::uint32);
    if (sizeof(T) == 8) return static_cast<int>(std::signed_integral<T> ? key_type::int64 : key_type::uint64);
  }
  return -1;
}

// Compilers say one line of a concept that is one of these, and several of one that is made of concepts.
template <class T>
inline constexpr bool is_key = classify_key<T>() >= 0;
template <class T>
inline constexpr bool is_index = is_key<T>&& std::integral<T>;

}  // namespace detail

/// A type that can be a key: 32 or 64 bit, signed, unsigned or floating.
template <class T>
concept key = detail::is_key<T>;

/// A type that can hold an index: a 32- or 64-bit integer.
template <class T>
concept index = detail::is_index<T>;

template <key T>
inline constexpr key_type key_type_of = static_cast<key_type>(detail::classify_key<T>());

}  // namespace zenith

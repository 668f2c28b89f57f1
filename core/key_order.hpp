#pragma once

/// \file
/// Order-preserving images: every key type's order as that of an unsigned integer, so that one kernel serves all types.

#include <cstdint>
#include <type_traits>

#include <zenith/function.hpp>

namespace zenith::ordered {

template <class T>
using bits_t = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// An order of keys of type T. A larger image is a better key, equal keys have equal images.
///
/// A floating number's bits, with all of them flipped when it is negative and the sign bit alone otherwise, compare
/// like the number; `smallest` reverses by complement. Neither reaches 0 or ~0, which are left for NaN.
template <class T>
struct key_order {
  using image_t = bits_t<T>;

  static constexpr image_t sign_bit = image_t{1} << (sizeof(T) * 8 - 1);

  bool smallest = false;
  bool nan_first = false;

  [[nodiscard]] ZENITH_FN image_t image(T key) const {
    const image_t raw = bits(key);
    image_t ordered{};
    if constexpr (std::is_floating_point_v<T>) {
      constexpr image_t infinity = sizeof(T) == 4 ? image_t{0x7f800000U} : static_cast<image_t>(0x7ff0000000000000ULL);
      const image_t magnitude = raw & static_cast<image_t>(~sign_bit);
      if (magnitude > infinity) return nan_first ? static_cast<image_t>(~image_t{0}) : image_t{0};
      // -0 and +0 tie: both take the image of +0
      ordered = (raw & sign_bit) != 0 && magnitude != 0 ? static_cast<image_t>(~raw) : magnitude | sign_bit;
    } else if constexpr (std::is_signed_v<T>) {
      ordered = raw ^ sign_bit;
    } else {
      ordered = raw;
    }
    return smallest ? static_cast<image_t>(~ordered) : ordered;
  }

  /// A key that has this image: the key itself but for the sign of zero and for what a NaN carries.
  [[nodiscard]] ZENITH_FN T key(image_t image) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (is_nan(image)) return from_bits(static_cast<image_t>(sizeof(T) == 4 ? 0x7fc00000ULL : 0x7ff8000000000000ULL));
      const image_t ordered = smallest ? static_cast<image_t>(~image) : image;
      return from_bits((ordered & sign_bit) != 0 ? ordered ^ sign_bit : static_cast<image_t>(~ordered));
    } else {
      const image_t ordered = smallest ? static_cast<image_t>(~image) : image;
      return from_bits(std::is_signed_v<T> ? ordered ^ sign_bit : ordered);
    }
  }

  /// Whether only NaN has this image.
  [[nodiscard]] ZENITH_FN bool is_nan(image_t image) const {
    return std::is_floating_point_v<T> && image == (nan_first ? static_cast<image_t>(~image_t{0}) : image_t{0});
  }

  /// Whether several bit patterns share this image, so that the key must be fetched from the input.
  [[nodiscard]] ZENITH_FN bool is_ambiguous(image_t image) const {
    if constexpr (!std::is_floating_point_v<T>) return false;
    return is_nan(image) || image == (smallest ? static_cast<image_t>(~sign_bit) : sign_bit);
  }

  [[nodiscard]] ZENITH_FN static image_t bits(T key) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
      return __float_as_uint(key);
    else if constexpr (std::is_same_v<T, double>)
      return static_cast<image_t>(__double_as_longlong(key));
    else
      return static_cast<image_t>(key);
#else
    return __builtin_bit_cast(image_t, key);
#endif
  }

  [[nodiscard]] ZENITH_FN static T from_bits(image_t bits) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
      return __uint_as_float(bits);
    else if constexpr (std::is_same_v<T, double>)
      return __longlong_as_double(static_cast<long long>(bits));
    else
      return static_cast<T>(bits);
#else
    return __builtin_bit_cast(T, bits);
#endif
  }
};

}  // namespace zenith::ordered

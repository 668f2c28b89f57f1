#pragma once

/// \file
/// An entry: an item on its way to the result, its key's image and its index, ordered as the result is. All entries of
/// a call differ, so every selection among them is unique and no strategy needs a stable method.

#include <cstdint>

#include <zenith/function.hpp>

namespace zenith::ordered {

/// For 32-bit images the entry is one 64-bit integer: the image above the complemented index. Larger is better.
struct entry32 {
  using image_t = std::uint32_t;
  std::uint64_t packed;

  static constexpr unsigned image_bits = 32;

  [[nodiscard]] ZENITH_FN static entry32 make(image_t image, std::uint32_t index) {
    return {(static_cast<std::uint64_t>(image) << 32) | static_cast<std::uint32_t>(~index)};
  }
  /// Worse than every entry of a call: no index is 2^32 - 1.
  [[nodiscard]] ZENITH_FN static entry32 worst() { return {0}; }
  [[nodiscard]] ZENITH_FN image_t image() const { return static_cast<image_t>(packed >> 32); }
  [[nodiscard]] ZENITH_FN std::uint32_t index() const { return ~static_cast<std::uint32_t>(packed); }
  [[nodiscard]] ZENITH_FN friend bool better(entry32 a, entry32 b) { return a.packed > b.packed; }
};

struct entry64 {
  using image_t = std::uint64_t;
  std::uint64_t high;  // the image
  std::uint64_t low;   // the complemented index

  static constexpr unsigned image_bits = 64;

  [[nodiscard]] ZENITH_FN static entry64 make(image_t image, std::uint32_t index) {
    return {image, static_cast<std::uint32_t>(~index)};
  }
  [[nodiscard]] ZENITH_FN static entry64 worst() { return {0, 0}; }
  [[nodiscard]] ZENITH_FN image_t image() const { return high; }
  [[nodiscard]] ZENITH_FN std::uint32_t index() const { return ~static_cast<std::uint32_t>(low); }
  [[nodiscard]] ZENITH_FN friend bool better(entry64 a, entry64 b) {
    return a.high > b.high || (a.high == b.high && a.low > b.low);
  }
};

template <class Image>
struct entry_for;
template <>
struct entry_for<std::uint32_t> {
  using type = entry32;
};
template <>
struct entry_for<std::uint64_t> {
  using type = entry64;
};
template <class Image>
using entry_t = typename entry_for<Image>::type;

}  // namespace zenith::ordered

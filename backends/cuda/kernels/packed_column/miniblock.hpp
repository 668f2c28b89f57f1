#pragma once

/// \file
/// A miniblock's packed words in the registers of one lane, and what can be said of its 32 values without unpacking
/// them. The width is a constant, so that where each value stands is one too.

#include <backends/cuda/kernels/packed_column/tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Sums over a miniblock's words: each once, and the first 32 times, the second 31 times, … the last once.
struct falling_sums {
  std::uint64_t plain;
  std::uint64_t falling;
};

/// Words of up to so many bits: those sums of 32 of them need no more than 32.
inline constexpr unsigned most_bits_that_fall_in_32 = 22;

/// Which words of a block are selected: those in [low, low + range], or with all bits of `flip` the others. Words stand
/// in the upper bits of 32, over whatever.
struct word_range {
  std::uint32_t low;
  std::uint32_t range;  ///< all bits: every word
  std::uint32_t flip;
};

/// The words w of `width` bits, up to 32, with (first + w) modulo the type's range in [0, range].
template <class U>
ZENITH_DEVICE word_range words_within(U first, U range, unsigned width) {
  const U most = packed::low_mask<U>(width);
  const U wraps_at = U{0} - first;
  const bool begins_within = first <= range;
  const bool wraps = first != 0 && wraps_at <= most;
  const bool is_all = range == static_cast<U>(~U{0});
  // within at the beginning and again after wrapping around: all but those between; neither: none
  const bool is_flipped = begins_within == wraps && !is_all;
  U low = wraps ? wraps_at : U{0};
  U span = range;
  if (is_all || (is_flipped && !wraps)) {
    low = 0;
    span = most;
  } else if (is_flipped) {
    low = range - first + 1;
    span = wraps_at - 1 - low;
  } else if (!wraps) {
    span = range - first;
  }
  span = span < most - low ? span : most - low;
  const std::uint32_t flip = is_flipped ? ~0U : 0U;
  if (span == most) return {0, ~0U, flip};
  // the width is not 0 here
  const unsigned above = 32 - width;
  return {static_cast<std::uint32_t>(low) << above,
          static_cast<std::uint32_t>(span) << above | packed::low_mask<std::uint32_t>(above), flip};
}

/// `Width` is 1 to 32.
template <unsigned Width>
class miniblock_words {
 public:
  static constexpr bool sums_fall_in_32_bits = Width <= most_bits_that_fall_in_32;

  /// Miniblock `number` of those that stand in dynamic shared memory from byte `at` on.
  ZENITH_DEVICE miniblock_words(unsigned at, unsigned number) {
    using wide = simt::vector<std::uint32_t, together>;
    const auto from = simt::dynamic_shared<wide>(at + number * (Width * 4), Width / together);
    ZENITH_UNROLL
    for (unsigned i = 0; i < Width / together; ++i) {
      const wide loaded = from.read(i);
      ZENITH_UNROLL
      for (unsigned j = 0; j < together; ++j) word_[i * together + j] = loaded.value[j];
    }
  }

  [[nodiscard]] ZENITH_DEVICE std::uint32_t value(unsigned i) const { return bits_from(i * Width, Width) & mask; }

  [[nodiscard]] ZENITH_DEVICE std::uint64_t sum() const {
    if constexpr (Width == 1) {
      return simt::popcount(word_[0]);
    } else if constexpr (Width == 8) {
      std::uint32_t sum = 0;
      ZENITH_UNROLL
      for (unsigned n = 0; n < Width; ++n) sum = simt::dot_bytes(word_[n], 0x01010101, sum);
      return sum;
    } else if constexpr (pairs == 0) {
      std::conditional_t<(Width <= 27), std::uint32_t, std::uint64_t> sum = 0;
      ZENITH_UNROLL
      for (unsigned i = 0; i < packed_miniblock_items; ++i) sum += value(i);
      return sum;
    } else if constexpr (pairs == 1 && Width <= 14) {
      // both of a pair as they stand, less the even one
      std::uint32_t both = 0;
      std::uint32_t even = 0;
      ZENITH_UNROLL
      for (unsigned n = 0; n < windows; ++n) {
        both += window(n) & (~0U >> (32 - 2 * Width));
        even += even_of(n);
      }
      return ((both - even) >> Width) + even;
    } else {
      std::uint32_t sums = 0;
      ZENITH_UNROLL
      for (unsigned n = 0; n < windows; ++n) sums += even_of(n) + odd_of(n);
      return total(sums);
    }
  }

  [[nodiscard]] ZENITH_DEVICE falling_sums sum_falling() const {
    if constexpr (8 % Width == 0) {
      return sum_falling_in_bytes();
    } else if constexpr (Width == 3) {
      return sum_falling_of_threes();
    } else if constexpr (pairs == 1) {
      return sum_falling_in_halves();
    } else if constexpr (!pairs_hold_falling) {
      std::conditional_t<sums_fall_in_32_bits, std::uint32_t, std::uint64_t> plain = 0;
      std::conditional_t<sums_fall_in_32_bits, std::uint32_t, std::uint64_t> falling = 0;
      ZENITH_UNROLL
      for (unsigned i = 0; i < packed_miniblock_items; ++i) {
        plain += value(i);
        falling += plain;
      }
      return {plain, falling};
    } else {
      std::uint32_t sums = 0;
      std::uint32_t odd_sums = 0;
      std::uint32_t earlier = 0;  // window n as often as there are windows behind it
      ZENITH_UNROLL
      for (unsigned n = 0; n < windows; ++n) {
        const std::uint32_t odd = odd_of(n);
        earlier += sums;
        sums += even_of(n) + odd;
        odd_sums += odd;
      }
      // value 2 * (pairs * n + pair) + odd, times its number
      const std::uint32_t plain = total(sums);
      std::uint32_t rising = 2 * pairs * ((windows - 1) * plain - total(earlier)) + total(odd_sums);
      ZENITH_UNROLL
      for (unsigned pair = 1; pair < pairs; ++pair) rising += 2 * pair * field_of(sums, pair);
      return {plain, packed_miniblock_items * plain - rising};
    }
  }

  /// The greatest and the least word.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t greatest() const {
    std::uint32_t found = on_top(0);
    ZENITH_UNROLL
    for (unsigned i = 1; i < packed_miniblock_items; ++i) found = on_top(i) > found ? on_top(i) : found;
    return found >> (32 - Width);
  }
  [[nodiscard]] ZENITH_DEVICE std::uint32_t least() const {
    std::uint32_t found = on_top(0);
    ZENITH_UNROLL
    for (unsigned i = 1; i < packed_miniblock_items; ++i) found = on_top(i) < found ? on_top(i) : found;
    return found >> (32 - Width);
  }

  /// A bit a value: whether its word is one of those.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t marks(const word_range& of) const {
    std::uint32_t bits = 0;
    ZENITH_UNROLL
    for (unsigned i = 0; i < packed_miniblock_items; ++i) {
      if (on_top(i) - of.low <= of.range) bits |= 1U << i;
    }
    return bits ^ of.flip;
  }

 private:
  // words that a lane reads at once
  static constexpr unsigned together = Width % 4 == 0 ? 4 : Width % 2 == 0 ? 2 : 1;

  static constexpr std::uint32_t mask = ~0U >> (32 - Width);

  // Neighbours are added in pairs: as many of these fields of twice the width as 32 bits hold make up a window, and
  // each holds the sum of all windows.
  static constexpr unsigned pairs = 32 / (2 * Width);
  static constexpr unsigned windows =
      pairs == 0 ? 0 : (packed_miniblock_items / 2 + pairs - 1) / (pairs + (pairs == 0));

  // Whether they hold as well the sum of windows n times n.
  static constexpr bool pairs_hold_falling = pairs > 0 && windows*(windows - 1) * std::uint64_t{mask} <=
                                                              ~std::uint64_t{0} >> (64 - 2 * Width);

  // Bits [at, at + count) and more above, count <= 32.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t bits_from(unsigned at, unsigned count) const {
    const bool is_in_two = at % 32 + count > 32;
    const std::uint32_t first = word_[at / 32];
    return is_in_two ? simt::funnel_shift_right(first, word_[at / 32 + (is_in_two ? 1 : 0)], at) : first >> (at % 32);
  }
  // A value in the upper bits, over some of those before it: they are ordered as the values are, but for equal ones.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t on_top(unsigned i) const {
    const unsigned end = (i + 1) * Width;
    if (end % 32 >= Width || end % 32 == 0) return word_[(end - 1) / 32] << ((32 - end % 32) % 32);
    return simt::funnel_shift_right(word_[end / 32 - 1], word_[end / 32], end);
  }

  static constexpr std::uint32_t each_byte = 0x01010101;

  // Each byte of a word holds some values in a row. Within a byte they fall by one, which bytes are wide enough for;
  // what is left, the weight of a byte's last value, is the same for all of it.
  [[nodiscard]] ZENITH_DEVICE falling_sums sum_falling_in_bytes() const {
    constexpr unsigned in_byte = 8 / Width;
    std::uint32_t plain = 0;
    std::uint32_t within = 0;
    std::uint32_t falling = 0;
    ZENITH_UNROLL
    for (unsigned n = 0; n < Width; ++n) {
      std::uint32_t bytes = 0;
      ZENITH_UNROLL
      for (unsigned i = 0; i < in_byte; ++i) {
        bytes += word_[n] >> (i * Width) & (mask * each_byte);
        if (i + 1 < in_byte) within += bytes;
      }
      const std::uint32_t last = packed_miniblock_items + 1 - (4 * n + 1) * in_byte;
      falling = simt::dot_bytes(bytes, last * each_byte - in_byte * 0x03020100, falling);
      plain = Width == 8 ? simt::dot_bytes(bytes, each_byte, plain) : plain + bytes;
    }
    if constexpr (Width == 8) return {plain, falling};
    return {simt::dot_bytes(plain, each_byte, 0), simt::dot_bytes(within, each_byte, falling)};
  }

  // Eight values take three bytes: bytes 3 b + j of the words become byte b of `stream[j]`, so that each byte of the
  // three holds the bits of values 8 b to 8 b + 7.
  [[nodiscard]] ZENITH_DEVICE falling_sums sum_falling_of_threes() const {
    std::uint32_t stream[4] = {};
    ZENITH_UNROLL
    for (unsigned j = 0; j < 3; ++j) {
      stream[j] = simt::pick_bytes(simt::pick_bytes(word_[0], word_[1], (j + 3) << 4 | j),
                                   simt::pick_bytes(word_[1], word_[2], (j + 5) << 4 | (j + 2)), 0x5410);
    }
    std::uint32_t bytes = 0;
    std::uint32_t within = 0;
    ZENITH_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned j = i * 3 / 8;
      const unsigned bit = i * 3 % 8;
      const unsigned in_first = 7 & (0xff >> bit);
      bytes += stream[j] >> bit & (in_first * each_byte);
      if (in_first != 7) bytes += stream[j + 1] << (8 - bit) & ((7 ^ in_first) * each_byte);
      if (i < 7) within += bytes;
    }
    return {simt::dot_bytes(bytes, each_byte, 0),
            simt::dot_bytes(bytes, 0x01091119, simt::dot_bytes(within, each_byte, 0))};
  }

  // A pair in the halves of a word, for products of both at once.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t halves_of(unsigned n) const {
    if constexpr (Width == 16) {
      return word_[n];
    } else {
      return even_of(n) | (window(n) << (16 - Width) & mask << 16);
    }
  }
  [[nodiscard]] ZENITH_DEVICE falling_sums sum_falling_in_halves() const {
    // whether a half holds the sum of all pairs
    constexpr bool sums_fit = Width <= 12;
    std::uint32_t plain = 0;
    std::uint32_t falling = 0;
    ZENITH_UNROLL
    for (unsigned n = 0; n < windows; ++n) {
      const std::uint32_t halves = halves_of(n);
      falling = simt::dot_halves(halves, 0x1f20 - n * 0x0202, falling);
      plain = sums_fit ? plain + halves : simt::dot_halves(halves, each_byte, plain);
    }
    return {sums_fit ? simt::dot_halves(plain, each_byte, 0) : plain, falling};
  }

  // Of a window's pairs, which may be fewer in the last one.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t window(unsigned n) const {
    return bits_from(n * pairs * 2 * Width, pairs_in(n) * 2 * Width);
  }
  [[nodiscard]] ZENITH_DEVICE std::uint32_t even_of(unsigned n) const { return window(n) & even_mask(n); }
  [[nodiscard]] ZENITH_DEVICE std::uint32_t odd_of(unsigned n) const { return window(n) >> Width & even_mask(n); }
  ZENITH_DEVICE static constexpr unsigned pairs_in(unsigned n) {
    const unsigned left = packed_miniblock_items / 2 - n * pairs;
    return left < pairs ? left : pairs;
  }
  ZENITH_DEVICE static constexpr std::uint32_t even_mask(unsigned n) {
    std::uint32_t all = 0;
    for (unsigned pair = 0; pair < pairs_in(n); ++pair) all |= mask << (2 * Width * pair);
    return all;
  }

  ZENITH_DEVICE static std::uint32_t field_of(std::uint32_t sums, unsigned pair) {
    const std::uint32_t above = sums >> (2 * Width * pair);
    return pair + 1 == pairs ? above : above & (~0U >> (32 - 2 * Width));
  }
  ZENITH_DEVICE static std::uint32_t total(std::uint32_t sums) {
    std::uint32_t all = 0;
    ZENITH_UNROLL
    for (unsigned pair = 0; pair < pairs; ++pair) all += field_of(sums, pair);
    return all;
  }

  std::uint32_t word_[Width];
};

/// Calls function(width) with a width of 1 to 32 as a constant.
template <unsigned Low = 1, unsigned High = 32, class Function>
ZENITH_DEVICE void with_width(std::uint32_t width, const Function& function) {
  if constexpr (Low == High) {
    function(std::integral_constant<unsigned, Low>{});
  } else {
    constexpr unsigned middle = (Low + High) / 2;
    if (width <= middle) {
      with_width<Low, middle>(width, function);
    } else {
      with_width<middle + 1, High>(width, function);
    }
  }
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// One row beside others as they lie in the table.

#include <type_traits>

#include <algorithms/skyline/row_source.hpp>

namespace zenith::skyline_family {

/// A pivot beside rows of a table by fours: four rows at a time, without images. There is none where `take_four` is of
/// no use.
template <class T, bool TakesFours = row_source<T>::takes_fours>
struct pivot_screen {
  using image = typename row_source<T>::image;
  static constexpr bool is_there = false;

  ZENITH_FN explicit pivot_screen(const row_source<T>& /*from*/) {}
  ZENITH_FN void take_images(const image* /*pivot*/) {}
  ZENITH_FN void take_row(u64 /*row*/) {}
  template <bool FewAreLeft>
  ZENITH_FN u32 list(u64 /*begin*/, u32 /*first*/, u32 /*n*/, u8* /*removed*/, u32* /*to*/) const {
    return 0;
  }
  ZENITH_FN u32 list_left(u64 /*begin*/, u32 /*first*/, u32 /*n*/, u8* /*removed*/, u32* /*to*/) const { return 0; }
};

#if !defined(ZENITH_SKYLINE_PLAIN_LANES) && !defined(__CUDACC__)
template <class T>
struct pivot_screen<T, true> {
  using image = typename row_source<T>::image;
  static constexpr bool is_there = true;
  static constexpr u32 most_fours = most_given_columns / 4;
  typedef T four __attribute__((vector_size(16)));
  typedef image four_bits __attribute__((vector_size(16)));

  const row_source<T>& from;
  four pivot[most_fours];       ///< flipped
  four_bits flips[most_fours];  ///< so that less is better

  /// A screen without a pivot.
  ZENITH_FN explicit pivot_screen(const row_source<T>& source) : from(source) {
    constexpr image of_sign =
        std::is_floating_point_v<T> ? image{1} << (8 * sizeof(image) - 1) : static_cast<image>(~image{0});
    for (u32 c = 0; c < from.given_columns; ++c) {
      flips[c / 4][c % 4] = ((from.maximised >> c) & 1) != 0 ? of_sign : image{0};
    }
  }
  ZENITH_FN void take_images(const image* of) {
    for (u32 c = 0; c < from.columns; ++c) take(c, from.order(c).key(static_cast<image>(of[c] ^ from.flip(c))));
  }
  ZENITH_FN void take_row(u64 row) {
    for (u32 c = 0; c < from.columns; ++c) take(c, from.column[c][row * from.row_stride]);
  }

  /// Lists those of n rows, `first` behind `begin`, which are not worse than the pivot in all columns; marks the
  /// others. So a NaN stays. Returns how many it lists; `to` has space for n.
  template <bool FewAreLeft>
  ZENITH_FN u32 list(u64 begin, u32 first, u32 n, u8* removed, u32* to) const {
    constexpr u32 rows = 4;
    constexpr u32 groups = 4;
    const u64 stride = from.row_stride;
    const T* at = from.column[0] + (begin + first) * stride;
    u32 found = 0;
    u32 i = 0;
    __builtin_memset(removed + first, 1, n);
    for (; i + rows * groups <= n; i += rows * groups) {
      four_bits worse[groups];
      for (u32 g = 0; g < groups; ++g, at += rows * stride) {
        worse[g] = find_worse([&](u32 r) { return at + r * stride; });
      }
#if defined(__AVX512F__)
      // a bit a row; without a branch where it would be hard to predict
      four_bits bits = worse[0] & four_bits{1, 2, 4, 8};
      for (u32 g = 1; g < groups; ++g) bits |= worse[g] & (four_bits{1, 2, 4, 8} << (rows * g));
      u64 words[2];
      __builtin_memcpy(words, &bits, sizeof(words));
      const u64 both = words[0] | words[1];
      const auto out = static_cast<__mmask16>(both | both >> 32);
      const auto left = static_cast<__mmask16>(~out);
      if (FewAreLeft && left == 0) continue;
      const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first + i)));
      _mm512_storeu_si512(to + found, _mm512_maskz_compress_epi32(left, numbers));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(removed + first + i),
                       _mm512_cvtepi32_epi8(_mm512_maskz_set1_epi32(out, 1)));
      found += static_cast<u32>(__builtin_popcount(left));
#else
      const four_bits all = (worse[0] & worse[1]) & (worse[2] & worse[3]);
      u64 words[2];
      __builtin_memcpy(words, &all, sizeof(words));
      if ((words[0] & words[1]) == ~u64{0}) continue;
      for (u32 g = 0; g < groups; ++g) {
        for (u32 r = 0; r < rows; ++r) {
          const u32 row = first + i + g * rows + r;
          to[found] = row;
          removed[row] = static_cast<u8>(worse[g][r] & 1);
          found += 1 - static_cast<u32>(worse[g][r] & 1);
        }
      }
#endif
    }
    for (; i < n; ++i) {
      removed[first + i] = 0;
      to[found++] = first + i;
    }
    return found;
  }
  /// The same of those that are not marked yet.
  ZENITH_FN u32 list_left(u64 begin, u32 first, u32 n, u8* removed, u32* to) const {
    u32 left = 0;
    u32 i = 0;
    for (; i + 8 <= n; i += 8) {
      u64 eight;
      __builtin_memcpy(&eight, removed + first + i, sizeof(eight));
      // most often all of them are, or all but one
      for (eight ^= 0x0101010101010101; eight != 0; eight &= eight - 1) {
        to[left++] = first + i + static_cast<u32>(__builtin_ctzll(eight)) / 8;
      }
    }
    for (; i < n; ++i) {
      if (removed[first + i] == 0) to[left++] = first + i;
    }
    u32 found = 0;
    for (i = 0; i < left; i += 4) {
      // the last again where there are no more
      const u32 n_here = left - i < 4 ? left - i : 4;
      const four_bits worse = find_worse(
          [&](u32 r) { return from.column[0] + (begin + to[i + (r < n_here ? r : n_here - 1)]) * from.row_stride; });
      for (u32 r = 0; r < n_here; ++r) {
        const u32 row = to[i + r];
        removed[row] = static_cast<u8>(worse[r] & 1);
        to[found] = row;
        found += 1 - static_cast<u32>(worse[r] & 1);
      }
    }
    return found;
  }

 private:
  ZENITH_FN void take(u32 c, T value) {
    pivot[c / 4][c % 4] =
        __builtin_bit_cast(T, static_cast<image>(__builtin_bit_cast(image, value) ^ flips[c / 4][c % 4]));
  }
  /// All bits of the lanes of those of the rows row(0) … row(3) that are worse in every column.
  template <class Row>
  ZENITH_FN four_bits find_worse(const Row& row) const {
    const u32 fours = from.columns / 4;
    four_bits worse[4];
    for (u32 r = 0; r < 4; ++r) worse[r] = compare(row(r), 0);
    for (u32 k = 1; k < fours; ++k) {
      for (u32 r = 0; r < 4; ++r) worse[r] &= compare(row(r), k);
    }
    const four_bits low = __builtin_shufflevector(worse[0], worse[1], 0, 4, 1, 5) &
                          __builtin_shufflevector(worse[0], worse[1], 2, 6, 3, 7);
    const four_bits high = __builtin_shufflevector(worse[2], worse[3], 0, 4, 1, 5) &
                           __builtin_shufflevector(worse[2], worse[3], 2, 6, 3, 7);
    return __builtin_shufflevector(low, high, 0, 1, 4, 5) & __builtin_shufflevector(low, high, 2, 3, 6, 7);
  }
  ZENITH_FN four_bits compare(const T* row, u32 k) const {
    four_bits bits;
    __builtin_memcpy(&bits, row + 4 * k, sizeof(bits));
    bits ^= flips[k];
    return (four_bits)((four)bits > pivot[k]);
  }
};
#endif

}  // namespace zenith::skyline_family

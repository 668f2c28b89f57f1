#include <algorithms/threshold_table/src/descend.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zenith::detail {

#if defined(__x86_64__)

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

#define ZENITH_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

constexpr std::size_t run = 64;  ///< rows of a register of codes

// the words without a mask have warnings of their own
constexpr __mmask16 all_lanes = 0xffff;
constexpr __mmask32 all_words = ~__mmask32{0};
constexpr __mmask64 all_bytes = ~__mmask64{0};

ZENITH_WIDE __m512i codes_of(__m512 values, __m512 from, __m512 factor) {
  const __m512 steps = _mm512_mul_ps(_mm512_sub_ps(values, from), factor);
  // NaN becomes the second operand
  const __m512 some = _mm512_maskz_max_ps(all_lanes, steps, _mm512_setzero_ps());
  const __m512 code = _mm512_maskz_min_ps(all_lanes, some, _mm512_set1_ps(static_cast<float>(last_value_code)));
  return _mm512_maskz_cvttps_epi32(all_lanes, code);
}
ZENITH_WIDE __m512 reals_of(__m512i bits) {
  const __m512i negative = _mm512_maskz_srli_epi32(all_lanes, _mm512_maskz_srai_epi32(all_lanes, bits, 31), 1);
  return _mm512_maskz_cvtepi32_ps(all_lanes, _mm512_xor_si512(bits, negative));
}
template <bool OfBits>
ZENITH_WIDE void write_codes(const __m512 (&values)[4], __m512 from, __m512 factor, u8* to) {
  alignas(64) static constexpr u32 order[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  __m512i found[4];
  for (std::size_t r = 0; r < 4; ++r) {
    found[r] = codes_of(OfBits ? reals_of(_mm512_castps_si512(values[r])) : values[r], from, factor);
  }
  // the words of each quarter come from all four
  const __m512i all =
      _mm512_packus_epi16(_mm512_packs_epi32(found[0], found[1]), _mm512_packs_epi32(found[2], found[3]));
  _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi32(all_lanes, _mm512_load_si512(order), all));
}
template <bool OfBits>
ZENITH_WIDE void code_by(const float* values, std::size_t count, const value_coding<float>& by, u8* codes) {
  constexpr std::size_t lanes = 16;
  const __m512 from = _mm512_set1_ps(by.from);
  const __m512 factor = _mm512_set1_ps(by.factor);
  __m512 some[4];
  std::size_t i = 0;
  for (; i + run <= count; i += run) {
    for (std::size_t r = 0; r < 4; ++r) some[r] = _mm512_loadu_ps(values + i + r * lanes);
    write_codes<OfBits>(some, from, factor, codes + i);
  }
  if (i == count) return;
  for (std::size_t r = 0; r < 4; ++r) {
    const std::size_t at = i + r * lanes;
    const std::size_t left = at < count ? count - at : 0;
    some[r] = _mm512_maskz_loadu_ps(static_cast<__mmask16>(left < lanes ? (1U << left) - 1 : 0xffffU), values + at);
  }
  write_codes<OfBits>(some, from, factor, codes + i);
}
ZENITH_WIDE void code(const float* values, std::size_t count, const value_coding<float>& by, u8* codes) {
  if (by.of_bits) {
    code_by<true>(values, count, by, codes);
  } else {
    code_by<false>(values, count, by, codes);
  }
}

/// A byte a row. Nodes are looked up in registers by their place in the level, of which bits 8 and above are masks.
struct wide_walk {
  const cut_tree& tree;
  __m512i codes[most_wide_columns];
  __m512i path;
  __mmask64 last_bit;  // after level 8

  ZENITH_WIDE static __m512i load(const u8* from) { return _mm512_loadu_si512(from); }
  ZENITH_WIDE __m512i of_128(const u8* from) const {
    return _mm512_permutex2var_epi8(load(from), path, load(from + 64));
  }
  template <unsigned Level>
  ZENITH_WIDE __m512i look_up(const u8* from) const {
    if constexpr (Level <= 6) return _mm512_maskz_permutexvar_epi8(all_bytes, path, load(from));
    if constexpr (Level == 7) return of_128(from);
    if constexpr (Level == 8)
      return _mm512_mask_blend_epi8(_mm512_movepi8_mask(path), of_128(from), of_128(from + 128));
  }
  ZENITH_WIDE __m512i code(__m512i column) const {
    const __mmask64 is_odd = _mm512_test_epi8_mask(column, _mm512_set1_epi8(1));
    const __mmask64 is_upper_pair = _mm512_test_epi8_mask(column, _mm512_set1_epi8(2));
    const __mmask64 is_upper_half = _mm512_test_epi8_mask(column, _mm512_set1_epi8(4));
    const __m512i a = _mm512_mask_blend_epi8(is_odd, codes[0], codes[1]);
    const __m512i b = _mm512_mask_blend_epi8(is_odd, codes[2], codes[3]);
    const __m512i c = _mm512_mask_blend_epi8(is_odd, codes[4], codes[5]);
    const __m512i d = _mm512_mask_blend_epi8(is_odd, codes[6], codes[7]);
    return _mm512_mask_blend_epi8(is_upper_half, _mm512_mask_blend_epi8(is_upper_pair, a, b),
                                  _mm512_mask_blend_epi8(is_upper_pair, c, d));
  }
  /// From a level on.
  template <unsigned Level>
  ZENITH_WIDE void go(unsigned levels) {
    if constexpr (Level < most_wide_levels) {
      if (Level >= levels) return;
      constexpr std::size_t first = std::size_t{1} << Level;
      const __m512i limit = look_up<Level>(tree.limits + first);
      const __mmask64 is_right = _mm512_cmpge_epu8_mask(code(look_up<Level>(tree.columns + first)), limit);
      if constexpr (Level < 8) {
        const __m512i left = _mm512_add_epi8(path, path);
        path = _mm512_mask_sub_epi8(left, is_right, left, _mm512_set1_epi8(-1));
      } else {
        last_bit = is_right;
      }
      go<Level + 1>(levels);
    }
  }
  ZENITH_WIDE void store_half(u16* to, __m256i half, __mmask32 bits, bool has_bits) const {
    __m512i all = _mm512_maskz_cvtepu8_epi16(all_words, half);
    if (has_bits) {
      all = _mm512_add_epi16(all, all);
      all = _mm512_mask_add_epi16(all, bits, all, _mm512_set1_epi16(1));
    }
    _mm512_storeu_si512(to, all);
  }
};

ZENITH_WIDE void descend(const cut_tree& tree, const u8* codes, std::size_t stride, std::size_t columns,
                         std::size_t count, u16* paths) {
  for (std::size_t i = 0; i < count; i += run) {
    wide_walk walk{tree, {}, _mm512_setzero_si512(), 0};
    for (std::size_t j = 0; j < most_wide_columns; ++j) {
      walk.codes[j] = wide_walk::load(codes + (j < columns ? j : 0) * stride + i);
    }
    walk.go<0>(tree.levels);
    const bool has_bits = tree.levels > 8;
    walk.store_half(paths + i, _mm512_maskz_extracti64x4_epi64(0xf, walk.path, 0),
                    static_cast<__mmask32>(walk.last_bit), has_bits);
    walk.store_half(paths + i + run / 2, _mm512_maskz_extracti64x4_epi64(0xf, walk.path, 1),
                    static_cast<__mmask32>(walk.last_bit >> 32), has_bits);
  }
}

#undef ZENITH_WIDE

bool has_wide_registers() {
  static const bool known = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                            __builtin_cpu_supports("avx512vbmi") != 0;
  return known;
}

}  // namespace

float_coding wide_coding() { return has_wide_registers() ? code : nullptr; }
descent wide_descent() { return has_wide_registers() ? descend : nullptr; }

#else

float_coding wide_coding() { return nullptr; }
descent wide_descent() { return nullptr; }

#endif

}  // namespace zenith::detail

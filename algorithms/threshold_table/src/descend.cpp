#include <algorithms/threshold_table/src/descend.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zenith::detail {

#if defined(__x86_64__)

namespace {

using u32 = std::uint32_t;

#define ZENITH_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

/// A lane a row. Nodes are looked up in registers: a gather takes a load a lane.
struct wide_walk {
  const cut_tree& tree;
  __m512i ranks[most_wide_columns];
  __m512i at;

  // the words without a mask have warnings of their own
  static constexpr __mmask16 all_lanes = 0xffff;
  static constexpr __mmask64 all_bytes = ~__mmask64{0};

  ZENITH_WIDE __m512i limits(unsigned register_number) const {
    return _mm512_loadu_si512(tree.limits + register_number * 16);
  }
  ZENITH_WIDE __m512i columns(unsigned register_number) const {
    return _mm512_loadu_si512(tree.columns + register_number * 64);
  }
  /// The limit of 32 consecutive nodes by the lower bits of the number.
  ZENITH_WIDE __m512i limit_of_32(unsigned first_register) const {
    return _mm512_permutex2var_epi32(limits(first_register), at, limits(first_register + 1));
  }
  ZENITH_WIDE __m512i limit_of_64(unsigned first_register) const {
    return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(32)), limit_of_32(first_register),
                                   limit_of_32(first_register + 2));
  }
  ZENITH_WIDE __m512i limit_of_128(unsigned first_register) const {
    return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(64)), limit_of_64(first_register),
                                   limit_of_64(first_register + 4));
  }
  template <unsigned Level>
  ZENITH_WIDE __m512i limit() const {
    if constexpr (Level < 5) return _mm512_maskz_permutexvar_epi32(all_lanes, at, limits(Level < 4 ? 0 : 1));
    if constexpr (Level == 5) return limit_of_32(2);
    if constexpr (Level == 6) return limit_of_64(4);
    if constexpr (Level == 7) return limit_of_128(8);
  }
  /// In the lowest byte of each lane.
  template <unsigned Level>
  ZENITH_WIDE __m512i column() const {
    if constexpr (Level < 7) return _mm512_maskz_permutexvar_epi8(all_bytes, at, columns(Level < 6 ? 0 : 1));
    if constexpr (Level == 7) return _mm512_permutex2var_epi8(columns(2), at, columns(3));
  }
  ZENITH_WIDE __m512i rank(__m512i column) const {
    const __mmask16 is_odd = _mm512_test_epi32_mask(column, _mm512_set1_epi32(1));
    const __mmask16 is_upper_pair = _mm512_test_epi32_mask(column, _mm512_set1_epi32(2));
    const __mmask16 is_upper_half = _mm512_test_epi32_mask(column, _mm512_set1_epi32(4));
    const __m512i a = _mm512_mask_blend_epi32(is_odd, ranks[0], ranks[1]);
    const __m512i b = _mm512_mask_blend_epi32(is_odd, ranks[2], ranks[3]);
    const __m512i c = _mm512_mask_blend_epi32(is_odd, ranks[4], ranks[5]);
    const __m512i d = _mm512_mask_blend_epi32(is_odd, ranks[6], ranks[7]);
    return _mm512_mask_blend_epi32(is_upper_half, _mm512_mask_blend_epi32(is_upper_pair, a, b),
                                   _mm512_mask_blend_epi32(is_upper_pair, c, d));
  }
  template <unsigned Level>
  ZENITH_WIDE void go() {
    const __mmask16 is_right = _mm512_cmpge_epu32_mask(rank(column<Level>()), limit<Level>());
    const __m512i left = _mm512_add_epi32(at, at);
    at = _mm512_mask_add_epi32(left, is_right, left, _mm512_set1_epi32(1));
  }
  /// From a level on.
  template <unsigned Level>
  ZENITH_WIDE void first_levels(unsigned levels) {
    if constexpr (Level < most_wide_levels) {
      if (Level >= levels) return;
      go<Level>();
      first_levels<Level + 1>(levels);
    }
  }
};

template <rank_form Form>
ZENITH_WIDE __m512i rank_of(__m512i bits) {
  const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000U));
  if constexpr (Form == rank_form::real)
    return _mm512_xor_si512(bits, _mm512_or_si512(_mm512_maskz_srai_epi32(wide_walk::all_lanes, bits, 31), sign));
  if constexpr (Form == rank_form::integer) return _mm512_xor_si512(bits, sign);
  return bits;
}

template <rank_form Form>
ZENITH_WIDE void descend_by(const cut_tree& tree, const void* const* values, std::size_t columns, std::size_t first,
                            std::size_t count, u32* nodes) {
  constexpr std::size_t lanes = 16;
  constexpr std::size_t ahead = 512;  // columns are many streams: what comes is asked for, beyond the end too
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto some = static_cast<__mmask16>(count - i < lanes ? (1U << (count - i)) - 1 : 0xffffU);
    wide_walk walk{tree, {}, _mm512_set1_epi32(1)};
    for (std::size_t j = 0; j < most_wide_columns; ++j) {
      const auto* const column = static_cast<const u32*>(values[j < columns ? j : 0]);
      __builtin_prefetch(column + first + i + ahead);
      walk.ranks[j] = rank_of<Form>(_mm512_maskz_loadu_epi32(some, column + first + i));
    }
    walk.first_levels<0>(tree.levels);
    _mm512_mask_storeu_epi32(nodes + i, some, walk.at);
  }
}

ZENITH_WIDE void descend(const cut_tree& tree, const void* const* values, std::size_t columns, std::size_t first,
                         std::size_t count, u32* nodes) {
  switch (tree.form) {
    case rank_form::bits: return descend_by<rank_form::bits>(tree, values, columns, first, count, nodes);
    case rank_form::integer: return descend_by<rank_form::integer>(tree, values, columns, first, count, nodes);
    case rank_form::real: return descend_by<rank_form::real>(tree, values, columns, first, count, nodes);
  }
}

#undef ZENITH_WIDE

}  // namespace

descent wide_descent() {
  static const descent known = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                                       __builtin_cpu_supports("avx512vbmi") != 0
                                   ? descend
                                   : nullptr;
  return known;
}

#else

descent wide_descent() { return nullptr; }

#endif

}  // namespace zenith::detail

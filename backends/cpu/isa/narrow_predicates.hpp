// What is asked of words in narrow lanes: their sum, and which lie in a range. Included by a unit that is compiled for
// one instruction set, inside its namespace; SSE2 has none.

#if !defined(ZENITH_ISA_SSE2)

/// Adds up to 2^16 words of one width.
template <class Lane>
class narrow_sum {
 public:
  ZENITH_FN explicit narrow_sum(unsigned width)
      : width_(width),
        lowering_(every_lane(in_lanes<Lane>(sizeof(Lane) == 1 ? ~0U << bits_below<Lane>(width) : 1U << width))) {}

  ZENITH_FN void add(const narrow_words<Lane>& words) {
    if constexpr (sizeof(Lane) == 1) {
      sums_ = added_words(sums_, added_bytes(all_of(words.v[0], lowering_)), std::uint64_t{});
    } else {
      // down from the top, so that what adds up pairs finds no signs
      const narrow_register low = added_pairs(high_products(words.v[0], lowering_));
      const narrow_register high = added_pairs(high_products(words.v[1], lowering_));
      sums_ = added_words(sums_, added_words(low, high, std::uint32_t{}), std::uint32_t{});
    }
  }

  /// In lanes of 64 bits.
  ZENITH_FN narrow_register total() const {
    if constexpr (sizeof(Lane) == 1) return shifted_down(sums_, bits_below<Lane>(width_));
    return added_words(low_halves(sums_), shifted_down(sums_, 32), std::uint64_t{});
  }

 private:
  unsigned width_;
  narrow_register lowering_;
  narrow_register sums_{};
};

/// Sets a bit for each word in [first, first + span], modulo the lane, and returns how many there are; of lanes of 32
/// bits 0, whose flags go to memory straight. Bounds stand in each lane of 32 bits, with what is to be added to them.
template <class Lane>
class narrow_range {
 public:
#if defined(ZENITH_ISA_AVX512)
  static constexpr std::uint32_t more_first = 0;
  static constexpr std::uint32_t more_span = 0;
#else
  // AVX2 compares signed lanes alone, and knows but "greater": than the first word beyond the span, so that this must
  // not take all words there are
  static constexpr std::uint32_t more_first = 1U << (8 * sizeof(Lane) - 1);
  static constexpr std::uint32_t more_span = more_first + 1;
#endif
  static constexpr bool counts = sizeof(Lane) < 4;

  ZENITH_FN narrow_range(std::uint32_t first, std::uint32_t span) : from_(every_lane(first)), span_(every_lane(span)) {}

  /// `FromLeast`: `first` is 0.
  template <bool FromLeast>
  ZENITH_FN unsigned store_within(const narrow_words<Lane>& words, std::byte* to) const {
    unsigned count = 0;
#if defined(ZENITH_ISA_AVX512)
    for (unsigned i = 0; i < sizeof(Lane); ++i) {
      const auto within = flags_of<FromLeast>(words.v[i], Lane{});
      __builtin_memcpy(to + i * sizeof within, &within, sizeof within);
      if constexpr (counts) count += set_bits(within);
    }
#else
    if constexpr (sizeof(Lane) == 4) {
      for (unsigned i = 0; i < sizeof(Lane); ++i) {
        const auto flags = _mm256_cmpgt_epi32(span_, _mm256_sub_epi32(words.v[i], from_));
        to[i] = static_cast<std::byte>(_mm256_movemask_ps(_mm256_castsi256_ps(flags)));
      }
    } else {
      __m256i flags;
      if constexpr (sizeof(Lane) == 1) {
        flags = _mm256_cmpgt_epi8(span_, _mm256_sub_epi8(words.v[0], from_));
      } else {
        // half by half: the second and the third eight flags change places
        const __m256i packed = _mm256_packs_epi16(_mm256_cmpgt_epi16(span_, _mm256_sub_epi16(words.v[0], from_)),
                                                  _mm256_cmpgt_epi16(span_, _mm256_sub_epi16(words.v[1], from_)));
        flags = _mm256_permute4x64_epi64(packed, 0b11'01'10'00);
      }
      const auto within = static_cast<std::uint32_t>(_mm256_movemask_epi8(flags));
      __builtin_memcpy(to, &within, sizeof within);
      count = static_cast<unsigned>(__builtin_popcount(within));
    }
#endif
    return count;
  }

 private:
#if defined(ZENITH_ISA_AVX512)
  ZENITH_FN static unsigned set_bits(__mmask64 mask) { return static_cast<unsigned>(__builtin_popcountll(mask)); }
  ZENITH_FN static unsigned set_bits(__mmask32 mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

  template <bool FromLeast>
  ZENITH_FN __mmask64 flags_of(__m512i words, std::uint8_t) const {
    return _mm512_cmple_epu8_mask(FromLeast ? words : _mm512_sub_epi8(words, from_), span_);
  }
  template <bool FromLeast>
  ZENITH_FN __mmask64 flags_of(__m512i words, nibble) const {
    return flags_of<FromLeast>(words, std::uint8_t{});
  }
  template <bool FromLeast>
  ZENITH_FN __mmask32 flags_of(__m512i words, std::uint16_t) const {
    return _mm512_cmple_epu16_mask(FromLeast ? words : _mm512_sub_epi16(words, from_), span_);
  }
  template <bool FromLeast>
  ZENITH_FN __mmask16 flags_of(__m512i words, std::uint32_t) const {
    return _mm512_cmple_epu32_mask(FromLeast ? words : _mm512_sub_epi32(words, from_), span_);
  }
#endif

  narrow_register from_;
  narrow_register span_;
};

/// A bit for each block of a group.
using block_set = std::uint32_t;
inline constexpr block_set all_blocks = (1U << packed_group_blocks) - 1;

/// 2048 words of one width.
struct narrow_group {
  const std::byte* words;
  unsigned width;
  std::uint64_t first;  ///< the index of its first value

  ZENITH_FN const std::byte* block(unsigned slot) const {
    return words + std::uint64_t{slot} * width * (packed_block_items / 8);
  }
};

ZENITH_FN void skip_block(const narrow_group& group, const std::byte*& from) {
  from += group.width * (packed_block_items / 8);
}

template <class Lane>
ZENITH_FN unsigned bits_below(const narrow_group& group) {
  return bits_below<Lane>(group.width);
}
/// Returns use(an unpacker of the group's words).
template <class Use>
ZENITH_FN auto with_unpacker(const narrow_group& group, Use&& use) {
  return with_unpacker(group.width, use);
}
template <class Use>
ZENITH_FN auto with_leading_unpacker(const narrow_group& group, Use&& use) {
  return with_leading_unpacker(group.width, use);
}

#endif

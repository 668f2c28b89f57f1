// How few bits a group of 2048 values takes: references and widths. Included by a unit that is compiled for one
// instruction set, inside its namespace.
//
// A group is measured before anybody knows where its bytes will stand, and written afterwards from its values, best
// while they are still in the L1 cache. Of 32-bit values all blocks' references are found at once, then all miniblocks'
// widths: what is reduced lane by lane in a block's own registers is a chain of dependent instructions as long as the
// register, four times a block.

#if !defined(ZENITH_ISA_SSE2)

using word_register = vector_of<std::uint32_t>;
inline constexpr unsigned group_minis = packed_group_blocks * packed_miniblocks;

enum class merge_by { least, least_signed, any_bit };

template <merge_by By>
ZENITH_FN word_register merged(const word_register& a, const word_register& b) {
  using with_sign = vector_of<std::int32_t>;
  if constexpr (By == merge_by::least) return xsimd::min(a, b);
  if constexpr (By == merge_by::any_bit) return a | b;
  return same_bits<word_register>(xsimd::min(same_bits<with_sign>(a), same_bits<with_sign>(b)));
}

#if defined(ZENITH_ISA_AVX512)

inline constexpr unsigned reduced_levels = 4;

/// Step `Level` of a reduction merges two registers, and halves what is left of each.
template <merge_by By, unsigned Level>
ZENITH_FN word_register folded(const word_register& a, const word_register& b) {
  if constexpr (Level == 1) return merged<By>(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  if constexpr (Level == 2) return merged<By>(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  return merged<By>(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

ZENITH_FN word_register picked(const word_register& from, const std::uint32_t* lanes) {
  return _mm512_permutexvar_epi32(word_register::load_unaligned(lanes), from);
}

/// Stores the lanes' lengths in bits, and the largest words of `first_less` bits less; returns the lengths' sum.
ZENITH_FN std::uint32_t store_lengths(const word_register& bits, std::uint8_t* width, std::uint32_t* most) {
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i least = _mm512_set1_epi32(first_less<std::uint32_t>);
  const __m512i length = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(bits));
  const __m512i less = _mm512_sub_epi32(_mm512_max_epu32(length, least), least);
  _mm512_store_si512(most, _mm512_sub_epi32(_mm512_sllv_epi32(one, less), one));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(width), _mm512_cvtepi32_epi8(length));
  return static_cast<std::uint32_t>(_mm512_reduce_add_epi32(length));
}

/// Words of a miniblock beyond `most`, which has all bits below some bit.
ZENITH_FN unsigned words_beyond(const word_register* words, std::uint32_t most) {
  const __m512i limit = _mm512_set1_epi32(static_cast<int>(most));
  const std::uint32_t low = mask_bits(_mm512_cmpgt_epu32_mask(words[0], limit));
  const std::uint32_t high = mask_bits(_mm512_cmpgt_epu32_mask(words[1], limit));
  return static_cast<unsigned>(__builtin_popcount(low | high << 16));
}

/// A bit for each miniblock for which 5 * outside < 4 * width.
ZENITH_FN std::uint64_t five_less_than_four(const std::uint8_t* outside, const std::uint8_t* width) {
  const __m512i p = _mm512_loadu_si512(outside);
  const __m512i w = _mm512_loadu_si512(width);
  const __m512i p2 = _mm512_add_epi8(p, p);
  const __m512i w2 = _mm512_add_epi8(w, w);
  return _mm512_cmplt_epu8_mask(_mm512_add_epi8(_mm512_add_epi8(p2, p2), p), _mm512_add_epi8(w2, w2));
}

#else

inline constexpr unsigned reduced_levels = 3;

/// Step `Level` of a reduction merges two registers, and halves what is left of each.
template <merge_by By, unsigned Level>
ZENITH_FN word_register folded(const word_register& a, const word_register& b) {
  if constexpr (Level == 1) return merged<By>(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
  if constexpr (Level == 2) return merged<By>(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
  return merged<By>(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}

ZENITH_FN word_register picked(const word_register& from, const std::uint32_t* lanes) {
  return _mm256_permutevar8x32_epi32(from, word_register::load_unaligned(lanes));
}

/// Stores the lanes' lengths in bits, and the largest words of `first_less` bits less; returns the lengths' sum.
ZENITH_FN std::uint32_t store_lengths(const word_register& bits, std::uint8_t* width, std::uint32_t* most) {
  std::uint32_t lanes[word_register::size];
  bits.store_unaligned(lanes);
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < word_register::size; ++i) {
    const unsigned length = length_of(lanes[i]);
    width[i] = static_cast<std::uint8_t>(length);
    most[i] = length > first_less<std::uint32_t> ? masks<std::uint32_t>.of[length - first_less<std::uint32_t>] : 0;
    sum += length;
  }
  return sum;
}

/// Words of a miniblock beyond `most`, which has all bits below some bit.
ZENITH_FN unsigned words_beyond(const word_register* words, std::uint32_t most) {
  const __m256i limit = _mm256_set1_epi32(static_cast<int>(most));
  const auto within = [&](unsigned i) ZENITH_INLINE_LAMBDA {
    return _mm256_cmpeq_epi32(_mm256_andnot_si256(limit, words[i]), _mm256_setzero_si256());
  };
  const __m256i flags =
      _mm256_packs_epi16(_mm256_packs_epi32(within(0), within(1)), _mm256_packs_epi32(within(2), within(3)));
  return 32 - static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8(flags))));
}

/// A bit for each miniblock for which 5 * outside < 4 * width.
ZENITH_FN std::uint64_t five_less_than_four(const std::uint8_t* outside, const std::uint8_t* width) {
  std::uint64_t less = 0;
  for (unsigned half = 0; half < 2; ++half) {
    const __m256i p = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(outside) + half);
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(width) + half);
    const __m256i p2 = _mm256_add_epi8(p, p);
    const __m256i w2 = _mm256_add_epi8(w, w);
    const __m256i above = _mm256_subs_epu8(_mm256_add_epi8(w2, w2), _mm256_add_epi8(_mm256_add_epi8(p2, p2), p));
    const auto none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(above, _mm256_setzero_si256()));
    less |= std::uint64_t{~static_cast<std::uint32_t>(none)} << (32 * half);
  }
  return less;
}

#endif

/// Calls of(index) for 2^Level registers from `first` on: each one's reduction, in the lane of its place.
template <merge_by By, unsigned Level, class Of>
ZENITH_FN word_register reduced(const Of& of, unsigned first) {
  if constexpr (Level == 0) {
    return of(first);
  } else {
    const word_register a = reduced<By, Level - 1>(of, first);
    return folded<By, Level>(a, reduced<By, Level - 1>(of, first + (1U << (Level - 1))));
  }
}

/// The words of a group before references are subtracted: its values.
struct group_values {
  const std::uint32_t* from;

  ZENITH_FN word_register operator()(unsigned block, unsigned i) const {
    return word_register::load_unaligned(from + block * packed_block_items + i * word_register::size);
  }
  template <unsigned First, unsigned Count>
  ZENITH_FN void ask_ahead(unsigned block) const {
    ask_for_next_group<First, Count>(from, block);
  }
  ZENITH_FN static void clear_base(word_register&) {}
};

/// The same of a delta column: the differences to the value before. The first of a block is the second's, so that it
/// changes no minimum, and 0 afterwards.
struct group_steps : group_values {
  ZENITH_FN word_register operator()(unsigned block, unsigned i) const {
    const std::uint32_t* at = from + block * packed_block_items + i * word_register::size;
    const auto values = word_register::load_unaligned(at);
    if (i > 0) return values - word_register::load_unaligned(at - 1);
    constexpr std::uint32_t own[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    constexpr std::uint32_t before[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    return picked(values, own) - picked(values, before);
  }
  ZENITH_FN static void clear_base(word_register& words) { clear_first<std::uint32_t>(words); }
};

template <merge_by Order, class Words>
ZENITH_FN void measure_group(const Words& words, packed_group_shape& to) {
  alignas(64) std::uint32_t references[packed_group_blocks];
  for (unsigned first = 0; first < packed_group_blocks; first += word_register::size) {
    reduced<Order, reduced_levels>(
        [&](unsigned block) ZENITH_INLINE_LAMBDA {
          word_register least = words(block, 0);
#pragma GCC unroll 16
          for (unsigned i = 1; i < block_vectors<std::uint32_t>; ++i) least = merged<Order>(least, words(block, i));
          return least;
        },
        first)
        .store_aligned(references + first);
  }
  for (unsigned block = 0; block < packed_group_blocks; ++block) to.reference[block] = references[block];

  constexpr unsigned registers = mini_vectors<std::uint32_t>;
  const auto word = [&](unsigned mini, unsigned i) ZENITH_INLINE_LAMBDA {
    const unsigned block = mini / packed_miniblocks;
    const unsigned m = mini % packed_miniblocks;
    word_register one = words(block, m * registers + i) - word_register(references[block]);
    if (i == 0 && m == 0) words.clear_base(one);
    return one;
  };
  alignas(64) std::uint32_t most[group_minis];
  to.words = 0;
#pragma GCC unroll 1
  for (unsigned first = 0; first < group_minis; first += word_register::size) {
    const auto bits = reduced<merge_by::any_bit, reduced_levels>(
        [&](unsigned mini) ZENITH_INLINE_LAMBDA {
          if (mini % packed_miniblocks == 0) words.template ask_ahead<0, 2>(mini / packed_miniblocks);
          word_register any = word(mini, 0);
#pragma GCC unroll 4
          for (unsigned i = 1; i < registers; ++i) any = any | word(mini, i);
          return any;
        },
        first);
    to.words += store_lengths(bits, to.width[first / packed_miniblocks], most + first);
  }
  to.patched_words = to.words;
  to.patches = 0;

  // With p words longer than the width less two bits, no fewer than 40 p / 32 + 1 bits less can gain: mostly more than
  // there are.
  alignas(64) std::uint8_t outside[group_minis];
#pragma GCC unroll 1
  for (unsigned block = 0; block < packed_group_blocks; ++block) {
    words.template ask_ahead<2, 2>(block);
#pragma GCC unroll 4
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const unsigned mini = block * packed_miniblocks + m;
      word_register own[registers];
#pragma GCC unroll 4
      for (unsigned i = 0; i < registers; ++i) own[i] = word(mini, i);
      outside[mini] = static_cast<std::uint8_t>(words_beyond(own, most[mini]));
    }
  }
  static_assert(patch_bits<std::uint32_t> * 4 == packed_miniblock_items * 5);
  __builtin_memcpy(to.patched_width, to.width, sizeof to.width);
  auto can_gain = five_less_than_four(outside, to.width[0]);
  for (; can_gain != 0; can_gain &= can_gain - 1) {
    const auto mini = static_cast<unsigned>(__builtin_ctzll(can_gain));
    word_register own[registers];
    for (unsigned i = 0; i < registers; ++i) own[i] = word(mini, i);
    auto& patched = to.patched_width[mini / packed_miniblocks][mini % packed_miniblocks];
    const auto shape = patched_shape<std::uint32_t>(own, patched);
    patched = static_cast<std::uint8_t>(shape.patched_width);
    to.patched_words -= shape.width - shape.patched_width;
    to.patches += shape.patches;
  }
}

#endif

template <class T>
void measure_frames(const void* values, packed_group_shape* to) {
  using U = std::make_unsigned_t<T>;
  const U* from = static_cast<const U*>(values);
#if !defined(ZENITH_ISA_SSE2)
  if constexpr (sizeof(U) == 4) {
    return measure_group < std::is_signed_v<T> ? merge_by::least_signed : merge_by::least > (group_values{from}, *to);
  }
#endif
  to->words = to->patched_words = to->patches = 0;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot, from += packed_block_items) {
    auto words = values_of(from);
    const U least = least_of(words, order_bias<T>);
    to->reference[slot] = least;
    subtract(words, least);
    measure_block(words, slot, *to);
  }
}

template <class U>
void measure_deltas(const void* values, packed_group_shape* to) {
  const U* from = static_cast<const U*>(values);
#if !defined(ZENITH_ISA_SSE2)
  if constexpr (sizeof(U) == 4) return measure_group<merge_by::least_signed>(group_steps{{from}}, *to);
#endif
  to->words = to->patched_words = to->patches = 0;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot, from += packed_block_items) {
    auto words = steps_of(from);
    const U least = least_of(words, order_bias<std::make_signed_t<U>>);
    to->reference[slot] = least;
    subtract(words, least);
    clear_first(words.v[0]);
    measure_block(words, slot, *to);
  }
}

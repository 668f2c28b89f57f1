// How few bits a group of 2048 values takes by frame of reference or delta: references and widths. Included by a unit
// that is compiled for one instruction set, inside its namespace.
//
// A group is measured before anybody knows where its bytes will stand, and written afterwards from its values, best
// while they are still in the L1 cache.

/// The least of a block, in the order of words with the bias added.
template <class U>
ZENITH_FN U least_of(const block_of_vectors<U>& block, U bias) {
  auto least = block.v[0] + vector_of<U>(bias);
  for (unsigned i = 1; i < block_vectors<U>; ++i) least = xsimd::min(least, block.v[i] + vector_of<U>(bias));
  U lanes[vector_of<U>::size];
  least.store_unaligned(lanes);
  for (const auto lane : lanes) lanes[0] = lane < lanes[0] ? lane : lanes[0];
  return static_cast<U>(lanes[0] - bias);
}

template <class U>
ZENITH_FN unsigned length_of(U word) {
  if (word == 0) return 0;
  return sizeof(U) == 4 ? 32 - static_cast<unsigned>(__builtin_clz(static_cast<std::uint32_t>(word)))
                        : 64 - static_cast<unsigned>(__builtin_clzll(word));
}

/// Words of a miniblock that are longer than `width` bits.
template <class U>
ZENITH_FN unsigned longer_than(const vector_of<U>* words, unsigned width) {
  const vector_of<U> most(masks<U>.of[width]);
  unsigned count = 0;
  for (unsigned i = 0; i < mini_vectors<U>; ++i) {
    count += static_cast<unsigned>(__builtin_popcount(lane_mask(words[i] > most)));
  }
  return count;
}

struct mini_shape {
  unsigned width;
  unsigned patched_width;
  unsigned patches;
};

template <class U>
inline constexpr unsigned patch_bits = 8 + word_bits<U>;

/// The first number of bits that can be worth taking off a width: p(d), see below, is at least 1.
template <class U>
inline constexpr unsigned first_less = patch_bits<U> / packed_miniblock_items + 1;

/// What packed::shape_of finds for words of `width` bits. Taking d bits off the width saves 32 d bits and costs a patch
/// for each of the p(d) words that are longer, so it gains only if 32 d > bits of a patch * p(d). p only grows with d:
/// with p known for one d, all up to bits of a patch * p / 32 are known not to gain.
template <class U>
ZENITH_FN mini_shape patched_shape(const vector_of<U>* words, unsigned width) {
  mini_shape best{width, width, 0};
  unsigned least = packed_miniblock_items * width;
  for (unsigned less = first_less<U>; less <= width;) {
    const unsigned outside = longer_than<U>(words, width - less);
    const unsigned bits = packed_miniblock_items * (width - less) + outside * patch_bits<U>;
    if (bits < least) {
      least = bits;
      best.patched_width = width - less;
      best.patches = outside;
    }
    const unsigned next = outside * patch_bits<U> / packed_miniblock_items + 1;
    less = next > less ? next : less + 1;
  }
  return best;
}

template <class U>
ZENITH_FN mini_shape shape_of(const vector_of<U>* words) {
  auto all = words[0];
  for (unsigned i = 1; i < mini_vectors<U>; ++i) all = all | words[i];
  U lanes[vector_of<U>::size];
  all.store_unaligned(lanes);
  for (unsigned i = 1; i < vector_of<U>::size; ++i) lanes[0] |= lanes[i];
  return patched_shape<U>(words, length_of(lanes[0]));
}

template <class U>
ZENITH_FN void measure_block(const block_of_vectors<U>& words, unsigned slot, packed_group_shape& to) {
  for (unsigned m = 0; m < packed_miniblocks; ++m) {
    const auto shape = shape_of<U>(words.v + m * mini_vectors<U>);
    to.width[slot][m] = static_cast<std::uint8_t>(shape.width);
    to.patched_width[slot][m] = static_cast<std::uint8_t>(shape.patched_width);
    to.words += shape.width;
    to.patched_words += shape.patched_width;
    to.patches += shape.patches;
  }
}

#if defined(ZENITH_ISA_AVX512)

// Sixteen registers, each reduced to one lane of the result. A step merges two registers and halves what is left of
// each.
enum class merge_by { least, least_signed, any_bit };

template <merge_by By>
ZENITH_FN __m512i merged(__m512i a, __m512i b) {
  if constexpr (By == merge_by::least) return _mm512_min_epu32(a, b);
  if constexpr (By == merge_by::least_signed) return _mm512_min_epi32(a, b);
  return _mm512_or_si512(a, b);
}

/// Calls of(index) for 2^Level registers from `first` on.
template <merge_by By, unsigned Level, class Of>
ZENITH_FN __m512i reduced(const Of& of, unsigned first) {
  if constexpr (Level == 0) {
    return of(first);
  } else {
    const __m512i a = reduced<By, Level - 1>(of, first);
    const __m512i b = reduced<By, Level - 1>(of, first + (1U << (Level - 1)));
    if constexpr (Level == 1) return merged<By>(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    if constexpr (Level == 2) return merged<By>(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    return merged<By>(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
  }
}

/// The words of a group before references are subtracted: its values.
struct group_values {
  const std::uint32_t* from;

  ZENITH_FN __m512i operator()(unsigned block, unsigned i) const {
    return _mm512_loadu_si512(from + block * packed_block_items + i * 16);
  }
  template <unsigned First, unsigned Count>
  ZENITH_FN void ask_ahead(unsigned block) const {
    ask_for_next_group<First, Count>(from, block);
  }
  ZENITH_FN static void clear_first(__m512i&) {}
};

/// The same of a delta column: the differences to the value before. The first of a block is the second's, so that it
/// changes no minimum, and 0 afterwards.
struct group_steps : group_values {
  ZENITH_FN __m512i operator()(unsigned block, unsigned i) const {
    const std::uint32_t* at = from + block * packed_block_items + i * 16;
    const __m512i values = _mm512_loadu_si512(at);
    if (i > 0) return _mm512_sub_epi32(values, _mm512_loadu_si512(at - 1));
    const __m512i own = _mm512_setr_epi32(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i before = _mm512_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    return _mm512_sub_epi32(_mm512_permutexvar_epi32(own, values), _mm512_permutexvar_epi32(before, values));
  }
  ZENITH_FN static void clear_first(__m512i& words) { words = _mm512_maskz_mov_epi32(0xfffe, words); }
};

/// The whole shape of a group, all blocks' references at once, then all miniblocks' widths: what is reduced lane by
/// lane in a block's own registers is a chain of sixteen dependent instructions, four times a block.
template <merge_by Order, class Words>
ZENITH_FN void measure_group(const Words& words, packed_group_shape& to) {
  const __m512i reference = reduced<Order, 4>(
      [&](unsigned block) ZENITH_INLINE_LAMBDA {
        __m512i least = words(block, 0);
#pragma GCC unroll 7
        for (unsigned i = 1; i < 8; ++i) least = merged<Order>(least, words(block, i));
        return least;
      },
      0);
  alignas(64) std::uint32_t references[packed_group_blocks];
  _mm512_store_si512(references, reference);
  _mm512_storeu_si512(to.reference, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(reference)));
  _mm512_storeu_si512(to.reference + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(reference, 1)));

  constexpr unsigned minis = packed_group_blocks * packed_miniblocks;
  const auto word = [&](unsigned mini, unsigned i) ZENITH_INLINE_LAMBDA {
    const unsigned block = mini / packed_miniblocks;
    __m512i one = _mm512_sub_epi32(words(block, mini % packed_miniblocks * 2 + i),
                                   _mm512_set1_epi32(static_cast<int>(references[block])));
    if (i == 0 && mini % packed_miniblocks == 0) words.clear_first(one);
    return one;
  };
  const __m512i two = _mm512_set1_epi32(first_less<std::uint32_t>);
  const __m512i one = _mm512_set1_epi32(1);
  __m512i total = _mm512_setzero_si512();
  alignas(64) std::uint32_t most[minis];  // the largest word of so many bits less
#pragma GCC unroll 1
  for (unsigned first = 0; first < minis; first += 16) {
    const __m512i bits = reduced<merge_by::any_bit, 4>(
        [&](unsigned mini) ZENITH_INLINE_LAMBDA {
          if (mini % packed_miniblocks == 0) words.template ask_ahead<0, 2>(mini / packed_miniblocks);
          return _mm512_or_si512(word(mini, 0), word(mini, 1));
        },
        first);
    const __m512i width = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(bits));
    total = _mm512_add_epi32(total, width);
    const __m512i less = _mm512_sub_epi32(_mm512_max_epu32(width, two), two);
    _mm512_store_si512(most + first, _mm512_sub_epi32(_mm512_sllv_epi32(one, less), one));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to.width[first / packed_miniblocks]), _mm512_cvtepi32_epi8(width));
  }
  to.words = static_cast<std::uint32_t>(_mm512_reduce_add_epi32(total));
  to.patched_words = to.words;
  to.patches = 0;

  // With p words longer than the width less two bits, no fewer than 40 p / 32 + 1 bits less can gain: mostly more than
  // there are.
  alignas(64) std::uint8_t outside[minis];
#pragma GCC unroll 1
  for (unsigned block = 0; block < packed_group_blocks; ++block) {
    words.template ask_ahead<2, 2>(block);
#pragma GCC unroll 4
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const unsigned mini = block * packed_miniblocks + m;
      const __m512i limit = _mm512_set1_epi32(static_cast<int>(most[mini]));
      const unsigned low = _mm512_cmpgt_epu32_mask(word(mini, 0), limit);
      const unsigned high = _mm512_cmpgt_epu32_mask(word(mini, 1), limit);
      outside[mini] = static_cast<std::uint8_t>(__builtin_popcount(low | high << 16));
    }
  }
  static_assert(patch_bits<std::uint32_t> * 4 == packed_miniblock_items * 5);
  const __m512i width = _mm512_loadu_si512(to.width);
  _mm512_storeu_si512(to.patched_width, width);
  const __m512i p = _mm512_load_si512(outside);
  const __m512i p2 = _mm512_add_epi8(p, p);
  const __m512i width2 = _mm512_add_epi8(width, width);
  std::uint64_t can_gain =
      _mm512_cmplt_epu8_mask(_mm512_add_epi8(_mm512_add_epi8(p2, p2), p), _mm512_add_epi8(width2, width2));
  for (; can_gain != 0; can_gain &= can_gain - 1) {
    const auto mini = static_cast<unsigned>(__builtin_ctzll(can_gain));
    const vector_of<std::uint32_t> both[2] = {word(mini, 0), word(mini, 1)};
    const auto shape = patched_shape<std::uint32_t>(both, to.width[mini / packed_miniblocks][mini % packed_miniblocks]);
    to.patched_width[mini / packed_miniblocks][mini % packed_miniblocks] =
        static_cast<std::uint8_t>(shape.patched_width);
    to.patched_words -= shape.width - shape.patched_width;
    to.patches += shape.patches;
  }
}

#endif

template <class T>
void measure_frames(const void* values, packed_group_shape* to) {
  using U = std::make_unsigned_t<T>;
  const U* from = static_cast<const U*>(values);
#if defined(ZENITH_ISA_AVX512)
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
#if defined(ZENITH_ISA_AVX512)
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

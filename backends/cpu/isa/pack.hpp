// Packing whole groups of 2048 values by frame of reference or delta: the bytes that
// algorithms/packed_column/encode.hpp specifies. Included by a unit that is compiled for one instruction set, inside
// its namespace.
//
// A group is measured before anybody knows where its bytes will stand, and written afterwards from its values, best
// while they are still in the L1 cache: measuring leaves references and widths behind.

template <class U>
inline constexpr unsigned block_vectors = packed_block_items / vector_of<U>::size;
template <class U>
inline constexpr unsigned mini_vectors = packed_miniblock_items / vector_of<U>::size;

template <class U>
struct block_of_vectors {
  vector_of<U> v[block_vectors<U>];
};

/// Asks for a quarter of the block that stands where `block` does, in the group behind this one. Packing goes over a
/// group several times; each time asks for a quarter, so that memory is never idle.
template <class U>
ZENITH_FN void ask_for_next_group(const U* block, unsigned quarter) {
  constexpr unsigned bytes = packed_block_items * sizeof(U) / 4;
  const auto first = reinterpret_cast<std::uintptr_t>(block) + packed_group_items * sizeof(U) + quarter * bytes;
#pragma GCC unroll 4
  for (unsigned at = 0; at < bytes; at += 64) _mm_prefetch(reinterpret_cast<const char*>(first + at), _MM_HINT_T0);
}

template <class U>
ZENITH_FN void subtract(block_of_vectors<U>& from, U what) {
  for (unsigned i = 0; i < block_vectors<U>; ++i) from.v[i] -= vector_of<U>(what);
}

template <class U>
ZENITH_FN block_of_vectors<U> values_of(const U* from) {
  block_of_vectors<U> block;
  for (unsigned i = 0; i < block_vectors<U>; ++i) {
    if (i * sizeof(vector_of<U>) % 64 == 0) prefetch_ahead(from + i * vector_of<U>::size);
    block.v[i] = vector_of<U>::load_unaligned(from + i * vector_of<U>::size);
  }
  return block;
}

/// Differences to the value before; the first is the second's, so that it changes no minimum.
template <class U>
ZENITH_FN block_of_vectors<U> steps_of(const U* from) {
  constexpr unsigned lanes = vector_of<U>::size;
  U before[lanes];
  before[0] = static_cast<U>(from[0] - (from[1] - from[0]));
  for (unsigned i = 1; i < lanes; ++i) before[i] = from[i - 1];
  auto block = values_of(from);
  block.v[0] -= vector_of<U>::load_unaligned(before);
  for (unsigned i = 1; i < block_vectors<U>; ++i) block.v[i] -= vector_of<U>::load_unaligned(from + i * lanes - 1);
  return block;
}

/// The first word of a delta block is 0: its base stands for it.
template <class U>
ZENITH_FN void clear_first(vector_of<U>& words) {
  U keep[vector_of<U>::size];
  for (unsigned i = 0; i < vector_of<U>::size; ++i) keep[i] = i == 0 ? U{0} : static_cast<U>(~U{0});
  words = words & vector_of<U>::load_unaligned(keep);
}

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

struct frame_of_values {
  const std::uint32_t* from;

  ZENITH_FN __m512i operator()(unsigned block, unsigned i) const {
    return _mm512_loadu_si512(from + block * packed_block_items + i * 16);
  }
  ZENITH_FN void ask_ahead(unsigned block, unsigned quarter) const {
    ask_for_next_group(from + block * packed_block_items, quarter);
  }
  ZENITH_FN static void clear_first(__m512i&) {}
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
          if (mini % packed_miniblocks == 0) words.ask_ahead(mini / packed_miniblocks, 0);
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
    words.ask_ahead(block, 1);
    words.ask_ahead(block, 2);
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
    return measure_group < std::is_signed_v<T> ? merge_by::least_signed
                                               : merge_by::least > (frame_of_values{from}, *to);
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

/// Appends units of bits to each other. The bits behind the last are 0.
class bit_writer {
 public:
  ZENITH_FN explicit bit_writer(std::byte* to) : to_(to) {}

  /// `bits` <= 64; the unit has no others.
  ZENITH_FN void append(std::uint64_t unit, unsigned bits) {
    word_ |= unit << filled_;
    __builtin_memcpy(to_, &word_, sizeof word_);
    const unsigned end = filled_ + bits;
    const bool full = end >= 64;
    word_ = full ? (unit >> 1) >> (63 - filled_) : word_;
    to_ += full ? 8 : 0;
    filled_ = end % 64;
  }
  ZENITH_FN void finish() const { __builtin_memcpy(to_, &word_, sizeof word_); }

 private:
  std::byte* to_;
  std::uint64_t word_ = 0;
  unsigned filled_ = 0;
};

/// The 32 words of a miniblock in `width` bits each; may write up to 64 bytes more.
template <class U>
ZENITH_FN void write_bits(const vector_of<U>* words, unsigned width, std::byte* to) {
  U unpacked[packed_miniblock_items];
  for (unsigned i = 0; i < mini_vectors<U>; ++i) words[i].store_unaligned(unpacked + i * vector_of<U>::size);
  bit_writer bits(to);
  if constexpr (sizeof(U) == 8) {
    for (const U value : unpacked) bits.append(value, width);
  } else {
    for (unsigned i = 0; i < packed_miniblock_items; i += 2) {
      bits.append(unpacked[i] | std::uint64_t{unpacked[i + 1]} << width, 2 * width);
    }
  }
  bits.finish();
}

#if defined(ZENITH_ISA_AVX512VBMI)

// Where the bytes of four words together stand that lie in one 128-bit lane. An odd width leaves the second and fourth
// four to begin at half a byte, in the last byte of those before.
struct alignas(128) place_code {
  std::uint8_t even[64];
  std::uint8_t odd[64];
};
struct place_table {
  place_code of[33];
  std::uint64_t even_bytes[33];  ///< a bit for each byte that there is
  std::uint64_t odd_bytes[33];
};
constexpr place_table make_places() {
  place_table made{};
  for (unsigned width = 0; width <= 32; ++width) {
    for (unsigned four = 0; four < 4; ++four) {
      const unsigned first = four * 4 * width / 8;
      const unsigned bytes = (four * 4 * width % 8 + 4 * width + 7) / 8;
      for (unsigned byte = 0; byte < bytes; ++byte) {
        auto& code = four % 2 == 0 ? made.of[width].even : made.of[width].odd;
        auto& mask = four % 2 == 0 ? made.even_bytes[width] : made.odd_bytes[width];
        code[first + byte] = static_cast<std::uint8_t>(four * 16 + byte);
        mask |= std::uint64_t{1} << (first + byte);
      }
    }
  }
  return made;
}
constexpr place_table places = make_places();

/// Sixteen words in 2 * width bytes, zeros behind them.
ZENITH_FN __m512i in_bits(__m512i words, unsigned width) {
  // two words in 64 bits
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(masks<std::uint32_t>.of[width]));
  const __m512i shifted = _mm512_srl_epi64(words, _mm_cvtsi32_si128(static_cast<int>(32 - width)));
  const __m512i twos = _mm512_ternarylogic_epi64(low, words, shifted, 0xca);
  // four in 128: the upper two, rotated, are what follows the lower two and, above it, what is left
  const auto mask = static_cast<long long>(masks<std::uint64_t>.of[2 * width]);
  const __m512i from_rotated = _mm512_mask_set1_epi64(_mm512_set1_epi64(~mask), 0xaa, mask);
  const __m512i rotated = _mm512_rolv_epi64(_mm512_unpackhi_epi64(twos, twos), _mm512_set1_epi64(2LL * width));
  __m512i fours = _mm512_ternarylogic_epi64(from_rotated, rotated, twos, 0xca);
  if (width % 2 == 0) {
    const auto all = places.even_bytes[width] | places.odd_bytes[width];
    const __m512i index =
        _mm512_or_si512(_mm512_load_si512(places.of[width].even), _mm512_load_si512(places.of[width].odd));
    return _mm512_maskz_permutexvar_epi8(all, index, fours);
  }
  // the second and fourth four begin at half a byte
  const __m512i carried = _mm512_maskz_srli_epi64(0xcc & 0xaa, _mm512_unpacklo_epi64(fours, fours), 60);
  fours = _mm512_or_si512(_mm512_mask_slli_epi64(fours, 0xcc, fours, 4), carried);
  return _mm512_or_si512(
      _mm512_maskz_permutexvar_epi8(places.even_bytes[width], _mm512_load_si512(places.of[width].even), fours),
      _mm512_maskz_permutexvar_epi8(places.odd_bytes[width], _mm512_load_si512(places.of[width].odd), fours));
}

// Widths of which two words, shifted to where they begin in a byte, stay in 64 bits, and of which no byte has bits of
// three such pairs: every other pair is placed by one permutation, the pairs between by another, and the bytes that two
// share come together in the end.
constexpr unsigned first_paired = 4;
constexpr unsigned last_paired = 29;
struct alignas(64) pair_code {
  std::uint8_t even[64];
  std::uint8_t odd[64];
  std::uint64_t shift[8];
  std::uint64_t even_bytes;  ///< a bit for each byte that there is
  std::uint64_t odd_bytes;
};
struct pair_table {
  pair_code of[last_paired + 1];
};
constexpr pair_table make_pairs() {
  pair_table made{};
  for (unsigned width = first_paired; width <= last_paired; ++width) {
    auto& code = made.of[width];
    for (unsigned pair = 0; pair < 8; ++pair) {
      const unsigned bit = pair * 2 * width;
      code.shift[pair] = bit % 8;
      for (unsigned byte = 0; byte < (bit % 8 + 2 * width + 7) / 8; ++byte) {
        (pair % 2 == 0 ? code.even : code.odd)[bit / 8 + byte] = static_cast<std::uint8_t>(pair * 8 + byte);
        (pair % 2 == 0 ? code.even_bytes : code.odd_bytes) |= std::uint64_t{1} << (bit / 8 + byte);
      }
    }
  }
  return made;
}
constexpr pair_table pairs = make_pairs();

ZENITH_FN void write_words(const vector_of<std::uint32_t>* words, unsigned width, std::byte* to) {
  if (width < first_paired || width > last_paired) [[unlikely]] {
    _mm512_storeu_si512(to, in_bits(words[0], width));
    _mm512_storeu_si512(to + 2 * width, in_bits(words[1], width));
    return;
  }
  const auto& code = pairs.of[width];
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(masks<std::uint32_t>.of[width]));
  const __m128i down = _mm_cvtsi32_si128(static_cast<int>(32 - width));
  const __m512i shift = _mm512_load_si512(code.shift);
  const __m512i even = _mm512_load_si512(code.even);
  const __m512i odd = _mm512_load_si512(code.odd);
  for (unsigned i = 0; i < 2; ++i) {
    const __m512i twos = _mm512_ternarylogic_epi64(low, words[i], _mm512_srl_epi64(words[i], down), 0xca);
    const __m512i placed = _mm512_sllv_epi64(twos, shift);
    _mm512_storeu_si512(to + i * 2 * width,
                        _mm512_or_si512(_mm512_maskz_permutexvar_epi8(code.even_bytes, even, placed),
                                        _mm512_maskz_permutexvar_epi8(code.odd_bytes, odd, placed)));
  }
}
ZENITH_FN void write_words(const vector_of<std::uint64_t>* words, unsigned width, std::byte* to) {
  write_bits<std::uint64_t>(words, width, to);
}

#else

template <class Batch>
ZENITH_FN void write_words(const Batch* words, unsigned width, std::byte* to) {
  write_bits<typename Batch::value_type>(words, width, to);
}

#endif

/// Moves the words of a miniblock that are longer than `width` to the patches.
template <class U>
ZENITH_FN void take_patches(vector_of<U>* words, unsigned width, unsigned first, const packed_layout& to,
                            std::byte* out, std::uint64_t& patch) {
  if (longer_than<U>(words, width) == 0) return;
  U unpacked[packed_miniblock_items];
  for (unsigned i = 0; i < mini_vectors<U>; ++i) words[i].store_unaligned(unpacked + i * vector_of<U>::size);
  for (unsigned i = 0; i < packed_miniblock_items; ++i) {
    if (unpacked[i] <= masks<U>.of[width]) continue;
    out[to.patch_positions_at + patch] = static_cast<std::byte>(first + i);
    __builtin_memcpy(out + to.patch_values_at + patch * sizeof(U), &unpacked[i], sizeof(U));
    unpacked[i] = 0;
    ++patch;
  }
  for (unsigned i = 0; i < mini_vectors<U>; ++i) {
    words[i] = vector_of<U>::load_unaligned(unpacked + i * vector_of<U>::size);
  }
}

#if defined(ZENITH_ISA_AVX512)
using row_part = __m512i;
ZENITH_FN row_part add_lanes(row_part a, row_part b) { return _mm512_add_epi64(a, b); }
ZENITH_FN void store_past_caches(std::byte* to, row_part part) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), part);
}
#elif defined(ZENITH_ISA_AVX2)
using row_part = __m256i;
ZENITH_FN row_part add_lanes(row_part a, row_part b) { return _mm256_add_epi64(a, b); }
ZENITH_FN void store_past_caches(std::byte* to, row_part part) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), part);
}
#else
using row_part = __m128i;
ZENITH_FN row_part add_lanes(row_part a, row_part b) { return _mm_add_epi64(a, b); }
ZENITH_FN void store_past_caches(std::byte* to, row_part part) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), part);
}
#endif
inline constexpr unsigned row_bytes = 64;
inline constexpr unsigned row_parts = row_bytes / sizeof(row_part);

/// Stores the whole rows of the buffer.
template <bool PastCaches>
ZENITH_FN void store_rows(packed_rows& of) {
  const unsigned rows = of.held / row_bytes;
  if (rows == 0) return;
  row_part sum[row_parts];
  row_part weighted[row_parts];
  __builtin_memcpy(sum, of.sum, sizeof sum);
  __builtin_memcpy(weighted, of.weighted, sizeof weighted);
  const std::byte* from = of.buffer;
  std::byte* to = of.row;
  const auto take = [&](row_part* part) ZENITH_INLINE_LAMBDA {
    __builtin_memcpy(part, from, row_bytes);
    for (unsigned i = 0; i < row_parts; ++i) {
      sum[i] = add_lanes(sum[i], part[i]);
      weighted[i] = add_lanes(weighted[i], sum[i]);
    }
  };
  row_part part[row_parts];
  unsigned row = 0;
  if (of.skipped > 0) {
    take(part);
    __builtin_memcpy(to + of.skipped, from + of.skipped, row_bytes - of.skipped);
    of.skipped = 0;
    row = 1;
    from += row_bytes;
    to += row_bytes;
  }
  for (; row < rows; ++row, from += row_bytes, to += row_bytes) {
    take(part);
    if constexpr (PastCaches) {
      for (unsigned i = 0; i < row_parts; ++i) store_past_caches(to + i * sizeof(row_part), part[i]);
    } else {
      __builtin_memcpy(to, part, sizeof part);
    }
  }
  __builtin_memcpy(of.sum, sum, sizeof sum);
  __builtin_memcpy(of.weighted, weighted, sizeof weighted);
  of.row = to;
  of.rows += rows;
  of.held %= row_bytes;
  __builtin_memcpy(of.buffer, from, row_bytes);
}
ZENITH_FN void store_rows(packed_rows& of) { of.past_caches ? store_rows<true>(of) : store_rows<false>(of); }

void finish_rows(packed_rows& of) {
  if (of.held > of.skipped) {
    // the last row, of which the rest is another's
    std::byte row[row_bytes] = {};
    __builtin_memcpy(row, of.buffer, of.held);
    __builtin_memcpy(of.row + of.skipped, row + of.skipped, of.held - of.skipped);
    for (unsigned lane = 0; lane < 8; ++lane) {
      std::uint64_t word;
      __builtin_memcpy(&word, row + lane * 8, sizeof word);
      of.sum[lane] += word;
      of.weighted[lane] += of.sum[lane];
    }
    ++of.rows;
  }
  of.held = of.skipped = 0;
  if (of.past_caches) _mm_sfence();
}

/// What a group's record, bases and patches say, and its words.
template <class U, bool IsDelta, bool Patched>
ZENITH_FN void write_group_as(const packed_group_write& asked) {
  const packed_layout& to = *asked.to;
  const packed_group_shape& shape = *asked.shape;
  const U* from = static_cast<const U*>(asked.values);
  std::byte* const out = asked.out;
  std::byte* const record = out + to.groups_at + asked.group * packed::group_bytes<U>;
  std::uint64_t patch = asked.patch;
  // a group's payload comes together in the L1 cache: what is written too far belongs to nobody
  std::byte* const payload = asked.rows->buffer + asked.rows->held;
  std::byte* at = payload;
  std::uint64_t start = asked.payload;
#pragma GCC unroll 1
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot, from += packed_block_items) {
    const auto offset = static_cast<std::uint32_t>(at - payload) / 4;
    const auto reference = static_cast<U>(shape.reference[slot]);
    const auto& width = Patched ? shape.patched_width[slot] : shape.width[slot];
    const std::uint64_t patch_before = patch;
    if constexpr (IsDelta || Patched) {
      auto words = IsDelta ? steps_of(from) : values_of(from);
      subtract(words, reference);
      if (IsDelta) {
        clear_first<U>(words.v[0]);
        const U base = static_cast<U>(from[0] - reference);
        __builtin_memcpy(out + to.bases_at + (asked.group * packed_group_blocks + slot) * sizeof(U), &base,
                         sizeof base);
      }
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        auto* mini = words.v + m * mini_vectors<U>;
        if (Patched) take_patches<U>(mini, width[m], m * packed_miniblock_items, to, out, patch);
        write_words(mini, width[m], at);
        at += width[m] * 4U;
      }
    } else {
      const vector_of<U> less(reference);
#pragma GCC unroll 1
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        vector_of<U> words[mini_vectors<U>];
        for (unsigned i = 0; i < mini_vectors<U>; ++i) {
          words[i] = vector_of<U>::load_unaligned(from + m * packed_miniblock_items + i * vector_of<U>::size) - less;
        }
        write_words(words, width[m], at);
        at += width[m] * 4U;
      }
      ask_for_next_group(from, 3);
    }
    if (Patched) {
      std::byte* const index = out + to.patch_index_at + asked.group * packed::patch_index_bytes;
      if (slot == 0) __builtin_memcpy(index, &patch_before, sizeof patch_before);
      index[8 + slot] = static_cast<std::byte>(patch - patch_before);
    }
    __builtin_memcpy(record + 8 + slot * sizeof(U), &reference, sizeof reference);
    if constexpr (sizeof(U) == 4) {
      const std::uint32_t fields = width[0] | width[1] << 6 | width[2] << 12 | width[3] << 18;
      __builtin_memcpy(record + 72 + slot * 3, &fields, 3);
      if (slot == 8) start |= std::uint64_t{offset} << packed::start_bits;
    } else {
      const auto short_offset = static_cast<std::uint16_t>(offset);
      __builtin_memcpy(record + 136 + slot * 4, width, 4);
      __builtin_memcpy(record + 200 + slot * 2, &short_offset, 2);
    }
  }
  __builtin_memcpy(record, &start, sizeof start);
  asked.rows->held += static_cast<std::uint32_t>(at - payload);
  store_rows(*asked.rows);
}

template <class U>
void write_group(const packed_group_write& asked) {
  const bool patched = asked.to->patches > 0;
  if (asked.to->kind == encoding::delta) {
    patched ? write_group_as<U, true, true>(asked) : write_group_as<U, true, false>(asked);
  } else {
    patched ? write_group_as<U, false, true>(asked) : write_group_as<U, false, false>(asked);
  }
}

// unpacker<U, Wide>: the words of miniblocks of one width, a register at a time. Included by a unit that is compiled
// for one instruction set, inside its namespace; SSE2 has none, because it can neither shuffle bytes nor shift each
// lane by its own count.
//
// A register's values begin at a byte, or for four of them at half a byte. A permutation brings to each lane the bytes
// that hold its value, then come a shift and a mask. Which bytes and how far follows from the width alone: tables.
// Values that, shifted, still end within a lane are narrow; the others take two permutations, of whole words.

/// The widest word that lies within one lane wherever in its first byte it begins.
template <class U>
inline constexpr unsigned narrow_bits = word_bits<U> - 7;

#if !defined(ZENITH_ISA_SSE2)

template <class U>
inline constexpr unsigned lanes = vector_of<U>::size;

template <class U>
using lane_reg = typename vector_of<U>::register_type;

/// Where a register's values stand in what was loaded for them. A power of two long, so that its address is a shift.
template <class U>
struct alignas(512) width_code {
  std::uint32_t words[sizeof(U) / 4 * lanes<U>];  ///< narrow: the source of each word, in which bytes are found
  std::uint8_t bytes[sizeof(U) * lanes<U>];       ///< narrow: the source of each byte
  U narrow_shift[lanes<U>];
  std::uint32_t low[sizeof(U) / 4 * lanes<U>];  ///< wide: the source of each 32-bit word
  std::uint32_t high[sizeof(U) / 4 * lanes<U>];
  U low_shift[lanes<U>];
  U high_shift[lanes<U>];
  U mask;
};

// A register of four values begins at half a byte behind an odd number of odd widths.
template <class U>
inline constexpr unsigned phases = lanes<U> == 4 ? 2 : 1;

template <class U>
struct code_table {
  width_code<U> of[word_bits<U> + 1][phases<U>];
};

template <class U>
constexpr code_table<U> make_codes() {
  constexpr unsigned loaded = sizeof(lane_reg<U>);
  code_table<U> made{};
  for (unsigned width = 0; width <= word_bits<U>; ++width) {
    for (unsigned phase = 0; phase < phases<U>; ++phase) {
      auto& code = made.of[width][phase];
      code.mask = masks<U>.of[width];
      for (unsigned lane = 0; lane < lanes<U>; ++lane) {
        const unsigned bit = lane * width + (phases<U> == 2 ? phase * width * lanes<U> % 8 : 0);
        code.narrow_shift[lane] = bit % 8;
        for (unsigned byte = 0; byte < sizeof(U); ++byte) {
          unsigned from = bit / 8 + byte;
#if !defined(ZENITH_ISA_AVX512VBMI)
          // bytes are taken from 128 bits, which begin with the word where the first of their values begins
          constexpr unsigned quarter = 16 / sizeof(U);
          from -= lane / quarter * quarter * width / 32 * 4;
          from = from < 16 ? from : 15;
#endif
          code.bytes[lane * sizeof(U) + byte] = static_cast<std::uint8_t>(from < loaded ? from : loaded - 1);
        }
        // a word that is not there is not needed: its bits are masked away
        const auto word = [](unsigned index) { return index < loaded / 4 ? index : loaded / 4 - 1; };
        if constexpr (sizeof(U) == 4) {
          code.words[lane] = word(lane / 4 * 4 * width / 32 + lane % 4);
          code.low[lane] = word(bit / 32);
          code.high[lane] = word(bit / 32 + 1);
          code.low_shift[lane] = bit % 32;
          code.high_shift[lane] = 32 - bit % 32;
        } else {
          code.low[2 * lane] = word(bit / 32);
          code.low[2 * lane + 1] = word(bit / 32 + 1);
          code.high[2 * lane] = word(bit / 32 + 2);
          code.high[2 * lane + 1] = word(bit / 32 + 2);
          code.low_shift[lane] = bit % 32;
          code.high_shift[lane] = 64 - bit % 32;
        }
      }
    }
  }
  return made;
}

template <class U>
constexpr code_table<U> codes = make_codes<U>();

#if defined(ZENITH_ISA_AVX512)

ZENITH_FN __m512i load_bits(const void* from) { return _mm512_loadu_si512(from); }
ZENITH_FN void store_bits(void* to, __m512i bits) { _mm512_storeu_si512(to, bits); }

template <class U>
ZENITH_FN __m512i shift_right(__m512i bits, __m512i by) {
  return sizeof(U) == 4 ? _mm512_srlv_epi32(bits, by) : _mm512_srlv_epi64(bits, by);
}
template <class U>
ZENITH_FN __m512i shift_left(__m512i bits, __m512i by) {
  return sizeof(U) == 4 ? _mm512_sllv_epi32(bits, by) : _mm512_sllv_epi64(bits, by);
}
ZENITH_FN __m512i all_of(__m512i bits, __m512i mask) { return _mm512_and_si512(bits, mask); }
ZENITH_FN __m512i any_of(__m512i a, __m512i b) { return _mm512_or_si512(a, b); }
/// (a | b) & mask
ZENITH_FN __m512i joined(__m512i a, __m512i b, __m512i mask) { return _mm512_ternarylogic_epi32(a, b, mask, 0xa8); }
ZENITH_FN __m512i words_of(__m512i bits, __m512i index) { return _mm512_permutexvar_epi32(index, bits); }
template <class U>
ZENITH_FN __m512i every_lane(const U& word) {
  return sizeof(U) == 4 ? _mm512_set1_epi32(static_cast<int>(word)) : _mm512_set1_epi64(static_cast<long long>(word));
}

#else

ZENITH_FN __m256i load_bits(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
ZENITH_FN void store_bits(void* to, __m256i bits) { _mm256_storeu_si256(static_cast<__m256i*>(to), bits); }

template <class U>
ZENITH_FN __m256i shift_right(__m256i bits, __m256i by) {
  return sizeof(U) == 4 ? _mm256_srlv_epi32(bits, by) : _mm256_srlv_epi64(bits, by);
}
template <class U>
ZENITH_FN __m256i shift_left(__m256i bits, __m256i by) {
  return sizeof(U) == 4 ? _mm256_sllv_epi32(bits, by) : _mm256_sllv_epi64(bits, by);
}
ZENITH_FN __m256i all_of(__m256i bits, __m256i mask) { return _mm256_and_si256(bits, mask); }
ZENITH_FN __m256i any_of(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }
ZENITH_FN __m256i joined(__m256i a, __m256i b, __m256i mask) { return all_of(any_of(a, b), mask); }
ZENITH_FN __m256i words_of(__m256i bits, __m256i index) { return _mm256_permutevar8x32_epi32(bits, index); }
template <class U>
ZENITH_FN __m256i every_lane(const U& word) {
  return sizeof(U) == 4 ? _mm256_set1_epi32(static_cast<int>(word)) : _mm256_set1_epi64x(static_cast<long long>(word));
}

#endif

#if defined(ZENITH_ISA_AVX512VBMI)
ZENITH_FN __m512i placed(__m512i bits, __m512i bytes, __m512i) { return _mm512_permutexvar_epi8(bytes, bits); }
#elif defined(ZENITH_ISA_AVX512)
ZENITH_FN __m512i placed(__m512i bits, __m512i bytes, __m512i words) {
  return _mm512_shuffle_epi8(words_of(bits, words), bytes);
}
#else
/// One load and a permutation of its words are faster than a load for each half.
ZENITH_FN __m256i placed(__m256i bits, __m256i bytes, __m256i words) {
  return _mm256_shuffle_epi8(words_of(bits, words), bytes);
}
#endif

/// Words that begin in the lanes of `low` and end in those of `high`.
template <class U, class Register>
ZENITH_FN Register spanned(Register low, Register high, Register low_shift, [[maybe_unused]] Register high_shift,
                           Register mask) {
#if defined(ZENITH_ISA_AVX512VBMI)
  return all_of(sizeof(U) == 4 ? _mm512_shrdv_epi32(low, high, low_shift) : _mm512_shrdv_epi64(low, high, low_shift),
                mask);
#else
  return joined(shift_right<U>(low, low_shift), shift_left<U>(high, high_shift), mask);
#endif
}

/// Whether narrow words have a faster way here.
#if defined(ZENITH_ISA_AVX512VBMI)
template <class U>
inline constexpr bool has_narrow = true;
#else
template <class U>
inline constexpr bool has_narrow = sizeof(U) == 4;
#endif

/// Of a block.
ZENITH_FN std::uint32_t payload_bytes(const std::uint8_t* width) {
  return 4U * (unsigned{width[0]} + width[1] + width[2] + width[3]);
}

/// Of one width: what it takes to unpack stays in registers from miniblock to miniblock.
template <class U, bool Wide>
class unpacker {
 public:
  using batch = vector_of<U>;
  using reg = lane_reg<U>;

  ZENITH_FN explicit unpacker(std::uint64_t width) : width_(width) {
    const auto& code = codes<U>.of[width];
    mask_ = every_lane(code[0].mask);
    for (unsigned phase = 0; phase < phases<U>; ++phase) {
      if constexpr (by_words) {
        low_[phase] = load_bits(code[phase].low);
        high_[phase] = load_bits(code[phase].high);
        low_shift_[phase] = load_bits(code[phase].low_shift);
        high_shift_[phase] = load_bits(code[phase].high_shift);
      } else {
        low_[phase] = load_bits(code[phase].bytes);
        high_[phase] = load_bits(code[phase].words);
        low_shift_[phase] = load_bits(code[phase].narrow_shift);
      }
    }
  }

  /// Values [vector * lanes, (vector + 1) * lanes) of the miniblock at `words`.
  ZENITH_FN batch operator()(const std::byte* words, unsigned vector) const {
    const std::byte* at = words + (lanes<U> * width_ * vector) / 8;
    const unsigned phase = phases<U> == 2 ? vector % 2 : 0;
    if constexpr (by_words) {
      const reg bits = load_bits(at);
      return batch(spanned<U>(words_of(bits, low_[phase]), words_of(bits, high_[phase]), low_shift_[phase],
                              high_shift_[phase], mask_));
    } else {
      return batch(all_of(shift_right<U>(placed(load_bits(at), low_[phase], high_[phase]), low_shift_[phase]), mask_));
    }
  }

 private:
  static constexpr bool by_words = Wide || !has_narrow<U>;

  std::uint64_t width_;
  reg mask_;
  reg low_[phases<U>];
  reg high_[phases<U>];
  reg low_shift_[phases<U>];
  reg high_shift_[phases<U>];
};

#endif

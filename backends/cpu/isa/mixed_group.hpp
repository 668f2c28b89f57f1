// Groups whose miniblocks have different widths: each miniblock is unpacked by its own width to the bottoms of lanes of
// 16 bits, so that what comes after need not know it. Included by a unit that is compiled for one instruction set,
// inside its namespace; SSE2 has none.

#if !defined(ZENITH_ISA_SSE2)

#if defined(ZENITH_ISA_AVX512VBMI)

/// The widest words that miniblocks of different widths may have.
inline constexpr unsigned mixed_width = 16;

/// Where 32 words of one width stand: as `narrow_code`.
struct alignas(128) miniblock_code {
  std::uint8_t bytes[64];
  std::uint8_t bits[64];
};

constexpr miniblock_code make_miniblock_code(unsigned width) {
  miniblock_code made{};
  for (unsigned i = 0; i < 64; ++i) {
    // eight bytes for four words
    const unsigned first = i / 8 * 4 * width;
    const unsigned byte = first / 8 + i % 8;
    made.bytes[i] = static_cast<std::uint8_t>(byte < 64 ? byte : 63);
    made.bits[i] = static_cast<std::uint8_t>((first % 8 + i % 8 / 2 * width + i % 2 * 8) % 64);
  }
  return made;
}

/// What leaves but the words in lanes whose bottoms they are at.
constexpr std::uint32_t make_lowering(unsigned width) { return masks<std::uint32_t>.of[width] * 0x00010001U; }

#else

// longer words may lie in three bytes
inline constexpr unsigned mixed_width = 10;

using miniblock_code = narrow_code;
constexpr miniblock_code make_miniblock_code(unsigned width) { return make_narrow_code(width, 1); }

/// What a product's upper half lowers words by, from the tops of their lanes.
constexpr std::uint32_t make_lowering(unsigned width) { return 0x00010001U << width; }

#endif

struct miniblock_code_table {
  miniblock_code of[mixed_width + 1];
  std::uint32_t lowering[mixed_width + 1];  ///< of two lanes
};
constexpr miniblock_code_table make_miniblock_codes() {
  miniblock_code_table made{};
  for (unsigned width = 0; width <= mixed_width; ++width) {
    made.of[width] = make_miniblock_code(width);
    made.lowering[width] = make_lowering(width);
  }
  return made;
}
constexpr miniblock_code_table miniblock_codes = make_miniblock_codes();

/// A miniblock, and all behind it.
struct mixed_words {
  const std::byte* at;
  const std::uint8_t* width;
};

/// Of as many miniblocks as two registers of 16-bit lanes hold: two, or of 256 bits one.
class miniblock_unpacker {
 public:
  using lane = std::uint16_t;

  ZENITH_FN narrow_words<lane> take(mixed_words& from) const {
    narrow_words<lane> words;
    for (unsigned i = 0; i < 2;) {
      const std::uint64_t width = *from.width++;
      const miniblock_code& code = miniblock_codes.of[width];
      const narrow_register lowering = every_lane(miniblock_codes.lowering[width]);
      prefetch_ahead(from.at);
#if defined(ZENITH_ISA_AVX512VBMI)
      const __m512i together = _mm512_permutexvar_epi8(load_bits(code.bytes), load_bits(from.at));
      words.v[i++] = all_of(_mm512_multishift_epi64_epi8(load_bits(code.bits), together), lowering);
#elif defined(ZENITH_ISA_AVX512)
      words.v[i++] = unpacked(words_of(load_bits(from.at), load_bits(code.words)), code, lowering);
#else
      // as `narrow_unpacker` loads them
      const std::byte* halves = from.at - (16 - width);
      words.v[i++] = unpacked(load_bits(halves), code, lowering);
      words.v[i++] = unpacked(load_bits(halves + 2 * width), code, lowering);
#endif
      from.at += 4 * width;
    }
    return words;
  }

#if !defined(ZENITH_ISA_AVX512VBMI)
 private:
  ZENITH_FN static narrow_register unpacked(narrow_register bits, const miniblock_code& code,
                                            narrow_register lowering) {
    const narrow_register pairs = bytes_of(bits, load_bits(code.bytes));
    return high_products(low_products(pairs, load_bits(code.factor)), lowering);
  }
#endif
};

/// The words at the front, and moves on behind them.
ZENITH_FN auto taken(const miniblock_unpacker& unpacked, mixed_words& from) { return unpacked.take(from); }

/// 2048 words.
struct mixed_group {
  mixed_words words;
  unsigned width;       ///< that no miniblock exceeds
  std::uint64_t first;  ///< the index of its first value
};

ZENITH_FN void skip_block(const mixed_group&, mixed_words& from) {
  from.at += payload_bytes(from.width);
  from.width += packed_miniblocks;
}

template <class Lane>
ZENITH_FN unsigned bits_below(const mixed_group&) {
  return 0;
}

/// Returns use(an unpacker of the group's words).
template <class Use>
ZENITH_FN auto with_unpacker(const mixed_group&, Use&& use) {
  return use(miniblock_unpacker{});
}
template <class Use>
ZENITH_FN auto with_leading_unpacker(const mixed_group&, Use&& use) {
  return use(miniblock_unpacker{});
}

#endif

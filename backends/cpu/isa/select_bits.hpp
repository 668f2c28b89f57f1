// Which values of a group lie in a range, where its words have one or two bits: there are so few words that each is
// asked whether the block takes it, and a byte of words becomes flags by a table. Included by a unit that is compiled
// for one instruction set, inside its namespace.

#if !defined(ZENITH_ISA_SSE2)

/// A set of the words below 4 for each block: those with which its reference lies in [low, low + span], modulo the
/// word.
template <class U>
ZENITH_FN block_words<U> taken_words(const block_words<U>& references, U low, U span) {
  using batch = vector_of<U>;
  block_words<U> taken;
  for (unsigned i = 0; i < block_words<U>::vectors; ++i) {
    const batch beyond = references.load(i) - batch(low);
    batch set(U{0});
    for (U word = 0; word < 4; ++word) {
      const auto lies_there = at_most<U>(beyond + batch(word), batch(span));
      set = set | xsimd::select(lies_there, batch(static_cast<U>(U{1} << word)), batch(U{0}));
    }
    set.store_unaligned(taken.of + i * batch::size);
  }
  return taken;
}

/// Sets a bit for each word of one bit that its block takes.
template <class U>
[[gnu::noinline]] void store_taken_bits(narrow_group group, const block_words<U>& taken, std::byte* bits) {
  const std::byte* at = group.words;
  for (const U set : taken.of) {
    const std::uint64_t zeros = 0 - std::uint64_t{set & 1};
    const std::uint64_t ones = 0 - std::uint64_t{set >> 1 & 1};
    prefetch_ahead(at);
    for (unsigned i = 0; i < packed_block_items / 64; ++i, at += 8, bits += 8) {
      const auto words = packed::load<std::uint64_t>(at);
      const std::uint64_t flags = (words & ones) | (~words & zeros);
      __builtin_memcpy(bits, &flags, sizeof flags);
    }
  }
}

/// For each set of words of two bits, and any two such words, which of the two are in the set.
struct pair_flags {
  alignas(64) std::uint8_t of[16][16];
};
constexpr pair_flags make_pair_flags() {
  pair_flags made{};
  for (unsigned set = 0; set < 16; ++set) {
    for (unsigned pair = 0; pair < 16; ++pair) {
      made.of[set][pair] = static_cast<std::uint8_t>((set >> pair % 4 & 1) | (set >> pair / 4 & 1) << 1);
    }
  }
  return made;
}
constexpr pair_flags flags_of_pairs = make_pair_flags();

#if defined(ZENITH_ISA_AVX512)
/// The flags of pairs, for two blocks.
template <class U>
ZENITH_FN __m512i pair_flags_of(const U* sets) {
  const auto table = [](U set) ZENITH_INLINE_LAMBDA {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(flags_of_pairs.of[set]));
  };
  return _mm512_mask_broadcast_i32x4(_mm512_broadcast_i32x4(table(sets[0])), 0xff00, table(sets[1]));
}
ZENITH_FN __m512i upper_nibbles(__m512i of) { return _mm512_srli_epi16(of, 4); }
ZENITH_FN __m512i behind_pairs(__m512i flags) { return _mm512_slli_epi16(flags, 2); }
/// The low halves of bytes.
ZENITH_FN void store_nibbles(std::byte* to, __m512i nibbles) {
  const __m512i bytes = _mm512_maddubs_epi16(nibbles, _mm512_set1_epi16(0x1001));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(bytes));
}
#else
/// The flags of pairs, for a block.
template <class U>
ZENITH_FN __m256i pair_flags_of(const U* sets) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(flags_of_pairs.of[*sets])));
}
ZENITH_FN __m256i upper_nibbles(__m256i of) { return _mm256_srli_epi16(of, 4); }
ZENITH_FN __m256i behind_pairs(__m256i flags) { return _mm256_slli_epi16(flags, 2); }
/// The low halves of bytes.
ZENITH_FN void store_nibbles(std::byte* to, __m256i nibbles) {
  const __m256i bytes = _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x1001));
  const __m256i packed_bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(bytes, bytes), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed_bytes));
}
#endif

/// Sets a bit for each word of two bits that its block takes.
template <class U>
[[gnu::noinline]] void store_taken_pairs(narrow_group group, const block_words<U>& taken, std::byte* bits) {
  constexpr unsigned together = narrow_items * 4 / packed_block_items;  // blocks
  const narrow_register nibble = every_lane(0x0f0f0f0fU);
  const std::byte* at = group.words;
  for (unsigned slot = 0; slot < packed_group_blocks; slot += together, at += narrow_items, bits += narrow_items / 2) {
    prefetch_ahead(at);
    const narrow_register words = load_bits(at);
    const narrow_register flags = pair_flags_of(taken.of + slot);
    store_nibbles(bits, any_of(bytes_of(flags, all_of(words, nibble)),
                               bytes_of(behind_pairs(flags), all_of(upper_nibbles(words), nibble))));
  }
}

/// Whether `store_taken` has words of this width.
ZENITH_FN constexpr bool has_sets(unsigned width) { return width == 1 || width == 2; }

/// Sets a bit for each value in [low, low + span], modulo the word.
template <class U>
ZENITH_FN void store_taken(const narrow_group& group, const block_words<U>& references, U low, U span,
                           std::byte* bits) {
  const auto taken = taken_words(references, low, span);
  if (group.width == 1) return store_taken_bits(group, taken, bits);
  store_taken_pairs(group, taken, bits);
}

#endif

// Which blocks of a group have a value that reaches a threshold: not which value it is, and of long words
// nearly not, so that a block is sometimes named for nothing. Included by a unit that is compiled for one instruction
// set, inside its namespace.

#if !defined(ZENITH_ISA_SSE2)

/// What a threshold is to the blocks of a group: a bound of their words, in each 32 bits as these stand in their lanes.
struct word_bounds {
  alignas(64) std::uint32_t of[packed_group_blocks];
  block_set unreachable = 0;  ///< those none of whose words reaches it
  block_set wrapping = 0;     ///< of the smallest: those that it does not decide, as values may wrap around and be less
};

/// All are in the order of unsigned words: references and threshold biased. Words stand so far `up` in lanes of
/// `lane_bits`, less their last `unknown_bits` bits.
template <bool Smallest, class U>
[[gnu::noinline]] word_bounds bounds_of(unsigned width, unsigned lane_bits, unsigned up, unsigned unknown_bits,
                                        const block_words<U>& references, U threshold) {
  using batch = vector_of<U>;
  const batch most(masks<U>.of[width]);
  const batch bound(threshold);
  // what is not known of a word is the least there may be, or the greatest
  const batch below(Smallest ? masks<U>.of[up + unknown_bits] : U{0});
  const batch known(static_cast<U>(masks<U>.of[lane_bits] ^ masks<U>.of[up + unknown_bits]));
  word_bounds found;
  block_words<U> bounds;
  for (unsigned i = 0; i < block_words<U>::vectors; ++i) {
    const batch least = references.load(i);
    // a value that wraps around has a word beyond all others that reach a threshold from below
    if (Smallest) found.wrapping |= as_blocks<U>(i, ~at_most<U>(least, ~most));
    const auto is_below = at_most<U>(least, bound);
    const batch distance = xsimd::select(is_below, bound - least, batch(U{0}));
    const auto within = at_most<U>(distance, most);
    batch words = xsimd::select(within, distance, most) << static_cast<int>(up);
    words = (words & known) | below;
    for (unsigned filled = lane_bits; filled < 32; filled *= 2) words = words | (words << static_cast<int>(filled));
    words.store_unaligned(bounds.of + i * batch::size);
    found.unreachable |= as_blocks<U>(i, Smallest ? ~is_below : ~within);
  }
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot) found.of[slot] = bounds[slot];
  return found;
}

/// Whether any word of the next 128 reaches `bound`, which is in each lane: is no less, or of the smallest no more.
template <bool Smallest, class Unpacker, class Words>
ZENITH_FN bool any_reaches(const Unpacker& unpacked, Words& words, std::uint32_t bound) {
  using Lane = typename Unpacker::lane;
  const auto better = [](narrow_register a, narrow_register b) ZENITH_INLINE_LAMBDA {
    return Smallest ? lesser_of(a, b, Lane{}) : greater_of(a, b, Lane{});
  };
  narrow_register best = every_lane(Smallest ? ~std::uint32_t{0} : std::uint32_t{0});
#pragma GCC unroll 4
  for (unsigned i = 0; i < packed_block_items; i += narrow_items) {
    const auto some = taken(unpacked, words);
    for (const auto& one : some.v) best = better(best, one);
  }
  return any_equal(better(best, every_lane(bound)), best, Lane{});
}

/// Which blocks have hope changes from block to block, and a branch would be guessed wrong: all are looked at.
template <bool Smallest, class Unpacker, class Group>
[[gnu::noinline]] block_set reaching_blocks(Unpacker unpacked, Group group, const word_bounds& bounds) {
  block_set reaching = 0;
  auto words = group.words;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
    reaching |= block_set{any_reaches<Smallest>(unpacked, words, bounds.of[slot])} << slot;
  }
  return (reaching & ~bounds.unreachable) | bounds.wrapping;
}

/// The blocks that may have a value that reaches the threshold; of the largest, every block of which a value wraps
/// around is one of them. All are in the order of unsigned words: references and threshold biased.
template <bool Smallest, class Group, class U>
ZENITH_FN block_set reaching_blocks(const Group& group, const block_words<U>& references, U threshold) {
  return with_leading_unpacker(group, [&]<class Unpacker>(const Unpacker& unpacked) ZENITH_INLINE_LAMBDA {
    using Lane = typename Unpacker::lane;
    unsigned unknown_bits = 0;
    if constexpr (requires { unpacked.unknown_bits(); }) unknown_bits = unpacked.unknown_bits();
    const auto bounds = bounds_of<Smallest>(group.width, 8 * sizeof(Lane), bits_below<Lane>(group), unknown_bits,
                                            references, threshold);
    if ((bounds.unreachable | bounds.wrapping) == all_blocks) return bounds.wrapping;
    return reaching_blocks<Smallest>(unpacked, group, bounds);
  });
}

#endif

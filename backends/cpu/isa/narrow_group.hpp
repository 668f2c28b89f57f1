// What a group whose words have narrow lanes is asked: their sum, which words lie in a range. What is asked of values
// becomes a question about words first, another one for each block, and all sixteen of them are put in a few registers.
// Functions, because a group is worth a call, and one for all consumers is soon compiled; they take copies, which no
// store of bits can change. Included by a unit that is compiled for one instruction set, inside its namespace.

#if !defined(ZENITH_ISA_SSE2)

/// The sum of the group's words, in lanes of 64 bits.
template <class Unpacker>
[[gnu::noinline]] narrow_register sums_of(Unpacker unpacked, narrow_group group) {
  narrow_sum<typename Unpacker::lane> sum(group.width);
  const std::byte* at = group.words;
#pragma GCC unroll 4
  for (unsigned i = 0; i < packed_group_items; i += narrow_items, at += unpacked.stride()) sum.add(unpacked(at));
  return sum.total();
}

/// A word for each block of a group.
template <class U>
struct block_words {
  static constexpr unsigned vectors = packed_group_blocks / vector_of<U>::size;

  alignas(64) U of[packed_group_blocks];  // in one line: what is stored whole is loaded word by word at once

  ZENITH_FN vector_of<U> load(unsigned vector) const {
    return vector_of<U>::load_unaligned(of + vector * vector_of<U>::size);
  }
  /// Bounds of words that stand so far up in their lanes, in each 32 bits: `below` is what stands below the bound.
  template <class Lane>
  ZENITH_FN void store_in_lanes(unsigned vector, const vector_of<U>& bounds, unsigned up, std::uint32_t below) {
    constexpr bool nibbles = std::is_same_v<Lane, nibble>;
    constexpr unsigned bits = 8 * sizeof(Lane);
    const auto in_lane = [&](unsigned by) ZENITH_INLINE_LAMBDA {
      return ((bounds << static_cast<int>(by)) + vector_of<U>(below)) &
             vector_of<U>(static_cast<U>(masks<std::uint32_t>.of[bits]));
    };
    vector_of<U> words = in_lane(nibbles ? 4 : up);
    if constexpr (nibbles) words = words | (in_lane(0) << 8);
    for (unsigned filled = nibbles ? 16 : bits; filled < 32; filled *= 2) {
      words = words | (words << static_cast<int>(filled));
    }
    words.store_unaligned(of + vector * vector_of<U>::size);
  }
  ZENITH_FN std::uint32_t operator[](unsigned slot) const { return static_cast<std::uint32_t>(of[slot]); }
};

/// Stored whole, too: sixteen words that come one by one are not there yet when they are loaded together.
template <class U>
ZENITH_FN block_words<U> biased_references(const std::byte* references, U bias) {
  using batch = vector_of<U>;
  block_words<U> biased;
  for (unsigned i = 0; i < packed_group_blocks; i += batch::size) {
    batch some;
    __builtin_memcpy(&some, references + i * sizeof(U), sizeof some);
    (some ^ batch(bias)).store_unaligned(biased.of + i);
  }
  return biased;
}

template <class U, class Flags>
ZENITH_FN block_set as_blocks(unsigned vector, const Flags& flags) {
  return lane_mask(flags) << (vector * vector_of<U>::size);
}

/// A range of words that takes none of the group's, if there is one. AVX2 finds no lane that is less than the least,
/// AVX-512 no word of several widths that has the lane's top bit.
template <class U>
struct empty_words {
#if defined(ZENITH_ISA_AVX512)
  static constexpr U first = 1U << 15;
  static constexpr U span = 0;
#else
  static constexpr U first = 0;
  static constexpr U span = static_cast<U>(~U{0});
#endif

  template <class Lane, class Group>
  ZENITH_FN static bool exist_in([[maybe_unused]] const Group& group) {
#if defined(ZENITH_ISA_AVX512)
    return std::is_same_v<Group, mixed_group> && group.width < 16;
#else
    return !std::is_same_v<Lane, nibble>;
#endif
  }
};

/// What a range of values is to the blocks of a group: a range of words for each, or none of them, or all.
template <class U>
struct word_ranges {
  block_words<U> first;
  block_words<U> span;
  block_set none = 0;
  block_set all = 0;
  block_set from_least = 0;  ///< those whose range begins with the word 0

  /// Of values in [low, low + span], modulo the word.
  template <class Lane, class Group>
  ZENITH_FN static word_ranges of(const Group& group, const block_words<U>& references, U low, U span) {
    using batch = vector_of<U>;
    const unsigned up = bits_below<Lane>(group);
    const std::uint32_t below_all = masks<std::uint32_t>.of[up];
    const batch most(masks<U>.of[group.width]);
    word_ranges found;
    for (unsigned i = 0; i < block_words<U>::vectors; ++i) {
      const batch begin = batch(low) - references.load(i);
      const batch end = begin + batch(span);
      const auto begins_inside = at_most<U>(begin, most);
      batch first = xsimd::select(begins_inside, begin, batch(U{0}));
      // less than `first` where the range goes all around and has words at both ends: the lanes do so, too
      const batch last = xsimd::min(end, most);
      const auto misses = ~begins_inside & at_most<U>(begin, end);
      found.all |= as_blocks<U>(i, (first == batch(U{0})) & (last == most));
      batch beyond_first = last - first;
      if (empty_words<U>::template exist_in<Lane>(group)) {
        first = xsimd::select(misses, batch(empty_words<U>::first), first);
        beyond_first = xsimd::select(misses, batch(empty_words<U>::span), beyond_first);
      }
      found.first.template store_in_lanes<Lane>(i, first, up, narrow_range<Lane>::more_first);
      found.span.template store_in_lanes<Lane>(i, beyond_first, up, below_all + narrow_range<Lane>::more_span);
      found.none |= as_blocks<U>(i, misses);
      found.from_least |= as_blocks<U>(i, first == batch(U{0}));
    }
    if (span == static_cast<U>(~U{0})) found.all = all_blocks;
    return found;
  }
};

/// Sets a bit for each word in its block's range, and returns how many there are, or of lanes of 32 bits 0. Blocks of
/// which all or nothing lies there are not read, unless they are few: a branch that changes from block to block takes
/// longer than to read one.
template <bool FromLeast, class Unpacker, class Group, class U>
ZENITH_FN std::uint64_t store_ranges(const Unpacker& unpacked, const Group& group, const word_ranges<U>& ranges,
                                     std::byte* bits) {
  using Lane = typename Unpacker::lane;
  constexpr int few = packed_group_blocks / 2;
  const block_set full = ranges.all & ~ranges.none;
  const bool reads_empty = empty_words<U>::template exist_in<Lane>(group) && __builtin_popcount(ranges.none) <= few;
  const block_set unread = reads_empty ? full : ranges.none | ranges.all;
  std::uint64_t count = 0;
  auto words = group.words;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot, bits += packed_block_items / 8) {
    if ((unread >> slot & 1) != 0) {
      const bool takes = full >> slot & 1;
      __builtin_memset(bits, takes ? 0xff : 0, packed_block_items / 8);
      count += takes && narrow_range<Lane>::counts ? packed_block_items : 0;
      skip_block(group, words);
      continue;
    }
    const narrow_range<Lane> range(ranges.first[slot], ranges.span[slot]);
#pragma GCC unroll 4
    for (unsigned i = 0; i < packed_block_items; i += narrow_items) {
      count += range.template store_within<FromLeast>(taken(unpacked, words), bits + i / 8);
    }
  }
  return count;
}

/// Sets a bit for each value in [low, low + span], modulo the word, and returns what `store_ranges` does.
template <class Unpacker, class Group, class U>
[[gnu::noinline]] std::uint64_t store_group_within(Unpacker unpacked, Group group, const block_words<U>& references,
                                                   U low, U span, std::byte* bits) {
  const auto ranges = word_ranges<U>::template of<typename Unpacker::lane>(group, references, low, span);
#if defined(ZENITH_ISA_AVX512)
  // AVX2 has no comparison that a range of one bound would spare anything
  if (ranges.from_least == all_blocks) return store_ranges<true>(unpacked, group, ranges, bits);
#endif
  return store_ranges<false>(unpacked, group, ranges, bits);
}

#endif

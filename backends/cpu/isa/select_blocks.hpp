// select_blocks: a bit for each value of blocks, set where the value lies in a range. Included by a unit that is
// compiled for one instruction set, inside its namespace.

/// Bits of values within [low, low + span], in the order of either sign.
template <class U>
struct select_consumer {
  std::byte* bitmap;  ///< where the bit of value 0 would stand
  U low;
  U span;
  std::uint64_t counted;  ///< the bits before this value's
  std::uint64_t matches = 0;

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    compare(added(words, static_cast<U>(reference - low + bias)), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) {
    compare(added(tile, static_cast<U>(bias - low)), first);
  }

#if !defined(ZENITH_ISA_SSE2)
  template <class Group>
  ZENITH_FN block_set group(const Group& group, const std::byte* references) {
    count_to(group.first);
    if constexpr (std::is_same_v<Group, narrow_group>) {
      if (has_sets(group.width)) {
        store_taken(group, biased_references(references, U{0}), low, span, bitmap + group.first / 8);
        return 0;
      }
    }
    with_unpacker(group, [&]<class Unpacker>(const Unpacker& unpacked) ZENITH_INLINE_LAMBDA {
      const auto found =
          store_group_within(unpacked, group, biased_references(references, U{0}), low, span, bitmap + group.first / 8);
      if constexpr (narrow_range<typename Unpacker::lane>::counts) {
        matches += found;
        counted += packed_group_items;
      }
    });
    return 0;
  }
#endif

  /// Bits are counted when they have long been stored.
  ZENITH_FN void count_to(std::uint64_t end) {
    for (; counted < end; counted += 64) {
      matches += static_cast<unsigned>(__builtin_popcountll(packed::load<std::uint64_t>(bitmap + counted / 8)));
    }
  }

 private:
#if defined(ZENITH_ISA_AVX512)
  static constexpr U bias = 0;

  ZENITH_FN std::uint32_t within(const vector_of<U>& beyond) const { return lane_mask(beyond <= vector_of<U>(span)); }
#else
  // signed words compare in one instruction, unsigned ones in two or three
  static constexpr U bias = U{1} << (word_bits<U> - 1);

  ZENITH_FN std::uint32_t within(const vector_of<U>& beyond) const {
    using word = std::make_signed_t<U>;
    using batch = vector_of<word>;
    constexpr std::uint32_t all = (1U << batch::size) - 1;
    return lane_mask(same_bits<batch>(beyond) > batch(static_cast<word>(span + bias))) ^ all;
  }
#endif

  /// Of words that lie so far beyond `low`, and `bias`.
  ZENITH_FN void compare(const packed_tile<U>& beyond, std::uint64_t first) {
    constexpr unsigned lanes = vector_of<U>::size;
    std::byte* to = bitmap + first / 8;
    if constexpr (lanes == 16) {
      for (unsigned i = 0; i < tile_vectors; ++i) {
        const auto mask = static_cast<std::uint16_t>(within(beyond.v[i]));
        __builtin_memcpy(to + 2 * i, &mask, sizeof mask);
      }
    } else {
      constexpr unsigned a_byte = 8 / lanes;  // registers
      for (unsigned i = 0; i < tile_vectors; i += a_byte) {
        std::uint32_t mask = 0;
        for (unsigned j = 0; j < a_byte; ++j) mask |= within(beyond.v[i + j]) << (j * lanes);
        to[i / a_byte] = static_cast<std::byte>(mask);
      }
    }
  }
};

template <class U>
std::uint64_t select_blocks(const packed_blocks& of, std::uint64_t low, std::uint64_t high, std::uint64_t* bitmap) {
  constexpr unsigned bitmap_words = packed_block_items / 64;
  const std::uint64_t first = of.begin * packed_block_items;
  select_consumer<U> to{reinterpret_cast<std::byte*>(bitmap - of.begin * bitmap_words), static_cast<U>(low),
                        static_cast<U>(high - low), first};
  for_tiles<U>(of, to);
  to.count_to(of.end * packed_block_items);
  return to.matches;
}

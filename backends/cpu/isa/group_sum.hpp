// The sum of the words of a group, of one width or of several short ones, where no value has to be told from another.
// Included by a unit that is compiled for one instruction set, inside its namespace.

#if !defined(ZENITH_ISA_SSE2)

/// Lanes of 32 bits, added up modulo 2^32, and their upper halves in full: together these say the whole sum of up to
/// 2^16 words, in three instructions instead of the four that widen each.
class halves_sum {
 public:
  ZENITH_FN void add(narrow_register words) {
    whole_ = added_words(whole_, words, std::uint32_t{});
    high_ = added_words(high_, upper_halves(words), std::uint32_t{});
  }
  /// In lanes of 64 bits: of the lower halves, and of the upper ones.
  ZENITH_FN narrow_register low() const { return widened(less_halves(whole_, high_)); }
  ZENITH_FN narrow_register high() const { return widened(high_); }
  /// Of the lanes.
  ZENITH_FN narrow_register total() const { return added_words(low(), shifted_up(high(), 16), std::uint64_t{}); }

 private:
  ZENITH_FN static narrow_register widened(narrow_register lanes) {
    return added_words(low_halves(lanes), shifted_down(lanes, 32), std::uint64_t{});
  }

  narrow_register whole_{};
  narrow_register high_{};
};

/// Words of 16 bits, two in a lane, and of 32.
[[gnu::noinline]] narrow_register sums_of_halves(narrow_group group) {
  halves_sum sum;
  const std::byte* end = group.block(packed_group_blocks);
  for (const std::byte* at = group.words; at != end; at += 4 * sizeof(narrow_register)) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; ++i) {
      const std::byte* from = at + i * sizeof(narrow_register);
      if (i * sizeof(narrow_register) % 64 == 0) prefetch_ahead(from);
      sum.add(load_bits(from));
    }
  }
  return group.width == 16 ? added_words(sum.low(), sum.high(), std::uint64_t{}) : sum.total();
}

/// Values of 32 bits over words as long, which may wrap around: those of the block's reference and its words.
template <class U>
[[gnu::noinline]] narrow_register sums_of_values(narrow_group group, const block_words<U>& references) {
  halves_sum sum;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
    const narrow_register reference = every_lane(references[slot]);
    const std::byte* at = group.block(slot);
#pragma GCC unroll 16
    for (unsigned i = 0; i < packed_block_items * 4 / sizeof(narrow_register); ++i, at += sizeof(narrow_register)) {
      if (i * sizeof(narrow_register) % 64 == 0) prefetch_ahead(at);
      sum.add(added_words(load_bits(at), reference, std::uint32_t{}));
    }
  }
  return sum.total();
}

// Words of up to 26 bits, each brought to a lane of 32 bits, but not to its lowest bit: they add up as they lie, at any
// of its first eight bits, and the lane's others are masked away. What does not fit behind them flows into the lane
// above, where it finds as many bits as that lane's word begins behind: of two neighbours the upper is to begin early,
// and the lower may begin late.
inline constexpr unsigned least_placed_width = 11;
inline constexpr unsigned most_placed_width = 26;

/// Words that are placed together: AVX-512's byte permutation takes them from anywhere, the others from 128 bits.
#if defined(ZENITH_ISA_AVX512VBMI)
inline constexpr unsigned placed_together = 16;
#else
inline constexpr unsigned placed_together = 4;
#endif

/// AVX2: words of which four end with a byte, so that one load has them in its halves.
ZENITH_FN constexpr bool placed_in_halves(unsigned width) { return narrow_items == 32 && width % 2 == 0; }

struct alignas(128) placed_code {
  std::uint32_t words[narrow_items / 4];  ///< without VBMI: the source of each 32 bits, from which bytes are taken
  std::uint8_t bytes[narrow_items];
  std::uint32_t mask[narrow_items / 4];
  std::uint64_t low_bits[narrow_items / 8];  ///< of 64 bits, those of the lower word's sum
  std::uint64_t low_shift[narrow_items / 8];
  std::uint64_t high_shift[narrow_items / 8];
  unsigned run;  ///< how many words a lane can hold
};

constexpr placed_code make_placed_code(unsigned width) {
  placed_code made{};
  made.run = packed_group_items * 4 / narrow_items;
  for (unsigned first = 0; first < narrow_items / 4; first += placed_together) {
    const unsigned start = first * width;
    // the byte with which those begin that the words are taken from, from 16 bytes before the group on
    constexpr unsigned more = 16;
    const unsigned source = placed_in_halves(width) ? width / 2 + first * 4
                            : placed_together == 4  ? more + start / 32 * 4
                                                    : more;
    if (placed_together == 4) {
      for (unsigned i = 0; i < 4; ++i) made.words[first + i] = start / 32 + i;
    }
    // by the bit of their first byte with which they begin
    unsigned sorted[placed_together]{};
    unsigned count = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      for (unsigned i = 0; i < placed_together; ++i) {
        if ((start + i * width) % 8 == bit) sorted[count++] = first + i;
      }
    }
    for (unsigned pair = 0; pair < placed_together / 2; ++pair) {
      const unsigned at = first / 2 + pair;
      const unsigned low_bit = sorted[placed_together / 2 + pair] * width;
      const unsigned high_bit = sorted[pair] * width;
      const auto set = [&](unsigned lane, unsigned bit) {
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned byte = more + bit / 8 + i - source;
          constexpr unsigned last = placed_together == 4 ? 15 : 63;
          made.bytes[4 * lane + i] = static_cast<std::uint8_t>(byte < last ? byte : last);
        }
        made.mask[lane] = masks<std::uint32_t>.of[width] << bit % 8;
      };
      set(2 * at, low_bit);
      set(2 * at + 1, high_bit);
      made.low_shift[at] = low_bit % 8;
      made.high_shift[at] = 32 + high_bit % 8;
      made.low_bits[at] = masks<std::uint64_t>.of[made.high_shift[at]];
      const unsigned low_spare = 32 + high_bit % 8 - low_bit % 8 - width;
      const unsigned high_spare = 32 - high_bit % 8 - width;
      const unsigned spare = low_spare < high_spare ? low_spare : high_spare;
      while (made.run > 1U << spare) made.run /= 2;
    }
  }
  return made;
}

constexpr auto placed_codes = make_width_table<least_placed_width, most_placed_width>(make_placed_code);

/// Brings words to where they add up.
template <bool InHalves>
class placed_words {
 public:
  ZENITH_FN placed_words(const placed_code& code, unsigned width)
      : ahead_(16 - width / 2),
        bytes_(load_bits(code.bytes)),
        words_(load_bits(code.words)),
        mask_(load_bits(code.mask)) {}

  ZENITH_FN narrow_register operator()(const std::byte* at) const {
    if constexpr (InHalves) {
      return all_of(bytes_of(load_bits(at - ahead_), bytes_), mask_);
    } else {
      return all_of(placed(load_bits(at), bytes_, words_), mask_);
    }
  }

 private:
  std::uint64_t ahead_;
  narrow_register bytes_;
  narrow_register words_;
  narrow_register mask_;
};

template <bool InHalves>
[[gnu::noinline]] narrow_register sums_of_placed(narrow_group group) {
  constexpr unsigned lanes = narrow_items / 4;
  const placed_code& code = placed_codes[group.width];
  const placed_words<InHalves> words(code, group.width);
  const narrow_register low_bits = load_bits(code.low_bits);
  const narrow_register high_shift = load_bits(code.high_shift);
  const std::uint64_t step = std::uint64_t{group.width} * lanes / 8;
  const std::byte* at = group.words;
  narrow_register low{};
  narrow_register high{};
  for (unsigned left = packed_group_items / lanes; left != 0; left -= code.run) {
    narrow_register sums{};
    for (unsigned i = 0; i < code.run; i += 4) {
#pragma GCC unroll 4
      for (unsigned j = 0; j < 4; ++j, at += step) {
        if (j * lanes % 16 == 0) prefetch_ahead(at);
        sums = added_words(sums, words(at), std::uint64_t{});
      }
    }
    low = added_words(low, all_of(sums, low_bits), std::uint64_t{});
    high = added_words(high, shift_right<std::uint64_t>(sums, high_shift), std::uint64_t{});
  }
  return added_words(shift_right<std::uint64_t>(low, load_bits(code.low_shift)), high, std::uint64_t{});
}

#if defined(ZENITH_ISA_AVX512VBMI)

/// Longer words: as many as a lane can hold are added up there first.
[[gnu::noinline]] narrow_register sums_of_long(narrow_group group) {
  const narrow_unpacker<std::uint32_t> unpacked(group.width);
  const narrow_register down = every_lane(bits_below<std::uint32_t>(group.width));
  // the words of so many registers
  const unsigned run = (narrow_items / 4) << bits_below<std::uint32_t>(group.width);
  halves_sum sum;
  const std::byte* at = group.words;
  for (unsigned i = 0; i < packed_group_items; i += run) {
    narrow_register sums{};
    for (unsigned j = 0; j < run; j += narrow_items, at += unpacked.stride()) {
      const auto words = unpacked(at);
      for (const auto& one : words.v) {
        sums = added_words(sums, shift_right<std::uint32_t>(one, down), std::uint32_t{});
      }
    }
    sum.add(sums);
  }
  return sum.total();
}

/// Words of 31 bits.
[[gnu::noinline]] narrow_register sums_of_spanning(narrow_group group) {
  const spanning_unpacker unpacked(group.width);
  const narrow_register down = every_lane(bits_below<std::uint32_t>(group.width));
  halves_sum sum;
  const std::byte* at = group.words;
  for (unsigned i = 0; i < packed_group_items; i += narrow_items, at += unpacked.stride()) {
    const auto words = unpacked(at);
    for (unsigned j = 0; j < 4; j += 2) {
      sum.add(added_words(shift_right<std::uint32_t>(words.v[j], down),
                          shift_right<std::uint32_t>(words.v[j + 1], down), std::uint32_t{}));
    }
  }
  return sum.total();
}

#elif defined(ZENITH_ISA_AVX512)

/// Longer words: as many as a lane can hold are added up there first.
[[gnu::noinline]] narrow_register sums_of_long(narrow_group group) {
  constexpr unsigned lanes = narrow_items / 4;
  const unpacker<std::uint32_t, true> unpacked(group.width);
  const unsigned run = 1U << bits_below<std::uint32_t>(group.width);
  const std::byte* at = group.words;
  halves_sum sum;
  for (unsigned left = packed_group_items / lanes; left != 0; left -= run) {
    narrow_register sums{};
    for (unsigned i = 0; i < run; i += 2) {
#pragma GCC unroll 2
      for (unsigned j = 0; j < 2; ++j, at += group.width * lanes / 8) {
        if (j * lanes % 16 == 0) prefetch_ahead(at);
        sums = added_words(sums, unpacked(at, 0).data, std::uint32_t{});
      }
    }
    sum.add(sums);
  }
  return sum.total();
}

#else

/// Longer words: each is masked in 64 bits, where the words of a group fit as they lie.
[[gnu::noinline]] narrow_register sums_of_long(narrow_group group) {
  constexpr unsigned lanes = narrow_items / 4;
  const paired_bytes words(group.width);
  const narrow_register width_mask = every_lane(masks<std::uint64_t>.of[group.width]);
  const narrow_register even_mask = shift_left<std::uint64_t>(width_mask, words.even_begin());
  const narrow_register odd_mask = shift_left<std::uint64_t>(width_mask, words.odd_begin());
  narrow_register even{};
  narrow_register odd{};
  const std::byte* at = group.words;
  for (unsigned i = 0; i < packed_group_items; i += 4 * lanes) {
#pragma GCC unroll 4
    for (unsigned j = 0; j < 4; ++j, at += group.width * lanes / 8) {
      if (j * lanes % 16 == 0) prefetch_ahead(at);
      even = added_words(even, all_of(words.even(at), even_mask), std::uint64_t{});
      odd = added_words(odd, all_of(words.odd(at), odd_mask), std::uint64_t{});
    }
  }
  return added_words(shift_right<std::uint64_t>(even, words.even_begin()),
                     shift_right<std::uint64_t>(odd, words.odd_begin()), std::uint64_t{});
}

#endif

/// The sum of the group's words, in lanes of 64 bits.
ZENITH_FN narrow_register sum_of_group(const narrow_group& group) {
  const unsigned width = group.width;
  if (width == 16 || width == 32) return sums_of_halves(group);
#if defined(ZENITH_ISA_AVX512VBMI)
  if (width > most_placed_width) {
    return width <= coded_width ? sums_of_long(group) : sums_of_spanning(group);
  }
  if (width > narrow_width) return sums_of_placed<false>(group);
#else
  if (width > most_placed_width) return sums_of_long(group);
  if (!has_narrow_lanes(width) || straddles(width)) {
#if !defined(ZENITH_ISA_AVX512)
    if (placed_in_halves(width)) return sums_of_placed<true>(group);
#endif
    return sums_of_placed<false>(group);
  }
#endif
  if (width == 8) return sums_of(plain_unpacker<std::uint8_t>{}, group);
  return with_narrow_unpacker(width,
                              [&](const auto& unpacked) ZENITH_INLINE_LAMBDA { return sums_of(unpacked, group); });
}

/// The same of miniblocks of different widths. `Together`: a lane can hold the words that a block has there.
template <bool Together>
ZENITH_FN narrow_register sum_of_miniblocks(const mixed_group& group) {
  const miniblock_unpacker unpacked;
  halves_sum sum;
  auto words = group.words;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot) {
    narrow_register lanes{};
#pragma GCC unroll 4
    for (unsigned i = 0; i < packed_block_items; i += narrow_items) {
      const auto some = taken(unpacked, words);
      if constexpr (Together) {
        lanes = added_words(lanes, added_words(some.v[0], some.v[1], std::uint16_t{}), std::uint16_t{});
      } else {
        for (const auto& one : some.v) sum.add(one);
      }
    }
    if constexpr (Together) sum.add(lanes);
  }
  return added_words(sum.low(), sum.high(), std::uint64_t{});
}
[[gnu::noinline]] narrow_register sum_of_group(mixed_group group) {
  constexpr unsigned words_of_block = packed_block_items * 2 / sizeof(narrow_register);
  const bool together = group.width + std::countr_zero(words_of_block) <= 16;
  return together ? sum_of_miniblocks<true>(group) : sum_of_miniblocks<false>(group);
}

#endif

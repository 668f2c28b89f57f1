// How few bits a block takes by frame of reference or delta: reference and widths. Included by a unit that is compiled
// for one instruction set, inside its namespace.

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

// Packing whole groups of 2048 values by frame of reference or delta: the bytes that
// algorithms/packed_column/encode.hpp specifies. Included by a unit that is compiled for one instruction set, inside
// its namespace.
//
// A group is measured before anybody knows where its bytes will stand, and written in a second pass over its values,
// for which measuring leaves references and widths behind.

template <class U>
inline constexpr unsigned block_vectors = packed_block_items / vector_of<U>::size;
template <class U>
inline constexpr unsigned mini_vectors = packed_miniblock_items / vector_of<U>::size;

template <class U>
struct block_of_vectors {
  vector_of<U> v[block_vectors<U>];
};

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

/// What packed::shape_of finds. Taking d bits off the width saves 32 d bits and costs a patch for each of the p(d)
/// words that are longer, so it gains only if 32 d > bits of a patch * p(d). p only grows with d: with p known for one
/// d, all up to bits of a patch * p / 32 are known not to gain.
template <class U>
ZENITH_FN mini_shape shape_of(const vector_of<U>* words) {
  auto all = words[0];
  for (unsigned i = 1; i < mini_vectors<U>; ++i) all = all | words[i];
  U lanes[vector_of<U>::size];
  all.store_unaligned(lanes);
  for (unsigned i = 1; i < vector_of<U>::size; ++i) lanes[0] |= lanes[i];
  const unsigned width = length_of(lanes[0]);
  constexpr unsigned patch_bits = 8 + word_bits<U>;
  mini_shape best{width, width, 0};
  unsigned least = packed_miniblock_items * width;
  // p(1) is at least 1, and one bit off never pays for a patch
  for (unsigned less = patch_bits / packed_miniblock_items + 1; less <= width;) {
    const unsigned outside = longer_than<U>(words, width - less);
    const unsigned bits = packed_miniblock_items * (width - less) + outside * patch_bits;
    if (bits < least) {
      least = bits;
      best.patched_width = width - less;
      best.patches = outside;
    }
    const unsigned next = outside * patch_bits / packed_miniblock_items + 1;
    less = next > less ? next : less + 1;
  }
  return best;
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

template <class T>
void measure_frames(const void* values, packed_group_shape* to) {
  using U = std::make_unsigned_t<T>;
  const U* from = static_cast<const U*>(values);
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
    for (unsigned i = 0; i < packed_miniblock_items; ++i) bits.append(unpacked[i], width);
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
  const __m512i rotated =
      _mm512_rolv_epi64(_mm512_unpackhi_epi64(twos, twos), _mm512_set1_epi64(static_cast<long long>(2 * width)));
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

ZENITH_FN void write_words(const vector_of<std::uint32_t>* words, unsigned width, std::byte* to) {
  _mm512_storeu_si512(to, in_bits(words[0], width));
  _mm512_storeu_si512(to + 2 * width, in_bits(words[1], width));
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

template <class U>
void write_group(const packed_group_write& asked) {
  const packed_layout& to = *asked.to;
  const packed_group_shape& shape = *asked.shape;
  const U* from = static_cast<const U*>(asked.values);
  const bool is_delta = to.kind == encoding::delta;
  const bool patched = to.patches > 0;
  std::byte* record = asked.out + to.groups_at + asked.group * packed::group_bytes<U>;
  std::byte* index = asked.out + to.patch_index_at + asked.group * packed::patch_index_bytes;
  std::uint64_t patch = asked.patch;
  if (patched) __builtin_memcpy(index, &patch, sizeof patch);

  // a group's payload comes together in the caches: what is written too far belongs to nobody
  std::byte payload[packed_group_items * sizeof(U) + 128];
  std::uint32_t written = 0;
  std::uint64_t start = asked.payload;
  for (unsigned slot = 0; slot < packed_group_blocks; ++slot, from += packed_block_items) {
    const std::uint32_t offset = written / 4;
    const auto reference = static_cast<U>(shape.reference[slot]);
    const auto& width = patched ? shape.patched_width[slot] : shape.width[slot];
    auto words = is_delta ? steps_of(from) : values_of(from);
    subtract(words, reference);
    if (is_delta) {
      clear_first<U>(words.v[0]);
      const U base = static_cast<U>(from[0] - reference);
      __builtin_memcpy(asked.out + to.bases_at + (asked.group * packed_group_blocks + slot) * sizeof(U), &base,
                       sizeof base);
    }
    const std::uint64_t patch_before = patch;
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      auto* mini = words.v + m * mini_vectors<U>;
      if (patched) take_patches<U>(mini, width[m], m * packed_miniblock_items, to, asked.out, patch);
      write_words(mini, width[m], payload + written);
      written += width[m] * 4U;
    }
    if (patched) index[8 + slot] = static_cast<std::byte>(patch - patch_before);
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
  __builtin_memcpy(asked.out + to.payload_at + asked.payload * 4, payload, written);
}

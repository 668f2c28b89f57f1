// What is done with the tiles of a packed column. Included by a unit that is compiled for one instruction set, inside
// its namespace.

/// To memory.
template <class U>
struct store_consumer {
  U* out;
  std::uint64_t begin;  ///< the value that `out` begins with

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    values(added(words, reference), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) {
    U* to = out + (first - begin);
    for (unsigned i = 0; i < tile_vectors; ++i, to += vector_of<U>::size) tile.v[i].store_unaligned(to);
  }

#if !defined(ZENITH_ISA_SSE2)
  static constexpr unsigned most_group_width = 32;
  ZENITH_FN static bool takes_groups(unsigned width) { return sizeof(U) == 4 && has_low_words(width); }

  ZENITH_FN block_set group(const narrow_group& group, const std::byte* references) {
    if constexpr (sizeof(U) == 4) {
      store_values(group, references, out + (group.first - begin));
    }
    return 0;
  }
#endif
};

#if defined(ZENITH_ISA_AVX512)

/// To memory past the caches, a whole aligned line at a time: where `out` is none's begin, each line comes from the end
/// of one register and the front of the next. Sixteen bytes at a time, which outputs are aligned to, took as long in
/// memory but three shuffles more a register, of which words of more than 25 bits have two already.
template <class U>
class stream_consumer {
 public:
  ZENITH_FN stream_consumer(U* out, std::uint64_t begin) : out_(out), begin_(begin) {
    head_ = static_cast<unsigned>((0 - reinterpret_cast<std::uintptr_t>(out)) % 64 / sizeof(U));
    U from[lanes];
    for (unsigned i = 0; i < lanes; ++i) from[i] = U{head_} + i;
    from_ = batch::load_unaligned(from);
  }

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    values(added(words, reference), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) {
    unsigned i = 0;
    if (first == begin_) [[unlikely]] {
      U front[lanes];
      tile.v[0].store_unaligned(front);
      __builtin_memcpy(out_, front, head_ * sizeof(U));
      last_ = tile.v[0];
      i = 1;
    }
    U* to = out_ + (first - begin_) + head_ + i * lanes - lanes;
    for (; i < tile_vectors; ++i, to += lanes) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line(last_, tile.v[i]));
      last_ = tile.v[i];
    }
  }

  /// What is left of `count` values.
  ZENITH_FN void finish(std::uint64_t count) const {
    U back[lanes];
    last_.store_unaligned(back);
    __builtin_memcpy(out_ + count - (lanes - head_), back + head_, (lanes - head_) * sizeof(U));
  }

 private:
  using batch = vector_of<U>;
  static constexpr unsigned lanes = batch::size;

  ZENITH_FN __m512i line(__m512i before, __m512i behind) const {
    if constexpr (sizeof(U) == 4) return _mm512_permutex2var_epi32(before, from_, behind);
    return _mm512_permutex2var_epi64(before, from_, behind);
  }

  U* out_;
  std::uint64_t begin_;
  unsigned head_;  ///< values in front of the first whole line
  batch from_;
  batch last_;
};

#else

/// To memory past the caches, sixteen bytes at a time, which outputs are aligned to: lines come together in the write
/// buffers.
template <class U>
class stream_consumer {
 public:
  ZENITH_FN stream_consumer(U* out, std::uint64_t begin) : out_(out), begin_(begin) {}

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    values(added(words, reference), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) {
    auto* to = reinterpret_cast<__m128i*>(out_ + (first - begin_));
    for (unsigned i = 0; i < tile_vectors; ++i) {
      __m128i parts[sizeof(tile.v[i]) / 16];
      __builtin_memcpy(parts, &tile.v[i], sizeof parts);
      for (const auto& part : parts) _mm_stream_si128(to++, part);
    }
  }
  ZENITH_FN void finish(std::uint64_t) const {}

 private:
  U* out_;
  std::uint64_t begin_;
};

#endif

template <class U>
void unpack_blocks(const packed_blocks& of, void* out, bool past_caches) {
  const std::uint64_t begin = of.begin * packed_block_items;
  if (past_caches && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
    stream_consumer<U> to(static_cast<U*>(out), begin);
    for_tiles<U>(of, to);
    to.finish(of.end * packed_block_items - begin);
    _mm_sfence();
  } else {
    store_consumer<U> to{static_cast<U*>(out), begin};
    for_tiles<U>(of, to);
  }
}

template <class T>
class sum_consumer {
 public:
  using U = std::make_unsigned_t<T>;

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    if constexpr (sizeof(U) == 8) {
      rest_ += reference * tile_items<U>;
      values(words, first);
    } else {
      const U biased = reference ^ order_bias<T>;
      if (!Wide && biased <= static_cast<U>(~masks<U>.of[narrow_bits<U>])) [[likely]] {
        // the words add up without the reference, in their own lanes as long as these cannot overflow
        for (unsigned i = 0; i < tile_vectors; ++i) narrow_ += words.v[i];
        rest_ += static_cast<std::uint64_t>(static_cast<T>(reference)) * tile_items<U>;
        if (++pending_ == most_pending) flush();
      } else {
        widen(added(words, biased));
      }
    }
  }

#if !defined(ZENITH_ISA_SSE2)
  static constexpr unsigned most_group_width = 32;
  ZENITH_FN static bool takes_groups(unsigned width) { return width <= most_group_width; }

  template <class Group>
  ZENITH_FN block_set group(const Group& group, const std::byte* references) {
    const auto biased = biased_references(references, order_bias<T>);
    if constexpr (sizeof(U) == 4 && std::is_same_v<Group, narrow_group>) {
      if (group.width == 32) {
        wide_ += wide_batch(sums_of_values(group, biased));
        rest_ -= std::uint64_t{order_bias<T>} * packed_group_items;
        return 0;
      }
    }
    const vector_of<U> most(static_cast<U>(~masks<U>.of[group.width]));
    block_set wrapping = 0;
    wide_batch sum(std::uint64_t{0});
    for (unsigned i = 0; i < block_words<U>::vectors; ++i) {
      const auto some = biased.load(i);
      wrapping |= as_blocks<U>(i, ~at_most<U>(some, most));
      sum += widened(some);
    }
    // values that wrap around are widened one by one
    if (sizeof(U) == 4 && wrapping != 0) return all_blocks;
    rest_ -= std::uint64_t{order_bias<T>} * packed_group_items;
    wide_ += (sum << block_shift) + wide_batch(sum_of_group(group));
    return 0;
  }
#endif

  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t) {
    if constexpr (sizeof(U) == 8) {
      for (unsigned i = 0; i < tile_vectors; ++i) wide_ += tile.v[i];
    } else if constexpr (std::is_signed_v<T>) {
      widen(added(tile, order_bias<T>));
    } else {
      widen(tile);
    }
  }

  ZENITH_FN std::uint64_t total() {
    if constexpr (sizeof(U) == 4) flush();
    return rest_ + sum_of(wide_);
  }

 private:
  using wide_batch = vector_of<std::uint64_t>;
  static constexpr int block_shift = std::countr_zero(packed_block_items);
  static constexpr unsigned most_pending = (1U << (word_bits<U> - narrow_bits<U>)) / tile_vectors;

  ZENITH_FN static wide_batch low_halves(const wide_batch& pairs) { return pairs & wide_batch(0xffffffffULL); }

  /// Their sum, in lanes of 64 bits.
  ZENITH_FN static wide_batch widened(const vector_of<U>& lanes) {
    wide_batch pairs;
    __builtin_memcpy(&pairs, &lanes, sizeof pairs);
    if constexpr (sizeof(U) == 8) return pairs;
    return low_halves(pairs) + (pairs >> 32);
  }

  /// Words in the order of T's values, each larger than its value by the bias.
  ZENITH_FN void widen(const packed_tile<U>& biased) {
    for (unsigned i = 0; i < tile_vectors; ++i) wide_ += widened(biased.v[i]);
    rest_ -= std::uint64_t{order_bias<T>} * tile_items<U>;
  }

  ZENITH_FN void flush() {
    wide_ += widened(narrow_);
    narrow_ = vector_of<U>(U{0});
    pending_ = 0;
  }

  ZENITH_FN static std::uint64_t sum_of(const wide_batch& of) {
    std::uint64_t lanes[wide_batch::size];
    of.store_unaligned(lanes);
    std::uint64_t sum = 0;
    for (const auto lane : lanes) sum += lane;
    return sum;
  }

  vector_of<U> narrow_ = vector_of<U>(U{0});
  wide_batch wide_ = wide_batch(std::uint64_t{0});
  std::uint64_t rest_ = 0;
  unsigned pending_ = 0;
};

template <class T>
std::uint64_t sum_blocks(const packed_blocks& of) {
  sum_consumer<T> to;
  for_tiles<std::make_unsigned_t<T>>(of, to);
  return to.total();
}

/// In biased words.
template <class T>
class extremes_consumer {
 public:
  using U = std::make_unsigned_t<T>;
  using batch = vector_of<U>;

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t) {
    is_known_ = false;
    const U biased = reference ^ order_bias<T>;
    if (!Wide && biased <= static_cast<U>(~masks<U>.of[narrow_bits<U>])) [[likely]] {
      batch least;
      batch greatest;
      extremes_of(words, least, greatest);
      take(least + batch(biased), greatest + batch(biased));
    } else {
      take_all(added(words, biased));
    }
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t) {
    if constexpr (std::is_signed_v<T>) {
      take_all(added(tile, order_bias<T>));
    } else {
      take_all(tile);
    }
  }

#if !defined(ZENITH_ISA_SSE2)
  static constexpr unsigned most_group_width = 32;
  ZENITH_FN static bool takes_groups(unsigned width) { return width <= most_group_width; }

  /// Only the blocks with a value beyond what those before this group had.
  template <class Group>
  ZENITH_FN block_set group(const Group& group, const std::byte* references) {
    if (!is_known_) know();
    const auto biased = biased_references(references, order_bias<T>);
    const bool is_greatest = known_greatest_ == static_cast<U>(~U{0});  // there can be
    const batch highest(static_cast<U>(~masks<U>.of[group.width]));     // reference of values that do not wrap around
    block_set beyond = 0;
    for (unsigned i = 0; i < block_words<U>::vectors; ++i) {
      const batch least = biased.load(i);
      beyond |= as_blocks<U>(i, ~at_most<U>(batch(known_least_), least));
      if (is_greatest) beyond |= as_blocks<U>(i, ~at_most<U>(least, highest));
    }
    if (is_greatest) return beyond;
    return beyond | reaching_blocks<false>(group, biased, static_cast<U>(known_greatest_ + 1));
  }
#endif

  ZENITH_FN void result(std::uint64_t* least, std::uint64_t* greatest) {
    know();
    *least = static_cast<U>(known_least_ ^ order_bias<T>);
    *greatest = static_cast<U>(known_greatest_ ^ order_bias<T>);
  }

 private:
  ZENITH_FN void know() {
    U low[batch::size];
    U high[batch::size];
    least_.store_unaligned(low);
    greatest_.store_unaligned(high);
    for (unsigned i = 0; i < batch::size; ++i) {
      if (low[i] < known_least_) known_least_ = low[i];
      if (high[i] > known_greatest_) known_greatest_ = high[i];
    }
    is_known_ = true;
  }
  ZENITH_FN static void extremes_of(const packed_tile<U>& tile, batch& least, batch& greatest) {
    least = greatest = tile.v[0];
    for (unsigned i = 1; i < tile_vectors; ++i) {
      least = xsimd::min(least, tile.v[i]);
      greatest = xsimd::max(greatest, tile.v[i]);
    }
  }
  ZENITH_FN void take(const batch& least, const batch& greatest) {
    least_ = xsimd::min(least_, least);
    greatest_ = xsimd::max(greatest_, greatest);
  }
  ZENITH_FN void take_all(const packed_tile<U>& tile) {
    batch least;
    batch greatest;
    extremes_of(tile, least, greatest);
    take(least, greatest);
  }

  batch least_ = batch(static_cast<U>(~U{0}));
  batch greatest_ = batch(U{0});
  // of what came before, or nothing: no value is less than the greatest there is
  U known_least_ = static_cast<U>(~U{0});
  U known_greatest_ = 0;
  bool is_known_ = true;
};

template <class T>
void extremes_of_blocks(const packed_blocks& of, std::uint64_t* least, std::uint64_t* greatest) {
  extremes_consumer<T> to;
  for_tiles<std::make_unsigned_t<T>>(of, to);
  to.result(least, greatest);
}

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
  static constexpr unsigned most_group_width = 32;
  ZENITH_FN static bool takes_groups(unsigned width) { return width <= most_group_width; }

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
    constexpr std::uint32_t all = (1U << vector_of<U>::size) - 1;
    const vector_of<word> last(static_cast<word>(span + bias));
    return lane_mask(xsimd::bitwise_cast<vector_of<word>>(beyond) > last) ^ all;
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
  constexpr unsigned block_words = packed_block_items / 64;
  const std::uint64_t first = of.begin * packed_block_items;
  select_consumer<U> to{reinterpret_cast<std::byte*>(bitmap - of.begin * block_words), static_cast<U>(low),
                        static_cast<U>(high - low), first};
  for_tiles<U>(of, to);
  to.count_to(of.end * packed_block_items);
  return to.matches;
}

/// What reaches a threshold, for the filter of top-k. All comparisons are of biased words.
template <class T, bool Smallest>
struct scan_consumer {
  using U = std::make_unsigned_t<T>;
  using batch = vector_of<U>;

  U threshold;
  U* keys;
  std::uint32_t* indices;
  std::uint32_t first_index;  ///< of value 0
  std::uint64_t count = 0;

  ZENITH_FN bool skips(U reference, U most) const {
    const U least = reference ^ order_bias<T>;
    if (least > static_cast<U>(~most)) return false;  // sums wrap around
    return Smallest ? least > threshold : least + most < threshold;
  }
#if !defined(ZENITH_ISA_SSE2)
  static constexpr unsigned most_group_width = 32;
  ZENITH_FN static bool takes_groups(unsigned width) { return width <= most_group_width; }

  template <class Group>
  ZENITH_FN block_set group(const Group& group, const std::byte* references) const {
    return reaching_blocks<Smallest>(group, biased_references(references, order_bias<T>), threshold);
  }
#endif

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    append(added(words, reference ^ order_bias<T>), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) { append(added(tile, order_bias<T>), first); }

 private:
  ZENITH_FN auto reaches(const batch& biased) const {
    if constexpr (Smallest) {
      return at_most<U>(biased, batch(threshold));
    } else {
      return at_most<U>(batch(threshold), biased);
    }
  }

  ZENITH_FN void append(const packed_tile<U>& biased, std::uint64_t first) {
    auto any = reaches(biased.v[0]);
    for (unsigned i = 1; i < tile_vectors; ++i) any = any | reaches(biased.v[i]);
    if (!xsimd::any(any)) [[likely]]
      return;
    for (unsigned i = 0; i < tile_vectors; ++i) {
      const auto mask = lane_mask(reaches(biased.v[i]));
      if (mask == 0) continue;
      const auto at = first_index + static_cast<std::uint32_t>(first) + i * static_cast<std::uint32_t>(batch::size);
      count += compress_store(biased.v[i] ^ batch(order_bias<T>), at, mask, keys + count, indices + count);
    }
  }
};

template <class T, bool Smallest>
std::uint64_t scan_blocks(const packed_blocks& of, const scan_request& asked, std::uint32_t first_index) {
  using U = std::make_unsigned_t<T>;
  U threshold;
  __builtin_memcpy(&threshold, asked.threshold, sizeof threshold);
  scan_consumer<T, Smallest> to{static_cast<U>(threshold ^ order_bias<T>), static_cast<U*>(asked.out_keys),
                                asked.out_indices,
                                first_index - static_cast<std::uint32_t>(of.begin * packed_block_items)};
  for_tiles<U>(of, to);
  return to.count;
}

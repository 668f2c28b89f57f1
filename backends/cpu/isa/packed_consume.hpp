// What is done with the tiles of a packed column. Included by a unit that is compiled for one instruction set, inside
// its namespace.

/// Turns the bits of values of either sign into unsigned words in the same order.
template <class T>
inline constexpr std::make_unsigned_t<T> order_bias = std::is_signed_v<T>
                                                          ? std::make_unsigned_t<T>(1) << (sizeof(T) * 8 - 1)
                                                          : 0;

/// a <= b. AVX2 compares no unsigned words, but finds their minimum.
template <class U>
ZENITH_FN auto at_most(const vector_of<U>& a, const vector_of<U>& b) {
#if defined(ZENITH_ISA_AVX2)
  if constexpr (sizeof(U) == 4) {
    return xsimd::min(a, b) == a;
  } else {
    return a <= b;
  }
#else
  return a <= b;
#endif
}

/// To memory.
template <class U, bool PastCaches>
struct store_consumer {
  U* out;
  std::uint64_t begin;  ///< the value that `out` begins with

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    values(added(words, reference), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) {
    U* to = out + (first - begin);
    for (unsigned i = 0; i < tile_vectors; ++i, to += vector_of<U>::size) {
      if constexpr (PastCaches) {
        stream(to, tile.v[i]);
      } else {
        tile.v[i].store_unaligned(to);
      }
    }
  }

 private:
  // outputs are aligned to 16 bytes at most; whole lines come together in the write buffers
  ZENITH_FN static void stream(U* to, const vector_of<U>& values) {
    __m128i parts[sizeof(values) / 16];
    __builtin_memcpy(parts, &values, sizeof values);
    for (unsigned i = 0; i < sizeof(values) / 16; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, parts[i]);
  }
};

template <class U>
void unpack_blocks(const packed_blocks& of, void* out, bool past_caches) {
  const std::uint64_t begin = of.begin * packed_block_items;
  if (past_caches && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
    store_consumer<U, true> to{static_cast<U*>(out), begin};
    for_tiles<U>(of, to);
    _mm_sfence();
  } else {
    store_consumer<U, false> to{static_cast<U*>(out), begin};
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

  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t) {
    if constexpr (sizeof(U) == 8) {
      for (unsigned i = 0; i < tile_vectors; ++i) narrow_ += tile.v[i];
    } else if constexpr (std::is_signed_v<T>) {
      widen(added(tile, order_bias<T>));
    } else {
      widen(tile);
    }
  }

  ZENITH_FN std::uint64_t total() {
    if constexpr (sizeof(U) == 8) {
      return rest_ + sum_of(narrow_);
    } else {
      flush();
      return rest_ + sum_of(wide_);
    }
  }

 private:
  using wide_batch = vector_of<std::uint64_t>;
  static constexpr unsigned most_pending = (1U << (word_bits<U> - narrow_bits<U>)) / tile_vectors;

  ZENITH_FN static wide_batch low_halves(const wide_batch& pairs) { return pairs & wide_batch(0xffffffffULL); }

  ZENITH_FN void widen_one(const vector_of<U>& lanes) {
    wide_batch pairs;
    __builtin_memcpy(&pairs, &lanes, sizeof pairs);
    wide_ += low_halves(pairs);
    wide_ += pairs >> 32;
  }

  /// Words in the order of T's values, each larger than its value by the bias.
  ZENITH_FN void widen(const packed_tile<U>& biased) {
    for (unsigned i = 0; i < tile_vectors; ++i) widen_one(biased.v[i]);
    rest_ -= std::uint64_t{order_bias<T>} * tile_items<U>;
  }

  ZENITH_FN void flush() {
    widen_one(narrow_);
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

  ZENITH_FN void result(std::uint64_t* least, std::uint64_t* greatest) const {
    U low[batch::size];
    U high[batch::size];
    least_.store_unaligned(low);
    greatest_.store_unaligned(high);
    for (unsigned i = 1; i < batch::size; ++i) {
      if (low[i] < low[0]) low[0] = low[i];
      if (high[i] > high[0]) high[0] = high[i];
    }
    *least = static_cast<U>(low[0] ^ order_bias<T>);
    *greatest = static_cast<U>(high[0] ^ order_bias<T>);
  }

 private:
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

  template <bool Wide>
  ZENITH_FN void framed(const packed_tile<U>& words, U reference, std::uint64_t first) {
    compare(added(words, static_cast<U>(reference - low)), first);
  }
  ZENITH_FN void values(const packed_tile<U>& tile, std::uint64_t first) {
    compare(added(tile, static_cast<U>(U{0} - low)), first);
  }

 private:
  ZENITH_FN void compare(const packed_tile<U>& beyond, std::uint64_t first) {
    constexpr unsigned lanes = vector_of<U>::size;
    std::byte* to = bitmap + first / 8;
    if constexpr (lanes == 16) {
      for (unsigned i = 0; i < tile_vectors; ++i) {
        const auto mask = static_cast<std::uint16_t>(lane_mask(at_most<U>(beyond.v[i], vector_of<U>(span))));
        __builtin_memcpy(to + 2 * i, &mask, sizeof mask);
      }
    } else {
      constexpr unsigned a_byte = 8 / lanes;  // registers
      for (unsigned i = 0; i < tile_vectors; i += a_byte) {
        std::uint32_t mask = 0;
        for (unsigned j = 0; j < a_byte; ++j) {
          mask |= lane_mask(at_most<U>(beyond.v[i + j], vector_of<U>(span))) << (j * lanes);
        }
        to[i / a_byte] = static_cast<std::byte>(mask);
      }
    }
  }
};

template <class U>
std::uint64_t select_blocks(const packed_blocks& of, std::uint64_t low, std::uint64_t high, std::uint64_t* bitmap) {
  constexpr unsigned block_words = packed_block_items / 64;
  select_consumer<U> to{reinterpret_cast<std::byte*>(bitmap - of.begin * block_words), static_cast<U>(low),
                        static_cast<U>(high - low)};
  for_tiles<U>(of, to);
  std::uint64_t matches = 0;
  for (std::uint64_t i = 0; i < (of.end - of.begin) * block_words; ++i) {
    matches += static_cast<unsigned>(__builtin_popcountll(bitmap[i]));
  }
  return matches;
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

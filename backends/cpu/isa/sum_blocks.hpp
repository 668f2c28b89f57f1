// sum_blocks: the sum of all values of blocks. Included by a unit that is compiled for one instruction set, inside its
// namespace.

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

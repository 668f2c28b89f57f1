// extremes_of_blocks: the least and the greatest value of blocks. Included by a unit that is compiled for one
// instruction set, inside its namespace.

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

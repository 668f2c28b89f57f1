// scan_blocks: the values of blocks that reach a threshold, for the filter of top-k. Included by a unit that is
// compiled for one instruction set, inside its namespace.

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

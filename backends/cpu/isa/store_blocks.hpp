// unpack_blocks: the values of blocks, to memory, through the caches or past them. Included by a unit that is compiled
// for one instruction set, inside its namespace.

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
    last_ = from_;  // any value: compilers do not see that the first tile sets it
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

// The packed column's tile: as a tile of keys, eight registers, so that a block is one tile of sixteen 32-bit lanes, or
// two, four, eight narrower ones. `for_tiles` decodes block after block and hands each tile to a consumer, all in one
// loop. Included by a unit that is compiled for one instruction set, inside its namespace.

inline constexpr unsigned tile_vectors = 8;

template <class U>
inline constexpr unsigned tile_items = vector_of<U>::size* tile_vectors;

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

template <class U>
struct packed_tile {
  vector_of<U> v[tile_vectors];
};

// A consumer has
//   values(tile, first)                     values, from index `first` on
//   framed<Wide>(tile, reference, first)    reference + word for each; narrow words have at most narrow_bits
// and decides how much of the adding it needs. A consumer with
//   skips(reference, most)                  whether nothing from reference to reference + most is of use to it
// spares itself reading such blocks. A consumer with
//   group(group, references)                settles a whole group, or a `mixed_group` where it accepts that
// returns a bit for each of the group's blocks that it could not settle: these come as tiles then. With
//   takes_groups(width)                     whether it wants groups of words of this width
// it has only those.

template <class U>
ZENITH_FN packed_tile<U> loaded(const U* from) {
  packed_tile<U> tile;
  for (unsigned i = 0; i < tile_vectors; ++i) {
    tile.v[i] = vector_of<U>::load_unaligned(from + i * vector_of<U>::size);
  }
  return tile;
}

template <class U>
ZENITH_FN packed_tile<U> added(const packed_tile<U>& words, U reference) {
  packed_tile<U> tile;
  for (unsigned i = 0; i < tile_vectors; ++i) tile.v[i] = words.v[i] + vector_of<U>(reference);
  return tile;
}

#if !defined(ZENITH_ISA_SSE2)

/// Whether any block has outliers outside.
ZENITH_FN bool is_patched(const packed_layout& in, std::uint64_t group) {
  if (in.patches == 0) return false;
  const std::byte* counts = in.bytes + in.patch_index_at + group * packed::patch_index_bytes + 8;
  return (packed::load<std::uint64_t>(counts) | packed::load<std::uint64_t>(counts + 8)) != 0;
}

inline constexpr unsigned no_width = ~0U;

/// The width of all miniblocks of a group, or `no_width`.
template <class U>
ZENITH_FN unsigned common_width(const std::byte* record) {
  const auto differ = [](const std::byte* a, const std::byte* b) ZENITH_INLINE_LAMBDA {
    return packed::load<std::uint64_t>(a) ^ packed::load<std::uint64_t>(b);
  };
  std::uint64_t others = 0;
  unsigned width;
  if constexpr (sizeof(U) == 4) {
    const std::byte* widths = record + 72;
    const std::uint32_t four = packed::load<std::uint32_t>(widths) & 0xffffff;
    width = four & 63;
    others = four ^ width * 0x041041;
    // each block's three bytes are the next one's
    for (const unsigned i : {0, 8, 16, 24, 32, 37}) others |= differ(widths + i, widths + i + 3);
  } else {
    const std::byte* widths = record + 136;
    width = static_cast<unsigned>(*widths);
    others = packed::load<std::uint64_t>(widths) ^ width * 0x0101010101010101U;
    for (unsigned i = 0; i < 56; i += 8) others |= differ(widths + i, widths + i + 8);
  }
  return others == 0 ? width : no_width;
}

/// A group's references and widths, a byte for each width, and what the widths have in common.
template <class U>
struct group_of_blocks {
  const std::byte* references;
  std::uint8_t width[packed_group_blocks][packed_miniblocks];
  bool narrow;          ///< every width
  bool uniform;         ///< all widths are one
  unsigned widest;      ///< of all widths
  std::uint64_t bytes;  ///< of the whole group's payload

  ZENITH_FN group_of_blocks(const packed_layout& in, std::uint64_t group) {
    const std::byte* record = in.bytes + in.groups_at + group * packed::group_bytes<U>;
    references = record + 8;
    narrow_register most{};
    narrow_register sums{};
    for (unsigned i = 0; i < sizeof width; i += sizeof most) {
      const narrow_register some = widths_of(record, i);
      store_bits(&width[0][0] + i, some);
      most = greater_of(most, some, std::uint8_t{});
      sums = added_words(sums, added_bytes(some), std::uint64_t{});
    }
    widest = greatest_byte(most);
    const std::uint64_t sum = sum_of_lanes(sums);
    bytes = 4 * sum;
    narrow = widest <= narrow_bits<U>;
    uniform = sum == sizeof width * widest;
  }

  ZENITH_FN U reference(unsigned slot) const { return packed::load<U>(references + slot * sizeof(U)); }

 private:
  /// From miniblock `first` on, a byte each.
  ZENITH_FN static narrow_register widths_of(const std::byte* record, unsigned first) {
    if constexpr (sizeof(U) == 8) {
      return load_bits(record + 136 + first);
    } else {
      const auto tops = byte_unpacker(6)(record + 72 + first * 6 / 8);
      return all_of(shifted_down(tops.v[0], 2), every_lane(0x3f3f3f3fU));
    }
  }
};

/// Unpackers of blocks whose widths differ, and of those where all are one.
template <class U, bool Wide>
struct own_unpackers {
  ZENITH_FN unpacker<U, Wide> operator()(std::uint64_t width) const { return unpacker<U, Wide>(width); }
};
template <class U, bool Wide>
struct one_unpacker {
  unpacker<U, Wide> it;
  ZENITH_FN const unpacker<U, Wide>& operator()(std::uint64_t) const { return it; }
};

/// Calls use(tile, index of its first value in the block) for each tile of the words of a block; returns where they
/// end.
template <class U, bool Wide, class Unpackers, class Use>
ZENITH_FN const std::byte* unpack_words(const Unpackers& of_width, const std::uint8_t* width, const std::byte* words,
                                        Use&& use) {
  constexpr unsigned vectors = packed_miniblock_items / vector_of<U>::size;
  constexpr unsigned tile_minis = tile_vectors / vectors;
#pragma GCC unroll 1
  for (unsigned m = 0; m < packed_miniblocks; m += tile_minis) {
    packed_tile<U> tile;
#pragma GCC unroll 4
    for (unsigned n = 0; n < tile_minis; ++n) {
      const std::uint64_t own = width[m + n];
      const auto& from = of_width(own);
      // every line: 32 words may be two of them
      prefetch_ahead(words);
      prefetch_ahead(words + own * 2);
#pragma GCC unroll 8
      for (unsigned i = 0; i < vectors; ++i) tile.v[n * vectors + i] = from(words, i);
      words += own * 4;
    }
    use(tile, m * packed_miniblock_items);
  }
  return words;
}
template <class U, bool Wide, class Use>
ZENITH_FN const std::byte* unpack_words(const std::uint8_t* width, const std::byte* words, Use&& use) {
  return unpack_words<U, Wide>(own_unpackers<U, Wide>{}, width, words, use);
}

/// The words of a block whose outliers stand outside, with them, through an L1 buffer.
template <class U, class Use>
ZENITH_FN const std::byte* unpack_patched(const packed_layout& in, std::uint64_t block, const std::uint8_t* width,
                                          const std::byte* words, Use&& use) {
  U patched[packed_block_items];
  words = unpack_words<U, true>(width, words, [&](const packed_tile<U>& tile, unsigned at) ZENITH_INLINE_LAMBDA {
    for (unsigned i = 0; i < tile_vectors; ++i) tile.v[i].store_unaligned(patched + at + i * vector_of<U>::size);
  });
  const auto patches = packed::patches_of(in, block);
  for (unsigned p = 0; p < patches.count; ++p) {
    patched[packed::patch_position(in, patches.first + p)] = packed::patch_value<U>(in, patches.first + p);
  }
  for (unsigned i = 0; i < packed_block_items; i += tile_items<U>) use(loaded(patched + i), i);
  return words;
}

/// No word of the block is larger.
template <class U>
ZENITH_FN U most_of(const std::uint8_t* width) {
  return masks<U>.of[width[0]] | masks<U>.of[width[1]] | masks<U>.of[width[2]] | masks<U>.of[width[3]];
}

/// Calls narrow(unpackers, width, words, block, reference), wide(width, …) or patched(width, …) for each block, a
/// group's by one of them: each returns where the block's words end. Whole groups without outliers are first offered
/// to whole(width, record, words, block) where all widths are one, and to mixed(group, words, block) otherwise, which
/// returns the blocks that are left to the others.
template <class U, class Whole, class Mixed, class Narrow, class Wide, class Patched>
ZENITH_FN void for_groups(const packed_blocks& of, const Whole& whole, const Mixed& mixed, const Narrow& narrow,
                          const Wide& wide, const Patched& patched) {
  const packed_layout& in = *of.column;
  const std::byte* words = in.bytes + in.payload_at + packed::place_of<U>(in, of.begin).word * 4;
  for (auto block = of.begin; block < of.end;) {
    auto slot = static_cast<unsigned>(block % packed_group_blocks);
    const std::uint64_t left = of.end - block;
    const bool has_patches = is_patched(in, block / packed_group_blocks);
    if (slot == 0 && left >= packed_group_blocks && !has_patches) {
      const std::byte* record = packed::record_of<U>(in, block);
      const unsigned width = common_width<U>(record);
      if (width != no_width && whole(width, record, words, block)) {
        words += packed_group_items / 8 * width;
        block += packed_group_blocks;
        continue;
      }
    }
    const group_of_blocks<U> group(in, block / packed_group_blocks);
    const unsigned stop = left < packed_group_blocks - slot ? slot + static_cast<unsigned>(left) : packed_group_blocks;
    if (has_patches) [[unlikely]] {
      for (; slot < stop; ++slot, ++block) words = patched(group.width[slot], words, block, group.reference(slot));
    } else if (has_narrow<U> && group.narrow && group.uniform) {
      const one_unpacker<U, false> unpackers{unpacker<U, false>(group.width[0][0])};
      for (; slot < stop; ++slot, ++block) {
        words = narrow(unpackers, group.width[0], words, block, group.reference(slot));
      }
    } else if (group.narrow) {
      const own_unpackers<U, false> unpackers;
      const bool offered = slot == 0 && stop == packed_group_blocks && group.widest <= mixed_width;
      const block_set rest = offered ? mixed(group, words, block) : all_blocks;
      if (rest == 0) {
        words += group.bytes;
        block += packed_group_blocks;
        continue;
      }
      for (; slot < stop; ++slot, ++block) {
        if ((rest >> slot & 1) == 0) {
          words += payload_bytes(group.width[slot]);
        } else {
          words = narrow(unpackers, group.width[slot], words, block, group.reference(slot));
        }
      }
    } else {
      for (; slot < stop; ++slot, ++block) words = wide(group.width[slot], words, block, group.reference(slot));
    }
  }
}

template <class Consumer>
concept is_group_consumer = requires(Consumer to, const narrow_group& group, const std::byte* references) {
  to.group(group, references);
};

template <class Consumer>
concept is_mixed_consumer = requires(Consumer to, const mixed_group& group, const std::byte* references) {
  to.group(group, references);
};

/// The longest words of groups that are settled as a whole.
inline constexpr unsigned most_group_width = 32;

/// Returns whether the consumer takes groups of the width; then it had this one.
template <class U, class Consumer>
ZENITH_FN bool as_group(Consumer& to, unsigned width, const std::byte* record, const std::byte* words,
                        std::uint64_t block) {
  if (width > most_group_width) return false;
  if constexpr (requires { to.takes_groups(width); }) {
    if (!to.takes_groups(width)) return false;
  }
  const narrow_group group{words, width, block * packed_block_items};
  const std::byte* references = record + 8;
  auto rest = to.group(group, references);
  const auto own = static_cast<std::uint8_t>(width);
  const std::uint8_t widths[packed_miniblocks] = {own, own, own, own};
  for (; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<unsigned>(__builtin_ctz(rest));
    constexpr bool wide = most_group_width > narrow_bits<U>;
    unpack_words<U, wide>(own_unpackers<U, wide>{}, widths, group.block(slot),
                          [&](const packed_tile<U>& tile, unsigned at) ZENITH_INLINE_LAMBDA {
                            to.template framed<wide>(tile, packed::load<U>(references + slot * sizeof(U)),
                                                     group.first + slot * packed_block_items + at);
                          });
  }
  return true;
}

template <class U, class Consumer>
ZENITH_FN void for_frames(const packed_blocks& of, Consumer& to) {
  for_groups<U>(
      of,
      [&](unsigned width, const std::byte* record, const std::byte* words, std::uint64_t block) ZENITH_INLINE_LAMBDA {
        if constexpr (is_group_consumer<Consumer>) return as_group<U>(to, width, record, words, block);
        return false;
      },
      [&](const group_of_blocks<U>& group, const std::byte* words, std::uint64_t block) ZENITH_INLINE_LAMBDA {
        if constexpr (is_mixed_consumer<Consumer>) {
          return to.group(mixed_group{{words, group.width[0]}, group.widest, block * packed_block_items},
                          group.references);
        }
        return all_blocks;
      },
      [&](const auto& unpackers, const std::uint8_t* width, const std::byte* words, std::uint64_t block, U reference)
          ZENITH_INLINE_LAMBDA {
            if constexpr (requires { to.skips(reference, reference); }) {
              if (to.skips(reference, most_of<U>(width))) return words + payload_bytes(width);
            }
            return unpack_words<U, false>(unpackers, width, words,
                                          [&](const packed_tile<U>& tile, unsigned at) ZENITH_INLINE_LAMBDA {
                                            to.template framed<false>(tile, reference, block * packed_block_items + at);
                                          });
          },
      [&](const std::uint8_t* width, const std::byte* words, std::uint64_t block, U reference) ZENITH_INLINE_LAMBDA {
        return unpack_words<U, true>(width, words, [&](const packed_tile<U>& tile, unsigned at) ZENITH_INLINE_LAMBDA {
          to.template framed<true>(tile, reference, block * packed_block_items + at);
        });
      },
      [&](const std::uint8_t* width, const std::byte* words, std::uint64_t block, U reference) ZENITH_INLINE_LAMBDA {
        return unpack_patched<U>(*of.column, block, width, words,
                                 [&](const packed_tile<U>& tile, unsigned at) ZENITH_INLINE_LAMBDA {
                                   to.template framed<true>(tile, reference, block * packed_block_items + at);
                                 });
      });
}

#if defined(ZENITH_ISA_AVX512)

/// Each lane's sum of itself and all lanes before it. A shift within pairs of lanes runs on another port than the
/// permutations.
ZENITH_FN __m512i running_sums(__m512i x, std::uint32_t) {
  x = _mm512_add_epi32(x, _mm512_slli_epi64(x, 32));
  x = _mm512_add_epi32(x, _mm512_maskz_shuffle_epi32(0xcccc, x, _MM_PERM_BBAA));
  const __m512i third = _mm512_setr_epi32(0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 11, 11, 11, 11);
  x = _mm512_add_epi32(x, _mm512_maskz_permutexvar_epi32(0xf0f0, third, x));
  return _mm512_add_epi32(x, _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), x));
}
ZENITH_FN __m512i running_sums(__m512i x, std::uint64_t) {
  x = _mm512_add_epi64(x, _mm512_bslli_epi128(x, 8));
  x = _mm512_add_epi64(x, _mm512_maskz_permutex_epi64(0xcc, x, 0x55));
  return _mm512_add_epi64(x, _mm512_maskz_permutexvar_epi64(0xf0, _mm512_set1_epi64(3), x));
}
ZENITH_FN __m512i last_lane(__m512i x, std::uint32_t) { return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), x); }
ZENITH_FN __m512i last_lane(__m512i x, std::uint64_t) { return _mm512_permutexvar_epi64(_mm512_set1_epi64(7), x); }

#else

ZENITH_FN __m256i running_sums(__m256i x, std::uint32_t) {
  x = _mm256_add_epi32(x, _mm256_slli_epi64(x, 32));
  x = _mm256_add_epi32(x, _mm256_slli_si256(_mm256_shuffle_epi32(x, 0x55), 8));
  return _mm256_add_epi32(x, _mm256_permute2x128_si256(x, _mm256_shuffle_epi32(x, 0xff), 0x28));
}
ZENITH_FN __m256i running_sums(__m256i x, std::uint64_t) {
  x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
  return _mm256_add_epi64(x, _mm256_permute2x128_si256(x, _mm256_shuffle_epi32(x, 0xee), 0x28));
}
ZENITH_FN __m256i last_lane(__m256i x, std::uint32_t) { return _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7)); }
ZENITH_FN __m256i last_lane(__m256i x, std::uint64_t) { return _mm256_permute4x64_epi64(x, 0xff); }

#endif

/// The values behind words that are differences: a running sum over the block. Lane l of a register also lies l + 1
/// references beyond the value before it: `ramp`.
template <class U>
class integrator {
 public:
  using batch = vector_of<U>;

  ZENITH_FN integrator(U base, U reference)
      : ramp_(running_sums(batch(reference), U{})), before_(ramp_ + batch(base)) {}

  ZENITH_FN batch operator()(const batch& words) {
    const batch values = batch(running_sums(words, U{})) + before_;
    before_ = batch(last_lane(values, U{})) + ramp_;
    return values;
  }

 private:
  batch ramp_;
  batch before_;
};

/// Takes a tile of differences, hands on a tile of values.
template <class U, class Consumer>
struct integrated_tiles {
  Consumer& to;
  std::uint64_t first;
  integrator<U> integrate;

  ZENITH_FN void operator()(const packed_tile<U>& tile, unsigned at) {
    packed_tile<U> values;
    for (unsigned i = 0; i < tile_vectors; ++i) values.v[i] = integrate(tile.v[i]);
    to.values(values, first + at);
  }
};

template <class U, class Consumer>
ZENITH_FN void for_deltas(const packed_blocks& of, Consumer& to) {
  const packed_layout& in = *of.column;
  // the same for all ways to unpack
  const auto integrated = [&](std::uint64_t block, U reference) ZENITH_INLINE_LAMBDA {
    return integrated_tiles<U, Consumer>{to, block * packed_block_items,
                                         integrator<U>(packed::base_of<U>(in, block), reference)};
  };
  for_groups<U>(
      of, [](unsigned, const std::byte*, const std::byte*, std::uint64_t) ZENITH_INLINE_LAMBDA { return false; },
      [](const group_of_blocks<U>&, const std::byte*, std::uint64_t) ZENITH_INLINE_LAMBDA { return all_blocks; },
      [&](const auto& unpackers, const std::uint8_t* width, const std::byte* words, std::uint64_t block, U reference)
          ZENITH_INLINE_LAMBDA {
            return unpack_words<U, false>(unpackers, width, words, integrated(block, reference));
          },
      [&](const std::uint8_t* width, const std::byte* words, std::uint64_t block, U reference)
          ZENITH_INLINE_LAMBDA { return unpack_words<U, true>(width, words, integrated(block, reference)); },
      [&](const std::uint8_t* width, const std::byte* words, std::uint64_t block, U reference)
          ZENITH_INLINE_LAMBDA { return unpack_patched<U>(in, block, width, words, integrated(block, reference)); });
}

#endif

template <class U, class Consumer>
ZENITH_FN void for_plain(const packed_layout& in, std::uint64_t begin, std::uint64_t end, Consumer& to) {
  const std::byte* from = in.bytes + in.payload_at + begin * packed_block_items * sizeof(U);
  for (auto at = begin * packed_block_items; at < end * packed_block_items; at += tile_items<U>) {
    packed_tile<U> tile;
    for (unsigned i = 0; i < tile_vectors; ++i, from += sizeof(vector_of<U>)) {
      prefetch_ahead(from);
      __builtin_memcpy(&tile.v[i], from, sizeof tile.v[i]);
    }
    to.values(tile, at);
  }
}

/// Encodings whose blocks are decoded into an L1 buffer.
template <class U, class Consumer>
ZENITH_FN void for_buffers(const packed_layout& in, std::uint64_t begin, std::uint64_t end, Consumer& to) {
  buffered_blocks<U> blocks(in, begin);
  U values[packed_block_items + buffered_blocks<U>::slack];
  for (auto block = begin; block < end; ++block) {
    blocks.decode(block, values);
    const std::uint64_t first = block * packed_block_items;
    for (unsigned i = 0; i < packed_block_items; i += tile_items<U>) to.values(loaded(values + i), first + i);
  }
}

template <class U, class Consumer>
ZENITH_FN void for_tiles(const packed_blocks& of, Consumer& to) {
  const packed_layout& in = *of.column;
  if (in.kind == encoding::plain) return for_plain<U>(in, of.begin, of.end, to);
#if !defined(ZENITH_ISA_SSE2)
  if (in.kind == encoding::frame_of_reference) return for_frames<U>(of, to);
  if (in.kind == encoding::delta) return for_deltas<U>(of, to);
#endif
  for_buffers<U>(in, of.begin, of.end, to);
}

// buffered_blocks: encodings whose blocks are decoded into an L1 buffer, one after the other; with SSE2, which cannot
// shift each lane by its own count, also frame_of_reference and delta. The loops are plain: what a block has in common
// stands outside of them, so that the compiler makes vectors of them. Included by a unit that is compiled for one
// instruction set, inside its namespace.

/// Where the words of four values of null_suppression_variable begin, by their codes.
struct four_words {
  std::uint8_t begin[4];
  std::uint8_t bytes;  ///< of all four
};

template <class U>
constexpr auto make_four_words() {
  struct {
    four_words of[256];
  } made{};
  for (unsigned codes = 0; codes < 256; ++codes) {
    unsigned at = 0;
    for (unsigned i = 0; i < 4; ++i) {
      made.of[codes].begin[i] = static_cast<std::uint8_t>(at);
      const unsigned code = codes >> (2 * i) & 3;
      at += sizeof(U) == 4 ? code + 1 : 1U << code;
    }
    made.of[codes].bytes = static_cast<std::uint8_t>(at);
  }
  return made;
}
template <class U>
constexpr auto words_by_codes = make_four_words<U>();

/// Bits of a word of null_suppression_variable that are not of its value, by its code.
template <class U>
constexpr std::uint8_t unused_bits[4] = {word_bits<U> - 8, word_bits<U> - 16,
                                         static_cast<std::uint8_t>(word_bits<U> - (sizeof(U) == 4 ? 24 : 32)), 0};

#if defined(ZENITH_ISA_SSE2)

/// The 32 words of a miniblock of a width that is known here: each is a load, a shift and a mask by constants.
template <unsigned Width>
void unpack_miniblock(const std::byte* words, std::uint32_t* __restrict out) {
#pragma GCC unroll 32
  for (unsigned i = 0; i < packed_miniblock_items; ++i) {
    out[i] = Width == 0 ? 0 : packed::bits_at<std::uint32_t>(words, i * Width, Width);
  }
}

struct miniblock_functions {
  void (*of[33])(const std::byte* words, std::uint32_t* __restrict out);
};
template <unsigned... Widths>
constexpr miniblock_functions make_miniblock_functions(std::integer_sequence<unsigned, Widths...>) {
  return {{unpack_miniblock<Widths>...}};
}
constexpr auto unpack_miniblocks = make_miniblock_functions(std::make_integer_sequence<unsigned, 33>{});

#endif

template <class U>
class buffered_blocks {
 public:
  /// What a run may write behind the last value of a block.
  static constexpr unsigned slack = 64 / sizeof(U);

  ZENITH_FN buffered_blocks(const packed_layout& in, std::uint64_t begin) : in_(in) {
    if (in.kind == encoding::run_length) run_ = packed::run_of(in, begin * packed_block_items);
  }

  /// The next block's values; it is whole. `out` holds slack values more. Not inline: consumers share it.
  __attribute__((noinline)) void decode(std::uint64_t block, U* __restrict out) {
    switch (in_.kind) {
      case encoding::null_suppression_fixed:
        return packed::is_signed(in_.type) ? extend<std::int8_t, std::int16_t, std::int32_t>(block, out)
                                           : extend<std::uint8_t, std::uint16_t, std::uint32_t>(block, out);
      case encoding::null_suppression_variable: return gather(block, out);
      case encoding::run_length: return repeat(block, out);
      case encoding::vertical:
        switch (in_.parameter) {
          case 4: return deal<4>(block, out);
          case 8: return deal<8>(block, out);
          default: return deal<16>(block, out);
        }
#if defined(ZENITH_ISA_SSE2)
      case encoding::frame_of_reference:
      case encoding::delta:
        if constexpr (sizeof(U) == 4) return add_up(block, out);
        static_cast<void>(packed::unpack_block(in_, block, out));
        return;
#endif
      default: break;  // has tiles of its own
    }
  }

 private:
  template <class Stored>
  ZENITH_FN void extend_from(std::uint64_t block, U* __restrict out) const {
    const std::byte* from = in_.bytes + in_.payload_at + block * packed_block_items * sizeof(Stored);
    for (unsigned i = 0; i < packed_block_items; ++i) {
      // a signed byte is a number here: NOLINTNEXTLINE(bugprone-signed-char-misuse)
      out[i] = static_cast<U>(packed::load<Stored>(from + i * sizeof(Stored)));
    }
  }
  template <class Byte, class Half, class Word>
  ZENITH_FN void extend(std::uint64_t block, U* __restrict out) const {
    switch (in_.parameter) {
      case 1: return extend_from<Byte>(block, out);
      case 2: return extend_from<Half>(block, out);
      case 4: return extend_from<Word>(block, out);
      default: return extend_from<std::uint64_t>(block, out);
    }
  }

  ZENITH_FN void gather(std::uint64_t block, U* __restrict out) const {
    const std::byte* codes = in_.bytes + in_.codes_at + block * (packed_block_items / 4);
    const std::byte* words = in_.bytes + in_.payload_at + packed::variable_start(in_, block);
    for (unsigned i = 0; i < packed_block_items; i += 4) {
      const auto code = static_cast<unsigned>(*codes++);
      const auto& four = words_by_codes<U>.of[code];
      // what is read too far belongs to other words, or to the padding
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned unused = unused_bits<U>[code >> (2 * j) & 3];
        out[i + j] = static_cast<U>(packed::load<U>(words + four.begin[j]) << unused) >> unused;
      }
      words += four.bytes;
    }
    if (packed::is_signed(in_.type)) {
      for (unsigned i = 0; i < packed_block_items; ++i) out[i] = packed::from_zigzag(out[i]);
    }
  }

  /// A run is written a register at a time, and what is too much is the next one's.
  ZENITH_FN void repeat(std::uint64_t block, U* __restrict out) {
    const std::uint64_t first = block * packed_block_items;
    for (std::uint64_t at = 0;;) {
      const auto value = packed::load<U>(in_.bytes + in_.payload_at + run_ * sizeof(U));
      const std::uint64_t behind = packed::run_end(in_, run_) - first;
      const std::uint64_t end = behind < packed_block_items ? behind : packed_block_items;
      for (; at < end; at += slack) {
        for (unsigned i = 0; i < slack; ++i) out[at + i] = value;
      }
      at = end;
      if (behind <= packed_block_items) ++run_;
      if (end == packed_block_items) return;
    }
  }

#if defined(ZENITH_ISA_SSE2)

  /// References and differences of 32 bits.
  ZENITH_FN void add_up(std::uint64_t block, U* __restrict out) const {
    const auto place = packed::place_of<std::uint32_t>(in_, block);
    const std::byte* words = in_.bytes + in_.payload_at + place.word * 4;
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      unpack_miniblocks.of[place.width[m]](words, out + m * packed_miniblock_items);
      words += place.width[m] * 4;
    }
    const auto patches = packed::patches_of(in_, block);
    for (unsigned p = 0; p < patches.count; ++p) {
      out[packed::patch_position(in_, patches.first + p)] = packed::patch_value<U>(in_, patches.first + p);
    }
    if (in_.kind == encoding::frame_of_reference) {
      for (unsigned i = 0; i < packed_block_items; ++i) out[i] += place.reference;
    } else {
      U value = packed::base_of<U>(in_, block);
      for (unsigned i = 0; i < packed_block_items; ++i) out[i] = value += place.reference + out[i];
    }
  }

#endif

  /// The rows of a block: their lanes' bits stand at the same place of words that follow each other. The units are
  /// compiled without vectors of straight code, so that these are said; GCC takes wider ones than there are apart
  /// badly.
  template <unsigned Lanes>
  ZENITH_FN void deal(std::uint64_t block, U* __restrict out) const {
    constexpr unsigned widest = vector_of<U>::size < 4 ? 4 : vector_of<U>::size;
    constexpr unsigned items = Lanes < widest ? Lanes : widest;
    typedef std::uint32_t some_words __attribute__((vector_size(4 * items)));
    typedef U some_values __attribute__((vector_size(sizeof(U) * items)));
    constexpr unsigned blocks = packed_miniblock_items * Lanes / packed_block_items;
    constexpr unsigned rows = packed_block_items / Lanes;
    const auto place = packed::place_of<U>(in_, block / blocks * blocks);
    const unsigned width = place.width[0];
    if (width == 0) {
      // there may be no words to read, and less padding than two rows of them
      for (unsigned i = 0; i < packed_block_items; ++i) out[i] = place.reference;
      return;
    }
    const U mask = packed::low_mask<U>(width);
    const std::byte* words = in_.bytes + in_.payload_at + place.word * 4;
    // not by value: such vectors are handed over in ways that differ between instruction sets
    const auto load = [](const std::byte* from, some_values& to) ZENITH_INLINE_LAMBDA {
      some_words loaded;
      __builtin_memcpy(&loaded, from, sizeof loaded);
      to = __builtin_convertvector(loaded, some_values);
    };
    unsigned bit = static_cast<unsigned>(block % blocks) * rows * width;
    for (unsigned row = 0; row < rows; ++row, bit += width) {
      const std::byte* low = words + bit / 32 * (4 * Lanes);
      const unsigned shift = bit % 32;
      for (unsigned lane = 0; lane < Lanes; lane += items, low += sizeof(some_words), out += items) {
        // behind the last word there is padding, of as much as a row of words
        some_values values;
        some_values next;
        load(low, values);
        load(low + 4 * Lanes, next);
        values = values >> shift | next << 1 << (31 - shift);
        if (sizeof(U) == 8 && shift + width > 64) {
          load(low + 8 * Lanes, next);
          values |= next << (word_bits<U> - 1 - shift) << 1;
        }
        values = (values & mask) + place.reference;
        __builtin_memcpy(out, &values, sizeof values);
      }
    }
  }

  const packed_layout& in_;
  std::uint64_t run_ = 0;  ///< run_length: the one that the next block begins with
};

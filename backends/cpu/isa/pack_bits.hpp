// The words of a miniblock in as many bits each as its width says. Included by a unit that is compiled for one
// instruction set, inside its namespace.

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
    for (const U value : unpacked) bits.append(value, width);
  } else {
    for (unsigned i = 0; i < packed_miniblock_items; i += 2) {
      bits.append(unpacked[i] | std::uint64_t{unpacked[i + 1]} << width, 2 * width);
    }
  }
  bits.finish();
}

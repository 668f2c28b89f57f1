// A row: one entry in every SIMD lane. Included by a unit that is compiled for one instruction set, inside its
// namespace.

using word_batch = xsimd::batch<std::uint64_t, arch>;
constexpr std::uint64_t row_lanes = word_batch::size;

/// Entries of 32-bit images: one 64-bit word a lane, larger is better.
struct packed_row {
  word_batch word;

  ZENITH_FN static packed_row load(const std::uint64_t* from, std::uint64_t) {
    return {word_batch::load_unaligned(from)};
  }
  ZENITH_FN void store(std::uint64_t* to, std::uint64_t) const { word.store_unaligned(to); }

  /// Leaves the better of each pair in a.
  ZENITH_FN static void exchange(packed_row& a, packed_row& b) {
    const auto high = xsimd::max(a.word, b.word);
    b.word = xsimd::min(a.word, b.word);
    a.word = high;
  }
  ZENITH_FN static packed_row better(const packed_row& a, const packed_row& b) { return {xsimd::max(a.word, b.word)}; }
};

/// Entries of 64-bit images: the images in one word, the complemented indices in another, `plane` words further on.
struct split_row {
  word_batch high;
  word_batch low;

  ZENITH_FN static split_row load(const std::uint64_t* from, std::uint64_t plane) {
    return {word_batch::load_unaligned(from), word_batch::load_unaligned(from + plane)};
  }
  ZENITH_FN void store(std::uint64_t* to, std::uint64_t plane) const {
    high.store_unaligned(to);
    low.store_unaligned(to + plane);
  }

  ZENITH_FN static auto is_worse(const split_row& a, const split_row& b) {
    return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
  }
  ZENITH_FN static void exchange(split_row& a, split_row& b) {
    const auto swap = is_worse(a, b);
    const split_row best{xsimd::select(swap, b.high, a.high), xsimd::select(swap, b.low, a.low)};
    b = {xsimd::select(swap, a.high, b.high), xsimd::select(swap, a.low, b.low)};
    a = best;
  }
  ZENITH_FN static split_row better(const split_row& a, const split_row& b) {
    const auto swap = is_worse(a, b);
    return {xsimd::select(swap, b.high, a.high), xsimd::select(swap, b.low, a.low)};
  }
};

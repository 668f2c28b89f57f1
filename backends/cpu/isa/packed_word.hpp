// A packed word and a register of them: its bits, masks, and tables of what is known of each width. Included by a unit
// that is compiled for one instruction set, inside its namespace.

template <class U>
using vector_of = xsimd::batch<U, arch>;

template <class U>
inline constexpr unsigned word_bits = sizeof(U) * 8;

/// Turns the bits of values of either sign into unsigned words in the same order.
template <class T>
inline constexpr std::make_unsigned_t<T> order_bias = std::is_signed_v<T>
                                                          ? std::make_unsigned_t<T>(1) << (sizeof(T) * 8 - 1)
                                                          : 0;

template <class U>
struct mask_table {
  U of[word_bits<U> + 1];
};
template <class U>
constexpr mask_table<U> make_masks() {
  mask_table<U> made{};
  for (unsigned width = 1; width <= word_bits<U>; ++width)
    made.of[width] = static_cast<U>(~U{0} >> (word_bits<U> - width));
  return made;
}
template <class U>
constexpr mask_table<U> masks = make_masks<U>();

#if !defined(ZENITH_ISA_SSE2)

/// What is known of each width in [Least, Most].
template <class Code, unsigned Least, unsigned Most>
struct width_table {
  Code of[Most - Least + 1];

  ZENITH_FN constexpr const Code& operator[](std::uint64_t width) const { return of[width - Least]; }
};
template <unsigned Least, unsigned Most, class Code>
constexpr width_table<Code, Least, Most> make_width_table(Code (*make)(unsigned)) {
  width_table<Code, Least, Most> made{};
  for (unsigned width = Least; width <= Most; ++width) made.of[width - Least] = make(width);
  return made;
}

#endif

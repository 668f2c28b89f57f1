// The values of a block of 128 in registers, or their differences. Included by a unit that is compiled for one
// instruction set, inside its namespace.

template <class U>
inline constexpr unsigned block_vectors = packed_block_items / vector_of<U>::size;
template <class U>
inline constexpr unsigned mini_vectors = packed_miniblock_items / vector_of<U>::size;

template <class U>
struct block_of_vectors {
  vector_of<U> v[block_vectors<U>];
};

/// Asks for eighths [First, First + Count) of the group behind the one at `group`, a sixteenth of them with each
/// `part` < 16, in order of memory. Packing goes over a group several times; each time asks for some of the next, so
/// that memory is never idle.
template <unsigned First, unsigned Count, class U>
ZENITH_FN void ask_for_next_group(const U* group, unsigned part) {
  constexpr unsigned eighth = packed_group_items * sizeof(U) / 8;
  constexpr unsigned bytes = Count * eighth / packed_group_blocks;
  const auto first = reinterpret_cast<std::uintptr_t>(group + packed_group_items) + First * eighth + part * bytes;
#pragma GCC unroll 8
  for (unsigned at = 0; at < bytes; at += 64) _mm_prefetch(reinterpret_cast<const char*>(first + at), _MM_HINT_T0);
}

template <class U>
ZENITH_FN void subtract(block_of_vectors<U>& from, U what) {
  for (unsigned i = 0; i < block_vectors<U>; ++i) from.v[i] -= vector_of<U>(what);
}

template <class U>
ZENITH_FN block_of_vectors<U> values_of(const U* from) {
  block_of_vectors<U> block;
  for (unsigned i = 0; i < block_vectors<U>; ++i) {
    if (i * sizeof(vector_of<U>) % 64 == 0) prefetch_ahead(from + i * vector_of<U>::size);
    block.v[i] = vector_of<U>::load_unaligned(from + i * vector_of<U>::size);
  }
  return block;
}

/// Differences to the value before; the first is the second's, so that it changes no minimum.
template <class U>
ZENITH_FN block_of_vectors<U> steps_of(const U* from) {
  constexpr unsigned lanes = vector_of<U>::size;
  U before[lanes];
  before[0] = static_cast<U>(from[0] - (from[1] - from[0]));
  for (unsigned i = 1; i < lanes; ++i) before[i] = from[i - 1];
  auto block = values_of(from);
  block.v[0] -= vector_of<U>::load_unaligned(before);
  for (unsigned i = 1; i < block_vectors<U>; ++i) block.v[i] -= vector_of<U>::load_unaligned(from + i * lanes - 1);
  return block;
}

template <class U>
struct all_but_first {
  U of[vector_of<U>::size];
};
template <class U>
constexpr all_but_first<U> make_all_but_first() {
  all_but_first<U> made{};
  for (unsigned i = 1; i < vector_of<U>::size; ++i) made.of[i] = static_cast<U>(~U{0});
  return made;
}
template <class U>
constexpr all_but_first<U> behind_base = make_all_but_first<U>();

/// The first word of a delta block is 0: its base stands for it.
template <class U>
ZENITH_FN void clear_first(vector_of<U>& words) {
  words = words & vector_of<U>::load_unaligned(behind_base<U>.of);
}

// Sorting a few entries without a branch: the leaves of a quicksort, where each mispredicted comparison would cost more
// than a whole step of a network. Columns of eight registers are sorted by exchanging whole registers and transposed
// into runs; bitonic merges join these. Included by a unit that is compiled for one instruction set, inside its
// namespace.

#if defined(ZENITH_ISA_AVX512)

/// Lane i takes what stands `Distance` lanes away, inside groups of twice as many lanes.
template <unsigned Distance>
ZENITH_FN __m512i swap_lanes(__m512i word) {
  if constexpr (Distance == 4) return _mm512_shuffle_i64x2(word, word, 0x4e);
  if constexpr (Distance == 2) return _mm512_permutex_epi64(word, 0x4e);
  if constexpr (Distance == 1) return _mm512_shuffle_epi32(word, _MM_PERM_BADC);
}

/// The lanes that hold the worse ones of pairs at this distance.
template <unsigned Distance>
constexpr __mmask8 lower_lanes = Distance == 4   ? 0xf0
                                 : Distance == 2 ? 0xcc
                                                 : 0xaa;

ZENITH_FN __m512i reverse_lanes(__m512i word) {
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), word);
}

ZENITH_FN __mmask8 first_lanes(std::uint64_t count) {
  return static_cast<__mmask8>(count >= 8 ? 0xffU : (1U << count) - 1U);
}

ZENITH_FN std::uint64_t left_after(std::uint64_t count, std::uint64_t taken) {
  return count > taken ? count - taken : 0;
}

/// Eight packed entries.
struct packed_eight {
  static constexpr unsigned words = 1;
  __m512i word;

  /// What stands behind the last entry reads as worse than all.
  ZENITH_FN static packed_eight load(const std::uint64_t* from, std::uint64_t count) {
    return {_mm512_maskz_loadu_epi64(first_lanes(count), from)};
  }
  ZENITH_FN void store(std::uint64_t* to, std::uint64_t count) const {
    _mm512_mask_storeu_epi64(to, first_lanes(count), word);
  }

  ZENITH_FN static void exchange(packed_eight& a, packed_eight& b) {
    const __m512i best = _mm512_max_epu64(a.word, b.word);
    b.word = _mm512_min_epu64(a.word, b.word);
    a.word = best;
  }
  template <unsigned Distance>
  ZENITH_FN void exchange_lanes() {
    const __m512i other = swap_lanes<Distance>(word);
    word = _mm512_mask_min_epu64(_mm512_max_epu64(word, other), lower_lanes<Distance>, word, other);
  }
  ZENITH_FN void reverse() { word = reverse_lanes(word); }
};

/// Eight split entries: their images and their complemented indices.
struct split_eight {
  static constexpr unsigned words = 2;
  __m512i high;
  __m512i low;

  ZENITH_FN static split_eight load(const std::uint64_t* from, std::uint64_t count) {
    const __m512i first = _mm512_maskz_loadu_epi64(first_lanes(2 * count), from);
    const __m512i second = _mm512_maskz_loadu_epi64(first_lanes(left_after(2 * count, 8)), from + 8);
    return {_mm512_permutex2var_epi64(first, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), second),
            _mm512_permutex2var_epi64(first, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), second)};
  }
  ZENITH_FN void store(std::uint64_t* to, std::uint64_t count) const {
    const __m512i first = _mm512_permutex2var_epi64(high, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), low);
    const __m512i second = _mm512_permutex2var_epi64(high, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), low);
    _mm512_mask_storeu_epi64(to, first_lanes(2 * count), first);
    _mm512_mask_storeu_epi64(to + 8, first_lanes(left_after(2 * count, 8)), second);
  }

  ZENITH_FN static __mmask8 is_worse(const split_eight& a, const split_eight& b) {
    const auto same = _mm512_cmpeq_epu64_mask(a.high, b.high);
    return _mm512_cmplt_epu64_mask(a.high, b.high) | _mm512_mask_cmplt_epu64_mask(same, a.low, b.low);
  }
  ZENITH_FN void take(__mmask8 where, const split_eight& from) {
    high = _mm512_mask_mov_epi64(high, where, from.high);
    low = _mm512_mask_mov_epi64(low, where, from.low);
  }
  ZENITH_FN static void exchange(split_eight& a, split_eight& b) {
    const auto swapped = is_worse(a, b);
    const split_eight before = a;
    a.take(swapped, b);
    b.take(swapped, before);
  }
  template <unsigned Distance>
  ZENITH_FN void exchange_lanes() {
    const split_eight other{swap_lanes<Distance>(high), swap_lanes<Distance>(low)};
    take(static_cast<__mmask8>(is_worse(*this, other) ^ lower_lanes<Distance>), other);
  }
  ZENITH_FN void reverse() {
    high = reverse_lanes(high);
    low = reverse_lanes(low);
  }
};

/// Lane j of row i becomes lane i of row j.
ZENITH_FN void transpose(__m512i (&row)[8]) {
  __m512i pair[8];
  for (unsigned i = 0; i < 8; i += 2) {
    pair[i] = _mm512_unpacklo_epi64(row[i], row[i + 1]);
    pair[i + 1] = _mm512_unpackhi_epi64(row[i], row[i + 1]);
  }
  // pair[i + odd] holds columns odd, 2 + odd, 4 + odd, 6 + odd of rows i and i + 1
  for (unsigned odd = 0; odd < 2; ++odd) {
    const __m512i early = _mm512_shuffle_i64x2(pair[odd], pair[2 + odd], 0x44);
    const __m512i late = _mm512_shuffle_i64x2(pair[odd], pair[2 + odd], 0xee);
    const __m512i early_below = _mm512_shuffle_i64x2(pair[4 + odd], pair[6 + odd], 0x44);
    const __m512i late_below = _mm512_shuffle_i64x2(pair[4 + odd], pair[6 + odd], 0xee);
    row[odd] = _mm512_shuffle_i64x2(early, early_below, 0x88);
    row[2 + odd] = _mm512_shuffle_i64x2(early, early_below, 0xdd);
    row[4 + odd] = _mm512_shuffle_i64x2(late, late_below, 0x88);
    row[6 + odd] = _mm512_shuffle_i64x2(late, late_below, 0xdd);
  }
}

ZENITH_FN void transpose(packed_eight (&row)[8]) {
  __m512i word[8];
  for (unsigned i = 0; i < 8; ++i) word[i] = row[i].word;
  transpose(word);
  for (unsigned i = 0; i < 8; ++i) row[i].word = word[i];
}

ZENITH_FN void transpose(split_eight (&row)[8]) {
  __m512i high[8];
  __m512i low[8];
  for (unsigned i = 0; i < 8; ++i) {
    high[i] = row[i].high;
    low[i] = row[i].low;
  }
  transpose(high);
  transpose(low);
  for (unsigned i = 0; i < 8; ++i) row[i] = {high[i], low[i]};
}

/// Two sorted runs of half the rows each into one.
template <unsigned Rows, class Eight>
ZENITH_FN void merge_runs_of_rows(Eight* row) {
  for (unsigned i = Rows / 2; i < Rows; ++i) row[i].reverse();
  // the second run backwards: with the first it is a bitonic sequence
  for (unsigned i = 0; i < Rows / 2; ++i) Eight::exchange(row[i], row[Rows - 1 - i]);
  for (unsigned i = 0; i < Rows / 4; ++i) {
    const Eight held = row[Rows / 2 + i];
    row[Rows / 2 + i] = row[Rows - 1 - i];
    row[Rows - 1 - i] = held;
  }
  for (unsigned distance = Rows / 4; distance > 0; distance /= 2) {
    for (unsigned block = 0; block < Rows; block += 2 * distance) {
      for (unsigned i = block; i < block + distance; ++i) Eight::exchange(row[i], row[i + distance]);
    }
  }
  for (unsigned i = 0; i < Rows; ++i) {
    row[i].template exchange_lanes<4>();
    row[i].template exchange_lanes<2>();
    row[i].template exchange_lanes<1>();
  }
}

/// Eight rows into one run.
template <class Eight>
ZENITH_FN void sort_eight_rows(Eight (&row)[8]) {
  // the smallest network for eight: 19 exchanges
  constexpr unsigned char pairs[19][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6},
                                          {3, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 4}, {3, 5},
                                          {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
  for (const auto& [a, b] : pairs) Eight::exchange(row[a], row[b]);
  transpose(row);
  for (unsigned i = 0; i < 8; i += 2) merge_runs_of_rows<2>(row + i);
  for (unsigned i = 0; i < 8; i += 4) merge_runs_of_rows<4>(row + i);
  merge_runs_of_rows<8>(row);
}

template <class Eight>
void sort_few(std::uint64_t* words, std::uint64_t count) {
  Eight row[8];
  for (unsigned i = 0; i < 8; ++i) row[i] = Eight::load(words + i * 8 * Eight::words, left_after(count, i * 8));
  sort_eight_rows(row);
  for (unsigned i = 0; i < 8; ++i) row[i].store(words + i * 8 * Eight::words, left_after(count, i * 8));
}

constexpr few_function sort_few_packed = sort_few<packed_eight>;
constexpr few_function sort_few_split = sort_few<split_eight>;

#else

constexpr few_function sort_few_packed = nullptr;
constexpr few_function sort_few_split = nullptr;

#endif

#include <algorithms/threshold_table/src/part_keys.hpp>

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zenith::detail {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

struct sides {
  u32* keys;
  const u8* codes;
  u32* others;
  std::size_t below_count = 0;
  std::size_t other_count = 0;
};

/// Every key is written to both: which one counts is arithmetic, not a branch. `limit` is from 0 to 256.
void part_some(sides& to, std::size_t from, std::size_t end, u32 limit) {
  auto all = to;
  for (std::size_t i = from; i < end; ++i) {
    const u32 one = all.keys[i];
    all.keys[all.below_count] = one;
    all.others[all.other_count] = one;
    const bool is_below = all.codes[i] < limit;
    all.below_count += is_below ? 1 : 0;
    all.other_count += is_below ? 0 : 1;
  }
  to = all;
}

std::size_t count_some(const u8* codes, std::size_t count, u32 last) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) found += codes[i] <= last ? 1 : 0;
  return found;
}

#if defined(__x86_64__)

#define ZENITH_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))
#define ZENITH_NARROW __attribute__((target("avx2,popcnt")))

ZENITH_WIDE std::size_t count_wide(const u8* codes, std::size_t count, u32 last) {
  const __m512i lasts = _mm512_set1_epi8(static_cast<char>(last));
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    found += static_cast<std::size_t>(_mm_popcnt_u64(_mm512_cmple_epu8_mask(_mm512_loadu_si512(codes + i), lasts)));
  }
  return found + count_some(codes + i, count - i, last);
}

// Lanes that are compressed go to registers first: a compress to memory is microcoded on Zen 4. What a store to the
// front overwrites has been read.
ZENITH_WIDE std::size_t part_wide(sides& to, std::size_t from, std::size_t end, u32 limit) {
  const __m128i lasts = _mm_set1_epi8(static_cast<char>(limit - 1));
  auto all = to;  // in registers
  std::size_t i = from;
  for (; i + 16 <= end; i += 16) {
    const __m512i some = _mm512_loadu_si512(all.keys + i);
    const __mmask16 below =
        _mm_cmple_epu8_mask(_mm_loadu_si128(reinterpret_cast<const __m128i*>(all.codes + i)), lasts);
    const auto others = static_cast<__mmask16>(~below);
    _mm512_storeu_si512(all.keys + all.below_count, _mm512_maskz_compress_epi32(below, some));
    _mm512_storeu_si512(all.others + all.other_count, _mm512_maskz_compress_epi32(others, some));
    const auto found = static_cast<unsigned>(_mm_popcnt_u32(below));
    all.below_count += found;
    all.other_count += 16 - found;
  }
  to = all;
  return i;
}

/// For each of the 256 choices of 8 keys, where they come from.
struct choice_table {
  alignas(64) std::uint8_t lanes[256][8]{};
  constexpr choice_table() {
    for (unsigned chosen = 0; chosen < 256; ++chosen) {
      unsigned at = 0;
      for (unsigned lane = 0; lane < 8; ++lane) {
        if ((chosen >> lane & 1) != 0) lanes[chosen][at++] = static_cast<std::uint8_t>(lane);
      }
    }
  }
};
constexpr choice_table choices;

ZENITH_NARROW std::size_t count_narrow(const u8* codes, std::size_t count, u32 last) {
  const __m256i lasts = _mm256_set1_epi8(static_cast<char>(last));
  std::size_t found = 0;
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
    const __m256i is_counted = _mm256_cmpeq_epi8(_mm256_max_epu8(some, lasts), lasts);
    found += static_cast<std::size_t>(_mm_popcnt_u32(static_cast<unsigned>(_mm256_movemask_epi8(is_counted))));
  }
  return found + count_some(codes + i, count - i, last);
}

ZENITH_NARROW std::size_t part_narrow(sides& to, std::size_t from, std::size_t end, u32 limit) {
  const __m128i lasts = _mm_set1_epi8(static_cast<char>(limit - 1));
  auto all = to;
  std::size_t i = from;
  for (; i + 8 <= end; i += 8) {
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all.keys + i));
    const __m128i here = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(all.codes + i));
    const __m128i is_below = _mm_cmpeq_epi8(_mm_max_epu8(here, lasts), lasts);
    const auto below = static_cast<unsigned>(_mm_movemask_epi8(is_below)) & 255U;
    const auto store = [&](u32 * at, unsigned chosen) __attribute__((target("avx2,popcnt"), always_inline)) {
      const __m256i lanes =
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(choices.lanes[chosen])));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_permutevar8x32_epi32(some, lanes));
      return static_cast<unsigned>(_mm_popcnt_u32(chosen));
    };
    all.below_count += store(all.keys + all.below_count, below);
    all.other_count += store(all.others + all.other_count, ~below & 255U);
  }
  to = all;
  return i;
}

#undef ZENITH_WIDE
#undef ZENITH_NARROW

#endif

/// The number of codes that are at most `last`, which is at most 255.
using counting = std::size_t (*)(const u8* codes, std::size_t count, u32 last);
/// Parts a beginning of keys from … end - 1 at the codes below `limit`, from 1 to 256, and returns its end.
using beginning = std::size_t (*)(sides& to, std::size_t from, std::size_t end, u32 limit);

std::size_t part_none(sides& /*to*/, std::size_t from, std::size_t /*end*/, u32 /*limit*/) { return from; }

/// The code of the element with a rank, and its rank among those with its code.
struct ranked_code {
  u32 code;
  std::size_t rank;
};

/// By counting in wide registers, once for each bit.
template <counting Count>
ranked_code code_at(const u8* codes, std::size_t count, std::size_t rank) {
  ranked_code found{0, rank};
  for (u32 bit = 128; bit > 0; bit /= 2) {
    const std::size_t below = Count(codes, count, (found.code | bit) - 1);
    if (below <= rank) found = {found.code | bit, rank - below};
  }
  return found;
}
/// By a histogram.
template <>
ranked_code code_at<count_some>(const u8* codes, std::size_t count, std::size_t rank) {
  std::array<u32, 256> counts{};
  for (std::size_t i = 0; i < count; ++i) ++counts[codes[i]];
  ranked_code found{0, rank};
  while (found.rank >= counts[found.code]) found.rank -= counts[found.code++];
  return found;
}

/// Where so many with the code stand before.
template <counting Count>
std::size_t place_of(const u8* codes, std::size_t count, const ranked_code& of) {
  constexpr std::size_t together = 64;
  std::size_t rank = of.rank;
  std::size_t i = 0;
  for (; i + together <= count; i += together) {
    const std::size_t below = of.code == 0 ? 0 : Count(codes + i, together, of.code - 1);
    const std::size_t here = Count(codes + i, together, of.code) - below;
    if (here > rank) break;
    rank -= here;
  }
  while (codes[i] != of.code || rank-- > 0) ++i;
  return i;
}

template <counting Count, beginning Begin>
void part_keys(u32* keys, const u8* codes, std::size_t count, std::size_t first, u32* others) {
  const auto cut = code_at<Count>(codes, count, first);
  const std::size_t place = cut.rank == 0 ? 0 : place_of<Count>(codes, count, cut);
  sides to{keys, codes, others};
  part_some(to, Begin(to, 0, place, cut.code + 1), place, cut.code + 1);
  const std::size_t done = cut.code == 0 ? place : Begin(to, place, count, cut.code);
  part_some(to, done, count, cut.code);
  std::copy_n(others, to.other_count, keys + to.below_count);
}

}  // namespace

std::span<const part_function> part_functions() {
#if defined(__x86_64__)
  static constexpr part_function all[] = {part_keys<count_wide, part_wide>, part_keys<count_narrow, part_narrow>,
                                          part_keys<count_some, part_none>};
  static const std::size_t first = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0
                                       ? 0
                                   : __builtin_cpu_supports("avx2") != 0 ? 1
                                                                         : 2;
#else
  static constexpr part_function all[] = {part_keys<count_some, part_none>};
  constexpr std::size_t first = 0;
#endif
  return std::span(all).subspan(first);
}

}  // namespace zenith::detail

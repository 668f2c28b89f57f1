#include <algorithms/threshold_table/src/part_keys.hpp>

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;

struct sides {
  u32* keys;
  u32* others;
  std::size_t below_count = 0;
  std::size_t other_count = 0;
};

/// Every key is written to both: which one counts is arithmetic, not a branch.
void part_some(sides& to, std::size_t from, std::size_t end, u32 limit) {
  auto all = to;
  for (std::size_t i = from; i < end; ++i) {
    const u32 one = all.keys[i];
    all.keys[all.below_count] = one;
    all.others[all.other_count] = one;
    const bool is_below = one < limit;
    all.below_count += is_below ? 1 : 0;
    all.other_count += is_below ? 0 : 1;
  }
  to = all;
}

#if defined(__x86_64__)

// Lanes that are compressed go to registers first: a compress to memory is microcoded on Zen 4. What a store to the
// front overwrites has been read.
__attribute__((target("avx512f,popcnt"))) std::size_t part_wide(sides& to, std::size_t count, u32 limit) {
  const __m512i limits = _mm512_set1_epi32(static_cast<int>(limit));
  auto all = to;  // in registers
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m512i some = _mm512_loadu_si512(all.keys + i);
    const __mmask16 below = _mm512_cmplt_epu32_mask(some, limits);
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

__attribute__((target("avx2,popcnt"))) std::size_t part_narrow(sides& to, std::size_t count, u32 limit) {
  const __m256i limits = _mm256_set1_epi32(static_cast<int>(limit));
  auto all = to;
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all.keys + i));
    const __m256i reach = _mm256_cmpeq_epi32(_mm256_max_epu32(some, limits), some);
    const auto others = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(reach)));
    const auto store = [&](u32 * at, unsigned chosen) __attribute__((target("avx2,popcnt"), always_inline)) {
      const __m256i lanes =
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(choices.lanes[chosen])));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_permutevar8x32_epi32(some, lanes));
      return static_cast<unsigned>(_mm_popcnt_u32(chosen));
    };
    all.below_count += store(all.keys + all.below_count, ~others & 255U);
    all.other_count += store(all.others + all.other_count, others);
  }
  to = all;
  return i;
}

#endif

/// Parts a beginning of the keys, and returns how many they are.
using beginning = std::size_t (*)(sides& to, std::size_t count, u32 limit);

std::size_t part_none(sides& /*to*/, std::size_t /*count*/, u32 /*limit*/) { return 0; }

template <beginning Begin>
std::size_t part_keys(u32* keys, std::size_t count, u32 limit, u32* others) {
  sides to{keys, others};
  const std::size_t done = Begin(to, count, limit);
  part_some(to, done, count, limit);
  std::copy_n(others, to.other_count, keys + to.below_count);
  return to.below_count;
}

}  // namespace

std::span<const part_function> part_functions() {
#if defined(__x86_64__)
  static constexpr part_function all[] = {part_keys<part_wide>, part_keys<part_narrow>, part_keys<part_none>};
  static const std::size_t first = __builtin_cpu_supports("avx512f") != 0 ? 0
                                   : __builtin_cpu_supports("avx2") != 0  ? 1
                                                                          : 2;
#else
  static constexpr part_function all[] = {part_keys<part_none>};
  constexpr std::size_t first = 0;
#endif
  return std::span(all).subspan(first);
}

}  // namespace zenith::detail

#include <algorithms/threshold_table/src/part_keys.hpp>

#include <algorithm>
#include <array>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace zenith::detail {
namespace {

using u64 = std::uint64_t;

struct sides {
  u64* keys;
  u64* between;
  u64* above;
  std::size_t below_count = 0;
  std::size_t between_count = 0;
  std::size_t above_count = 0;
};

/// Every key is written to all three: which one counts is arithmetic, not a branch.
void part_some(sides& to, std::size_t from, std::size_t end, u64 low, u64 high) {
  for (std::size_t i = from; i < end; ++i) {
    const u64 one = to.keys[i];
    to.keys[to.below_count] = one;
    to.between[to.between_count] = one;
    to.above[to.above_count] = one;
    const bool is_below = one < low;
    const bool is_above = one >= high;
    to.below_count += is_below ? 1 : 0;
    to.above_count += is_above ? 1 : 0;
    to.between_count += is_below || is_above ? 0 : 1;
  }
}

#if defined(__x86_64__)

// Lanes that are compressed go to registers first: a compress to memory is microcoded on Zen 4. What a store to the
// front overwrites has been read.
__attribute__((target("avx512f,popcnt"))) std::size_t part_wide(sides& to, std::size_t count, u64 low, u64 high) {
  const __m512i lows = _mm512_set1_epi64(static_cast<long long>(low));
  const __m512i highs = _mm512_set1_epi64(static_cast<long long>(high));
  auto all = to;  // in registers
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m512i some = _mm512_loadu_si512(all.keys + i);
    const __mmask8 below = _mm512_cmplt_epu64_mask(some, lows);
    const __mmask8 above = _mm512_cmpge_epu64_mask(some, highs);
    const auto between = static_cast<__mmask8>(~(below | above));
    _mm512_storeu_si512(all.keys + all.below_count, _mm512_maskz_compress_epi64(below, some));
    _mm512_storeu_si512(all.between + all.between_count, _mm512_maskz_compress_epi64(between, some));
    _mm512_storeu_si512(all.above + all.above_count, _mm512_maskz_compress_epi64(above, some));
    all.below_count += static_cast<unsigned>(_mm_popcnt_u32(below));
    all.between_count += static_cast<unsigned>(_mm_popcnt_u32(between));
    all.above_count += static_cast<unsigned>(_mm_popcnt_u32(above));
  }
  to = all;
  return i;
}

/// For each of the 16 choices of 4 keys, where their halves come from.
struct choice_table {
  alignas(32) std::int32_t halves[16][8]{};
  constexpr choice_table() {
    for (int chosen = 0; chosen < 16; ++chosen) {
      int at = 0;
      for (int lane = 0; lane < 4; ++lane) {
        if ((chosen >> lane & 1) == 0) continue;
        halves[chosen][at++] = 2 * lane;
        halves[chosen][at++] = 2 * lane + 1;
      }
    }
  }
};
constexpr choice_table choices;

__attribute__((target("avx2,popcnt"))) std::size_t part_narrow(sides& to, std::size_t count, u64 low, u64 high) {
  const __m256i sign = _mm256_set1_epi64x(std::numeric_limits<long long>::min());
  const __m256i lows = _mm256_xor_si256(_mm256_set1_epi64x(static_cast<long long>(low)), sign);
  const __m256i highs = _mm256_xor_si256(_mm256_set1_epi64x(static_cast<long long>(high)), sign);
  auto all = to;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all.keys + i));
    const __m256i ordered = _mm256_xor_si256(some, sign);
    const auto below =
        static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(lows, ordered))));
    const auto under =
        static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(highs, ordered))));
    const unsigned above = ~under & 15U;
    const unsigned between = under & ~below;
    const auto store = [&](u64 * at, unsigned chosen) __attribute__((target("avx2,popcnt"), always_inline)) {
      const __m256i halves = _mm256_load_si256(reinterpret_cast<const __m256i*>(choices.halves[chosen]));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_permutevar8x32_epi32(some, halves));
      return static_cast<unsigned>(_mm_popcnt_u32(chosen));
    };
    all.below_count += store(all.keys + all.below_count, below & under);
    all.between_count += store(all.between + all.between_count, between);
    all.above_count += store(all.above + all.above_count, above);
  }
  to = all;
  return i;
}

__attribute__((target("avx512f"))) u64 key_of_rank_wide(const u64* keys, std::size_t count, std::size_t rank) {
  constexpr std::size_t most = few_keys / 8;
  __m512i some[most];
  __m512i below[most];  // for each of them, how many are below it
  const std::size_t used = (count + 7) / 8;
  const __m512i one = _mm512_set1_epi64(1);
  for (std::size_t v = 0; v < used; ++v) {
    const auto valid = static_cast<__mmask8>(count - 8 * v >= 8 ? 0xffU : (1U << (count - 8 * v)) - 1U);
    some[v] = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), valid, keys + 8 * v);
    below[v] = _mm512_setzero_si512();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const __m512i other = _mm512_set1_epi64(static_cast<long long>(keys[i]));
    for (std::size_t v = 0; v < used; ++v) {
      below[v] = _mm512_mask_add_epi64(below[v], _mm512_cmpgt_epu64_mask(some[v], other), below[v], one);
    }
  }
  std::size_t found = 0;
  const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(rank));
  for (std::size_t v = 0; v < used; ++v) {
    const auto here = static_cast<unsigned>(_mm512_cmpeq_epi64_mask(below[v], wanted));
    if (here != 0) found = 8 * v + static_cast<unsigned>(__builtin_ctz(here));
    if (here != 0) break;
  }
  return keys[found];
}

#endif

/// Parts a beginning of the keys, and returns how many they are.
using beginning = std::size_t (*)(sides& to, std::size_t count, u64 low, u64 high);

std::size_t part_none(sides& /*to*/, std::size_t /*count*/, u64 /*low*/, u64 /*high*/) { return 0; }

template <beginning Begin>
part_sizes part_keys(u64* keys, std::size_t count, u64 low, u64 high, u64* between, u64* above) {
  sides to{keys, between, above};
  const std::size_t done = Begin(to, count, low, high);
  part_some(to, done, count, low, high);
  std::copy_n(between, to.between_count, keys + to.below_count);
  std::copy_n(above, to.above_count, keys + to.below_count + to.between_count);
  return {to.below_count, to.between_count};
}

u64 key_of_rank(const u64* keys, std::size_t count, std::size_t rank) {
  std::array<u64, few_keys> copy{};
  std::copy_n(keys, count, copy.begin());
  const auto wanted = copy.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(copy.begin(), wanted, copy.begin() + static_cast<std::ptrdiff_t>(count));
  return *wanted;
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

std::span<const rank_function> rank_functions() {
#if defined(__x86_64__)
  static constexpr rank_function all[] = {key_of_rank_wide, key_of_rank};
  static const std::size_t first = __builtin_cpu_supports("avx512f") != 0 ? 0 : 1;
#else
  static constexpr rank_function all[] = {key_of_rank};
  constexpr std::size_t first = 0;
#endif
  return std::span(all).subspan(first);
}

}  // namespace zenith::detail

#pragma once

// Flags of the lanes of a register: as a mask of bits, and as what a tile keeps of them.

#include <backends/cpu/isa/arch.hpp>

#include <cstdint>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

#if defined(ZENITH_ISA_AVX512)
/// A comparison's mask as an integer. Spelled out: GCC 12 takes a comparison and the widening of its mask for one
/// instruction and, where the result goes to the stack, writes the mask alone and reads whole words.
ZENITH_FN std::uint32_t mask_bits(__mmask8 mask) {
  std::uint32_t bits;
  __asm__("kmovb %1, %0" : "=r"(bits) : "k"(mask));
  return bits;
}
ZENITH_FN std::uint32_t mask_bits(__mmask16 mask) {
  std::uint32_t bits;
  __asm__("kmovw %1, %0" : "=r"(bits) : "k"(mask));
  return bits;
}
#endif

/// One bit a lane: xsimd 8 has no such function.
template <class Flags>
ZENITH_FN std::uint32_t lane_mask(const Flags& flags) {
#if defined(ZENITH_ISA_AVX512)
  return mask_bits(flags.data);
#else
  constexpr bool wide = sizeof(flags.data) / Flags::size == 8;
#if defined(ZENITH_ISA_AVX2)
  __m256i bits;
  __builtin_memcpy(&bits, &flags.data, sizeof bits);
  return static_cast<std::uint32_t>(wide ? _mm256_movemask_pd(_mm256_castsi256_pd(bits))
                                         : _mm256_movemask_ps(_mm256_castsi256_ps(bits)));
#else
  __m128i bits;
  __builtin_memcpy(&bits, &flags.data, sizeof bits);
  return static_cast<std::uint32_t>(wide ? _mm_movemask_pd(_mm_castsi128_pd(bits))
                                         : _mm_movemask_ps(_mm_castsi128_ps(bits)));
#endif
#endif
}

// What a tile keeps of a comparison: under AVX-512 its mask as an integer, which merges with others on more ports.
#if defined(ZENITH_ISA_AVX512)
template <class Flags>
ZENITH_FN std::uint32_t kept(const Flags& flags) {
  return lane_mask(flags);
}
ZENITH_FN std::uint32_t lane_mask(std::uint32_t kept) { return kept; }
ZENITH_FN bool any_lane(std::uint32_t kept) { return kept != 0; }
#else
template <class Flags>
ZENITH_FN Flags kept(const Flags& flags) {
  return flags;
}
template <class Flags>
ZENITH_FN bool any_lane(const Flags& kept) {
  return xsimd::any(kept);
}
#endif

}  // namespace
}  // namespace zenith::cpu_backend::ZENITH_ISA

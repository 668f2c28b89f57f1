#include <perf/bench/fastpfor_peer.hpp>

#include <immintrin.h>
#include <simdbitpacking.h>

namespace zenith_bench {
namespace {

constexpr std::size_t block = 128;

const __m128i* in_registers(const std::uint32_t* words) { return reinterpret_cast<const __m128i*>(words); }

}  // namespace

fastpfor_column::fastpfor_column(std::span<const std::uint32_t> values, unsigned width)
    : blocks_(values.size() / block), width_(width), words_(blocks_ * width * 4) {
  for (std::size_t b = 0; b < blocks_; ++b) {
    FastPForLib::simdpack(values.data() + b * block, reinterpret_cast<__m128i*>(words_.data() + b * width_ * 4),
                          width_);
  }
}

void fastpfor_column::unpack(std::uint32_t* out) const {
  for (std::size_t b = 0; b < blocks_; ++b) {
    FastPForLib::simdunpack(in_registers(words_.data() + b * width_ * 4), out + b * block, width_);
  }
}

void fastpfor_column::unpack_past_caches(std::uint32_t* out) const {
  alignas(64) std::uint32_t tile[block];
  for (std::size_t b = 0; b < blocks_; ++b) {
    FastPForLib::simdunpack(in_registers(words_.data() + b * width_ * 4), tile, width_);
    for (std::size_t i = 0; i < block; i += 4) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + b * block + i), _mm_load_si128(in_registers(tile + i)));
    }
  }
  _mm_sfence();
}

std::uint64_t fastpfor_column::sum() const {
  constexpr std::size_t lanes = 16;  // 32-bit lanes cannot overflow within a block of up to 27 bits
  alignas(64) std::uint32_t tile[block];
  std::uint64_t total[lanes] = {};
  for (std::size_t b = 0; b < blocks_; ++b) {
    FastPForLib::simdunpack(in_registers(words_.data() + b * width_ * 4), tile, width_);
    std::uint32_t sum[lanes] = {};
    for (std::size_t i = 0; i < block; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] += tile[i + lane];
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) total[lane] += sum[lane];
  }
  std::uint64_t all = 0;
  for (const auto one : total) all += one;
  return all;
}

}  // namespace zenith_bench

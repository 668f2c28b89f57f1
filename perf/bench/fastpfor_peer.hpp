#pragma once

/// \file
/// What FastPFor's SIMD kernels do over the same values, as a peer of the benchmark.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zenith_bench {

/// Values in `width` bits each, in FastPFor's own layout for 128-bit SIMD: 128 values at a time, one width for all, no
/// references and no metadata, which is less than any whole codec must do.
class fastpfor_column {
 public:
  /// A multiple of 128 values.
  fastpfor_column(std::span<const std::uint32_t> values, unsigned width);

  /// With the kernels' own stores.
  void unpack(std::uint32_t* out) const;
  /// Through a tile in the L1 cache, and from there past the caches.
  void unpack_past_caches(std::uint32_t* out) const;
  /// Each 128 values are unpacked to the L1 cache and added up from there.
  [[nodiscard]] std::uint64_t sum() const;

 private:
  std::size_t blocks_;
  unsigned width_;
  std::vector<std::uint32_t> words_;
};

}  // namespace zenith_bench

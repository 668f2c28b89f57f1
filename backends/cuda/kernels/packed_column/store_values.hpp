#pragma once

/// \file
/// The query that stores values as they are.

#include <backends/cuda/kernels/packed_column/visit.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Values [begin, end) to out[0], out[1], …
template <class U>
struct store_values {
  static constexpr bool takes_words(encoding /*kind*/) { return false; }

  U* out;
  std::uint64_t begin;
  std::uint64_t end;

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const store_values& of) : of_(of) {}
    [[nodiscard]] ZENITH_DEVICE U bias() const { return 0; }

    ZENITH_DEVICE void take(const tile& values, std::uint64_t first, unsigned /*items*/) const {
      U* const to = of_.out + (first - of_.begin);  // before the beginning where the range begins within the tile
      const bool is_whole = first >= of_.begin && first + tile::size <= of_.end;
      if (is_whole && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        ZENITH_UNROLL
        for (unsigned v = 0; v < tile::vectors; ++v) {
          simt::vector<U, tile::per_vector> one;
          ZENITH_UNROLL
          for (unsigned i = 0; i < tile::per_vector; ++i) one.value[i] = values.item[v * tile::per_vector + i];
          simt::store_vector(to + tile::position_of(v * tile::per_vector), one);
        }
        return;
      }
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::lane_items; ++i) {
        const std::uint64_t at = first + tile::position_of(i);
        if (at >= of_.begin && at < of_.end) simt::store(of_.out + (at - of_.begin), values.item[i]);
      }
    }
    ZENITH_DEVICE void finish_group(std::uint64_t /*group*/) const {}
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& /*partials*/) const {}

   private:
    const store_values& of_;
  };
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// What the queries make of a tile: store, sum, extremes, select.

#include <backends/cuda/kernels/packed_column/visit.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Values [begin, end) to out[0], out[1], …
template <class U>
struct store_values {
  U* out;
  std::uint64_t begin;
  std::uint64_t end;

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const store_values& of) : of_(of) {}

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

/// The sum of the values' images modulo 2^64: of value ^ flip, where `flip` is the sign bit of a signed type narrower
/// than the sum, and 0 else.
template <class U>
struct sum_values {
  U flip;
  std::uint64_t* sum;  ///< was 0

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const sum_values& of) : of_(of) {}

    ZENITH_DEVICE void take(const tile& values, std::uint64_t /*first*/, unsigned items) {
      if (items == tile::size) {
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::lane_items; ++i) sum_ += values.item[i] ^ of_.flip;
      } else {
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::lane_items; ++i) {
          if (tile::position_of(i) < items) sum_ += values.item[i] ^ of_.flip;
        }
      }
    }
    ZENITH_DEVICE void finish_group(std::uint64_t /*group*/) const {}
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& partials) const {
      const auto sum = block_reduce(sum_, partials, [](std::uint64_t a, std::uint64_t b) { return a + b; });
      if (simt::thread_index() == 0) simt::atomic_add(of_.sum, sum);
    }

   private:
    const sum_values& of_;
    std::uint64_t sum_ = 0;
  };
};

/// What is found: both begin at 0, which is below everything.
struct extremes_found {
  std::uint64_t least_inverted;  ///< ~ of the least image
  std::uint64_t greatest;
};

/// The least and the greatest image, of value ^ flip, where `flip` is the sign bit of a signed type, else 0.
template <class U>
struct find_extremes {
  U flip;
  extremes_found* found;

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const find_extremes& of) : of_(of) {}

    ZENITH_DEVICE void take(const tile& values, std::uint64_t /*first*/, unsigned items) {
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::lane_items; ++i) {
        if (items != tile::size && tile::position_of(i) >= items) continue;
        const U image = values.item[i] ^ of_.flip;
        least_ = image < least_ ? image : least_;
        greatest_ = image > greatest_ ? image : greatest_;
      }
    }
    ZENITH_DEVICE void finish_group(std::uint64_t /*group*/) const {}
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& partials) const {
      const auto greater = [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; };
      const unsigned warps = simt::block_size() / simt::warp_size;
      const auto least = block_reduce(~std::uint64_t{least_}, partials.subspan(0, warps), greater);
      const auto greatest = block_reduce(greatest_, partials.subspan(warps, warps), greater);
      if (simt::thread_index() != 0) return;
      simt::atomic_max(&of_.found->least_inverted, least);
      simt::atomic_max(&of_.found->greatest, greatest);
    }

   private:
    const find_extremes& of_;
    U least_ = static_cast<U>(~U{0});
    U greatest_ = 0;
  };
};

/// A bit a value: whether it lies in [low, low + range], which is the same for either signedness.
template <class U>
struct select_values {
  U low;
  U range;
  std::uint32_t* bitmap;
  std::uint64_t words;              ///< of 32 bits: an even number
  std::uint64_t* matches;           ///< how many there are in all; was 0
  std::uint32_t* matches_in_group;  ///< nullptr: not asked for

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const select_values& of) : of_(of) {}

    ZENITH_DEVICE void take(const tile& values, std::uint64_t first, unsigned items) {
      // the lanes whose bits make up one word
      constexpr unsigned lanes = 32 / tile::per_vector;
      constexpr unsigned words = tile::vector_items / 32;
      const unsigned lane = simt::lane_index();
      ZENITH_UNROLL
      for (unsigned v = 0; v < tile::vectors; ++v) {
        std::uint32_t bits = 0;
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::per_vector; ++i) {
          const unsigned item = v * tile::per_vector + i;
          const bool is_in =
              values.item[item] - of_.low <= of_.range && (items == tile::size || tile::position_of(item) < items);
          bits |= (is_in ? 1U : 0U) << i;
        }
        matches_ += simt::popcount(bits);
        bits <<= lane % lanes * tile::per_vector;
        ZENITH_UNROLL
        for (unsigned other = 1; other < lanes; other *= 2) bits |= simt::shuffle_xor(simt::full_warp, bits, other);
        const std::uint64_t at = first / 32 + v * words + lane / lanes;
        if (lane % lanes == 0 && at < of_.words) simt::store(of_.bitmap + at, bits);
      }
    }
    ZENITH_DEVICE void finish_group(std::uint64_t group) {
      if (of_.matches_in_group == nullptr) return;
      const std::uint32_t now = simt::reduce_add(simt::full_warp, matches_ - before_);
      before_ = matches_;
      if (simt::lane_index() == 0) simt::store(of_.matches_in_group + group, now);
    }
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& partials) const {
      const auto all = block_reduce(matches_, partials, [](std::uint64_t a, std::uint64_t b) { return a + b; });
      if (simt::thread_index() == 0) simt::atomic_add(of_.matches, all);
    }

   private:
    const select_values& of_;
    std::uint32_t matches_ = 0;  // a lane sees far fewer than 2^32 values
    std::uint32_t before_ = 0;
  };
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

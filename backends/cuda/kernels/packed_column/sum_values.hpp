#pragma once

/// \file
/// The query for the sum.

#include <backends/cuda/kernels/packed_column/running_values.hpp>
#include <backends/cuda/kernels/packed_column/sweep.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The sum of the values' images modulo 2^64: of value + flip, where `flip` is the sign bit of a signed type narrower
/// than the sum, and 0 else.
template <class U>
struct sum_values {
  static constexpr bool takes_words(encoding kind) {
    return kind == encoding::frame_of_reference || kind == encoding::delta;
  }

  U flip;
  std::uint64_t* sums;  ///< of each block

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const sum_values& of) : of_(of) {}
    [[nodiscard]] ZENITH_DEVICE U bias() const { return of_.flip; }

    struct nothing {};
    struct running_note {
      running_block<U> block;
      std::uint32_t is_used;  ///< where values are added one by one
    };
    template <encoding Kind>
    using note = std::conditional_t<Kind == encoding::delta && sizeof(U) == 4, running_note, nothing>;

    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, nothing& /*to*/) {
      if (!source.add_references(sum_)) return words_wanted::unpacked;
      return source.even_width() == 0 ? words_wanted::none : words_wanted::all;
    }
    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, running_note& to) {
      const std::uint32_t width = source.even_width();
      // so are wide words, for which it takes no more than sums of 64 bits
      const bool is_used = width > most_bits_that_fall_in_32 || !source.add_references(sum_);
      to = {source.own_block(), is_used ? 1U : 0U};
      if (width > 0) return words_wanted::all;
      return is_used ? words_wanted::unpacked : words_wanted::none;
    }

    template <encoding Kind, class Words>
    ZENITH_DEVICE void take_words(const Words& words, const note<Kind>& of, std::uint64_t /*group*/, unsigned half) {
      if constexpr (Kind != encoding::delta) {
        sum_ += words.sum();
      } else if constexpr (sizeof(U) == 8) {
        add_falling(words);
      } else {
        if (Words::sums_fall_in_32_bits && of.is_used == 0) {
          add_falling(words);
        } else {
          for_running_values(words, of.block, half, [&](unsigned /*i*/, U value) { sum_ += value; });
        }
      }
    }
    template <class Note>
    ZENITH_DEVICE void take_no_words(const Note& /*of*/, std::uint64_t /*group*/) const {}

    ZENITH_DEVICE void take(const tile& values, std::uint64_t /*first*/, unsigned items) {
      if (items == tile::size) {
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::lane_items; ++i) sum_ += values.item[i];
      } else {
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::lane_items; ++i) {
          if (tile::position_of(i) < items) sum_ += values.item[i];
        }
      }
    }
    ZENITH_DEVICE void finish_group(std::uint64_t /*group*/) const {}
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& partials) const {
      const auto sum = block_reduce(sum_, partials, [](std::uint64_t a, std::uint64_t b) { return a + b; });
      if (simt::thread_index() == 0) simt::store(of_.sums + simt::block_index(), sum);
    }

   private:
    // A word is part of its value and of all that follow in the block.
    template <class Words>
    ZENITH_DEVICE void add_falling(const Words& words) {
      const unsigned miniblocks = packed_miniblocks - 1 - simt::lane_index() % packed_miniblocks;
      const falling_sums sums = words.sum_falling();
      sum_ += sums.falling + sums.plain * (miniblocks * packed_miniblock_items);
    }

    const sum_values& of_;
    std::uint64_t sum_ = 0;
  };
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// The query for the values in a range, as a bitmap.

#include <backends/cuda/kernels/packed_column/running_values.hpp>
#include <backends/cuda/kernels/packed_column/sweep.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// A bit a value: whether it lies in [low, low + range], which is the same for either signedness.
template <class U>
struct select_values {
  static constexpr bool takes_words(encoding kind) {
    return kind == encoding::frame_of_reference || kind == encoding::delta;
  }

  U low;
  U range;
  std::uint32_t* bitmap;
  std::uint64_t words;                        ///< of 32 bits: an even number
  std::uint64_t* matches = nullptr;           ///< how many each block finds; nullptr: not asked for
  std::uint32_t* matches_in_group = nullptr;  ///< nullptr: not asked for

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const select_values& of) : of_(of) {}
    [[nodiscard]] ZENITH_DEVICE U bias() const { return static_cast<U>(U{0} - of_.low); }

    ZENITH_DEVICE void take(const tile& values, std::uint64_t first, unsigned items) {
      // the lanes whose bits make up one word
      constexpr unsigned lanes = 32 / tile::per_vector;
      const unsigned lane = simt::lane_index();
      std::uint32_t bits[tile::vectors];
      ZENITH_UNROLL
      for (unsigned v = 0; v < tile::vectors; ++v) {
        bits[v] = 0;
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::per_vector; ++i) {
          const unsigned item = v * tile::per_vector + i;
          if (values.item[item] <= of_.range) bits[v] |= 1U << i;
        }
        bits[v] <<= lane % lanes * tile::per_vector;
      }
      if (items != tile::size) {
        ZENITH_UNROLL
        for (unsigned item = 0; item < tile::lane_items; ++item) {
          if (tile::position_of(item) < items) continue;
          bits[item / tile::per_vector] &= ~(1U << (tile::position_of(item) % 32));
        }
      }
      // with each step half of the lanes go on with one half of the vectors, until each has one; then lanes join
      ZENITH_UNROLL
      for (unsigned other = 1; other < tile::vectors; other *= 2) {
        ZENITH_UNROLL
        for (unsigned v = 0; v < tile::vectors / other; v += 2) {
          const bool takes_second = (lane & other) != 0;
          const std::uint32_t kept = takes_second ? bits[v + 1] : bits[v];
          const std::uint32_t given = takes_second ? bits[v] : bits[v + 1];
          bits[v / 2] = kept | simt::shuffle_xor(simt::full_warp, given, other);
        }
      }
      ZENITH_UNROLL
      for (unsigned other = tile::vectors; other < lanes; other *= 2) {
        bits[0] |= simt::shuffle_xor(simt::full_warp, bits[0], other);
      }
      if (lane % lanes < tile::vectors) {
        const std::uint64_t at = first / 32 + lane % lanes * (tile::vector_items / 32) + lane / lanes;
        matches_ += simt::popcount(bits[0]);
        if (at < of_.words) simt::store(of_.bitmap + at, bits[0]);
      }
    }

    template <encoding Kind>
    using note = std::conditional_t<Kind == encoding::delta, running_block<U>, word_range>;

    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, running_block<U>& to) const {
      to = source.own_block();
      return source.even_width() == 0 ? words_wanted::unpacked : words_wanted::all;
    }
    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, word_range& to) const {
      const std::uint32_t width = source.even_width();
      to = words_within(source.own_reference(), of_.range, width);
      return simt::all(simt::full_warp, to.range == ~0U) ? words_wanted::none : words_wanted::all;
    }
    template <encoding Kind, class Words>
    ZENITH_DEVICE void take_words(const Words& words, const note<Kind>& of, std::uint64_t group, unsigned half) {
      std::uint32_t bits = 0;
      if constexpr (Kind == encoding::delta) {
        for_running_values(words, of, half, [&](unsigned i, U image) {
          if (image <= of_.range) bits |= 1U << i;
        });
      } else {
        bits = words.marks(simt::shuffle(simt::full_warp, of, block_of_lane(half)));
      }
      mark(group, half, bits);
    }
    ZENITH_DEVICE void take_no_words(const running_block<U>& /*of*/, std::uint64_t /*group*/) const {}
    ZENITH_DEVICE void take_no_words(const word_range& of, std::uint64_t group) {
      ZENITH_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        mark(group, half, ~simt::shuffle(simt::full_warp, of.flip, block_of_lane(half)));
      }
    }
    ZENITH_DEVICE void finish_group(std::uint64_t group) {
      if (of_.matches_in_group == nullptr) return;
      const std::uint32_t now = simt::reduce_add(simt::full_warp, matches_ - before_);
      before_ = matches_;
      if (simt::lane_index() == 0) simt::store(of_.matches_in_group + group, now);
    }
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& partials) const {
      if (of_.matches == nullptr) return;
      const auto all = block_reduce(matches_, partials, [](std::uint64_t a, std::uint64_t b) { return a + b; });
      if (simt::thread_index() == 0) simt::store(of_.matches + simt::block_index(), all);
    }

   private:
    // Of this lane's miniblock.
    ZENITH_DEVICE void mark(std::uint64_t group, unsigned half, std::uint32_t bits) {
      matches_ += simt::popcount(bits);
      simt::store(of_.bitmap + group * (packed_group_items / 32) + half * simt::warp_size + simt::lane_index(), bits);
    }

    const select_values& of_;
    std::uint32_t matches_ = 0;  // a lane sees far fewer than 2^32 values
    std::uint32_t before_ = 0;
  };
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// The query for the least and the greatest value.

#include <backends/cuda/kernels/packed_column/running_values.hpp>
#include <backends/cuda/kernels/packed_column/sweep.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What a block finds, as images.
struct extremes_found {
  std::uint64_t least;
  std::uint64_t greatest;
};

/// The least and the greatest image, of value + flip, where `flip` is the sign bit of a signed type, else 0.
template <class U>
struct find_extremes {
  static constexpr bool takes_words(encoding kind) {
    return kind == encoding::frame_of_reference || kind == encoding::delta;
  }

  U flip;
  extremes_found* found;  ///< of each block

  class state {
   public:
    using tile = packed_tile<U>;

    ZENITH_DEVICE explicit state(const find_extremes& of) : of_(of) {}
    [[nodiscard]] ZENITH_DEVICE U bias() const { return of_.flip; }

    ZENITH_DEVICE void take(const tile& values, std::uint64_t /*first*/, unsigned items) {
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::lane_items; ++i) {
        if (items != tile::size && tile::position_of(i) >= items) continue;
        add_least(values.item[i]);
        add_greatest(values.item[i]);
      }
    }

    /// The reference of a block, and whether a group of it may hold a new extreme.
    struct reference_note {
      U reference;
      std::uint32_t wants_least;
      std::uint32_t wants_greatest;
    };
    template <encoding Kind>
    using note = std::conditional_t<Kind == encoding::delta, running_block<U>, reference_note>;

    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, running_block<U>& to) const {
      to = source.own_block();
      return source.even_width() == 0 ? words_wanted::unpacked : words_wanted::all;
    }
    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, reference_note& to) {
      const U reference = source.own_reference();
      if (!source.stays_above(reference)) return words_wanted::unpacked;
      const U most = reference + packed::low_mask<U>(source.even_width());
      if (source.even_width() == 0) {
        add_least(reference);
        add_greatest(reference);
        return words_wanted::none;
      }
      to = {reference, simt::any(simt::full_warp, reference < least_of_warp_) ? 1U : 0U,
            simt::any(simt::full_warp, most > greatest_of_warp_) ? 1U : 0U};
      return (to.wants_least | to.wants_greatest) == 0 ? words_wanted::none : words_wanted::all;
    }
    template <encoding Kind, class Words>
    ZENITH_DEVICE void take_words(const Words& words, const note<Kind>& of, std::uint64_t /*group*/, unsigned half) {
      if constexpr (Kind == encoding::delta) {
        for_running_values(words, of, half, [&](unsigned /*i*/, U image) {
          add_least(image);
          add_greatest(image);
        });
      } else {
        take_words_above(words, of, half);
      }
    }
    template <class Note>
    ZENITH_DEVICE void take_no_words(const Note& /*of*/, std::uint64_t /*group*/) const {}

    ZENITH_DEVICE void finish_group(std::uint64_t /*group*/) const {}
    ZENITH_DEVICE void finish(const simt::shared_span<std::uint64_t>& partials) const {
      const auto lesser = [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; };
      const auto greater = [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; };
      const unsigned warps = simt::block_size() / simt::warp_size;
      const auto least = block_reduce(least_, partials.subspan(0, warps), lesser);
      const auto greatest = block_reduce(greatest_, partials.subspan(warps, warps), greater);
      if (simt::thread_index() != 0) return;
      simt::store(&of_.found[simt::block_index()].least, least);
      simt::store(&of_.found[simt::block_index()].greatest, greatest);
    }

   private:
    template <class Words>
    ZENITH_DEVICE void take_words_above(const Words& words, const reference_note& of, unsigned half) {
      const U reference = simt::shuffle(simt::full_warp, of.reference, block_of_lane(half));
      if (of.wants_greatest != 0) {
        add_greatest(reference + words.greatest());
        greatest_of_warp_ = simt::any(simt::full_warp, greatest_ > greatest_of_warp_)
                                ? warp_reduce(greatest_, [](U a, U b) { return a > b ? a : b; })
                                : greatest_of_warp_;
      }
      if (of.wants_least != 0) {
        add_least(reference + words.least());
        least_of_warp_ = warp_reduce(least_, [](U a, U b) { return a < b ? a : b; });
      }
    }

    ZENITH_DEVICE void add_least(U image) { least_ = image < least_ ? image : least_; }
    ZENITH_DEVICE void add_greatest(U image) { greatest_ = image > greatest_ ? image : greatest_; }

    const find_extremes& of_;
    U least_ = static_cast<U>(~U{0});
    U greatest_ = 0;
    // what some lane has found, perhaps not the last
    U least_of_warp_ = static_cast<U>(~U{0});
    U greatest_of_warp_ = 0;
  };
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

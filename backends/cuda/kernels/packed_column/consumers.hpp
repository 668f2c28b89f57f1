#pragma once

/// \file
/// What the queries make of a tile: store, sum, extremes, select.

#include <backends/cuda/kernels/packed_column/sweep.hpp>

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

    /// Of delta: what a block goes on from, and by what beside its words, where its values are added one by one.
    struct note {
      U base;
      U step;
      std::uint32_t one_by_one;
    };
    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, note& to) {
      const std::uint32_t width = source.even_width();
      if constexpr (sizeof(U) == 4 && requires { source.own_base(); }) {
        // so are wide words, for which it takes no more than sums of 64 bits
        const bool is_whole = width <= most_bits_that_fall_in_32 && source.add_references(sum_);
        to = {source.own_base(), source.own_reference(), is_whole ? 0U : 1U};
        if (is_whole && width == 0) return words_wanted::none;
        return width == 0 ? words_wanted::unpacked : words_wanted::all;
      } else {
        if (!source.add_references(sum_)) return words_wanted::unpacked;
        return width == 0 ? words_wanted::none : words_wanted::all;
      }
    }
    template <encoding Kind, class Words>
    ZENITH_DEVICE void take_words(const Words& words, const note& of, std::uint64_t /*group*/, unsigned half) {
      if constexpr (Kind != encoding::delta) {
        sum_ += words.sum();
      } else if (sizeof(U) == 8 || (Words::sums_fall_in_32_bits && of.one_by_one == 0)) {
        // a word is part of its value and of all that follow in the block
        const unsigned miniblocks = packed_miniblocks - 1 - simt::lane_index() % packed_miniblocks;
        const falling_sums sums = words.sum_falling();
        sum_ += sums.falling + sums.plain * (miniblocks * packed_miniblock_items);
      } else {
        sum_ += sum_running(words, of, half);
      }
    }
    ZENITH_DEVICE void take_no_words(const note& /*of*/, std::uint64_t /*group*/) const {}

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
    // Value by value, each as it is after wrapping around.
    template <class Words>
    [[nodiscard]] ZENITH_DEVICE static std::uint64_t sum_running(const Words& words, const note& of, unsigned half) {
      const auto base = static_cast<std::uint32_t>(simt::shuffle(simt::full_warp, of.base, block_of_lane(half)));
      const auto step = static_cast<std::uint32_t>(simt::shuffle(simt::full_warp, of.step, block_of_lane(half)));
      // the miniblocks of a block are those of neighbouring lanes
      const std::uint32_t own = static_cast<std::uint32_t>(words.sum()) + packed_miniblock_items * step;
      std::uint32_t steps = own;
      ZENITH_UNROLL
      for (unsigned distance = 1; distance < packed_miniblocks; distance *= 2) {
        const std::uint32_t below = simt::shuffle_up(simt::full_warp, steps, distance);
        if (simt::lane_index() % packed_miniblocks >= distance) steps += below;
      }
      return words.sum_running(base + steps - own, step);
    }

    const sum_values& of_;
    std::uint64_t sum_ = 0;
  };
};

/// What a block finds, as images.
struct extremes_found {
  std::uint64_t least;
  std::uint64_t greatest;
};

/// The least and the greatest image, of value + flip, where `flip` is the sign bit of a signed type, else 0.
template <class U>
struct find_extremes {
  static constexpr bool takes_words(encoding kind) { return kind == encoding::frame_of_reference; }

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
    struct note {
      U reference;
      std::uint32_t wants_least;
      std::uint32_t wants_greatest;
    };
    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, note& to) {
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
    ZENITH_DEVICE void take_words(const Words& words, const note& of, std::uint64_t /*group*/, unsigned half) {
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
    ZENITH_DEVICE void take_no_words(const note& /*of*/, std::uint64_t /*group*/) const {}

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

/// A bit a value: whether it lies in [low, low + range], which is the same for either signedness.
template <class U>
struct select_values {
  static constexpr bool takes_words(encoding kind) { return kind == encoding::frame_of_reference; }

  U low;
  U range;
  std::uint32_t* bitmap;
  std::uint64_t words;              ///< of 32 bits: an even number
  std::uint64_t* matches;           ///< how many each block finds
  std::uint32_t* matches_in_group;  ///< nullptr: not asked for

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

    using note = word_range;
    template <class Source>
    [[nodiscard]] ZENITH_DEVICE words_wanted begin_words(const Source& source, note& to) const {
      const std::uint32_t width = source.even_width();
      to = words_within(source.own_reference(), of_.range, width);
      return simt::all(simt::full_warp, to.range == ~0U) ? words_wanted::none : words_wanted::all;
    }
    template <encoding Kind, class Words>
    ZENITH_DEVICE void take_words(const Words& words, const note& of, std::uint64_t group, unsigned half) {
      const note within = simt::shuffle(simt::full_warp, of, block_of_lane(half));
      mark(group, half, words.marks(within));
    }
    ZENITH_DEVICE void take_no_words(const note& of, std::uint64_t group) {
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

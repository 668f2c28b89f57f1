#pragma once

/// \file
/// The tile function unpack of the bit-packed encodings: frame_of_reference, delta, vertical.

#include <backends/cuda/kernels/packed_column/group_record.hpp>
#include <backends/cuda/kernels/packed_column/running_values.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The tile function unpack: `fetch` a group, which only begins to load, `open` it, then any of its tiles; the next
/// group may be fetched once one is open. All lanes of a warp together. What is unpacked are the values plus `bias`,
/// which turns words of a signed type into such as compare like their values.
template <class U, encoding Kind>
class unpacker;

/// The packed words of frame_of_reference and delta, with their patches.
template <class U>
class difference_unpacker {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit difference_unpacker(const packed_layout& in, U bias = 0) : in_(in), bias_(bias) {}

  ZENITH_DEVICE void fetch(std::uint64_t group) { record_.fetch(in_, group); }

  /// Whether the open group, `group`, is whole, and nothing but references and words of one width, up to 32.
  [[nodiscard]] ZENITH_DEVICE bool words_suffice(std::uint64_t group) const {
    if (!record_.is_even() || record_.even_width() > 32 || group >= in_.count / packed_group_items) return false;
    return in_.patches == 0 || !patches_.any();
  }
  [[nodiscard]] ZENITH_DEVICE std::uint32_t even_width() const { return record_.even_width(); }
  [[nodiscard]] ZENITH_DEVICE const std::uint32_t* words() const { return record_.payload(); }
  /// Of block lane % 16.
  [[nodiscard]] ZENITH_DEVICE U own_reference() const { return record_.own_reference(); }
  /// Whether no block's reference and greatest word add up to more than the type holds.
  [[nodiscard]] ZENITH_DEVICE bool stays_above(U reference) const {
    return simt::all(simt::full_warp, reference + packed::low_mask<U>(even_width()) >= reference);
  }

 protected:
  // From what was fetched, or from a copy of the record.
  template <class... Record>
  ZENITH_DEVICE void open(std::uint64_t group, U bias, const Record&... record) {
    record_.open(in_, record..., bias);
    if (in_.patches != 0) patches_.open(in_, group);
  }

  /// Of a tile of the group. A block that the column does not have counts as one of no bits.
  ZENITH_DEVICE void take(unsigned number, tile& to) const {
    // the same branches for all lanes
    if (record_.is_even()) {
      const std::uint32_t width = record_.even_width();
      // a vector's bits are whole words, so that all of them are shifted alike
      const unsigned bit = simt::lane_index() * tile::per_vector * width;
      const std::uint32_t* const first = record_.payload() + (number * tile::size / 32 * width + bit / 32);
      take_words(even_bits{first, tile::vector_items / 32 * width, bit % 32, width}, width, to);
    } else {
      uneven_bits at;
      std::uint32_t widest = 0;
      ZENITH_UNROLL
      for (unsigned v = 0; v < tile::vectors; ++v) {
        const auto place = place_of(number * tile::vectors + v);
        const unsigned bit = simt::lane_index() % lanes_of_miniblock * tile::per_vector * place.width;
        at.vector[v] = {record_.payload() + (place.word + bit / 32), bit % 32, place.width};
        widest = place.widest;
      }
      take_words(at, widest, to);
    }
    if (in_.patches != 0) {
      ZENITH_UNROLL
      for (unsigned v = 0; v < tile::vectors; ++v) patch(number * tile::vectors + v, to.item + v * tile::per_vector);
    }
  }

  const packed_layout& in_;
  U bias_;
  group_record<U> record_;

 private:
  static constexpr unsigned lanes_of_miniblock = packed_miniblock_items / tile::per_vector;
  static constexpr unsigned miniblocks_of_vector = tile::vector_items / packed_miniblock_items;

  // Where a lane's values of each vector stand.
  struct uneven_bits {
    struct {
      const std::uint32_t* words;
      unsigned shift;
      unsigned width;
    } vector[tile::vectors];

    [[nodiscard]] ZENITH_DEVICE const std::uint32_t* words(unsigned v) const { return vector[v].words; }
    [[nodiscard]] ZENITH_DEVICE unsigned shift(unsigned v) const { return vector[v].shift; }
    [[nodiscard]] ZENITH_DEVICE unsigned width(unsigned v) const { return vector[v].width; }
  };
  struct even_bits {
    const std::uint32_t* first;
    unsigned stride;  // words of a vector
    unsigned shift_;
    unsigned width_;

    [[nodiscard]] ZENITH_DEVICE const std::uint32_t* words(unsigned v) const { return first + v * stride; }
    [[nodiscard]] ZENITH_DEVICE unsigned shift(unsigned /*v*/) const { return shift_; }
    [[nodiscard]] ZENITH_DEVICE unsigned width(unsigned /*v*/) const { return width_; }
  };

  [[nodiscard]] ZENITH_DEVICE miniblock_place place_of(unsigned vector) const {
    return record_.place(vector / (tile::vectors_in_group / 2),
                         vector * miniblocks_of_vector + simt::lane_index() / lanes_of_miniblock);
  }

  // As no field is wider than `widest`.
  template <class Bits>
  ZENITH_DEVICE static void take_words(const Bits& at, std::uint32_t widest, tile& to) {
    if (widest * tile::per_vector <= 32) {
      take_from_window(at, to);
    } else if (widest * tile::per_vector <= 64) {
      take_from_two_windows(at, to);
    } else if (widest <= 32) {
      if constexpr (std::is_same_v<Bits, even_bits>) {
        take_wide(at, to);
      } else {
        take_each<std::uint32_t>(at, to);
      }
    } else {
      take_each<U>(at, to);
    }
  }

  template <unsigned Words, class Bits>
  ZENITH_DEVICE static void load_words(const Bits& at, std::uint32_t (&word)[tile::vectors][Words]) {
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const std::uint32_t* const words = at.words(v);
      ZENITH_UNROLL
      for (unsigned i = 0; i < Words; ++i) word[v][i] = simt::load(words + i);
    }
  }

  // All of a lane's values of a vector in 32 bits.
  template <class Bits>
  ZENITH_DEVICE static void take_from_window(const Bits& at, tile& to) {
    std::uint32_t word[tile::vectors][2];
    load_words(at, word);
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const std::uint32_t window = simt::funnel_shift_right(word[v][0], word[v][1], at.shift(v));
      const std::uint32_t mask = ~(~0U << at.width(v));
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        to.item[v * tile::per_vector + i] = window >> (i * at.width(v)) & mask;
      }
    }
  }

  // Half of them in 32 bits, the other half in the next.
  template <class Bits>
  ZENITH_DEVICE static void take_from_two_windows(const Bits& at, tile& to) {
    constexpr unsigned half = tile::per_vector / 2;
    std::uint32_t word[tile::vectors][3];
    load_words(at, word);
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const std::uint32_t low = simt::funnel_shift_right(word[v][0], word[v][1], at.shift(v));
      const std::uint32_t high = simt::funnel_shift_right(word[v][1], word[v][2], at.shift(v));
      const std::uint32_t window[2] = {low, simt::funnel_shift_right_clamped(low, high, half * at.width(v))};
      const std::uint32_t mask = low_bits(at.width(v));
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        to.item[v * tile::per_vector + i] = window[i / half] >> (i % half * at.width(v)) & mask;
      }
    }
  }

  // Four of one width, 17 to 32 bits: the first and second begin in the first 32 bits, the third in the next 32, the
  // fourth there or behind.
  ZENITH_DEVICE static void split_wide(const even_bits& at, const std::uint32_t (&word)[tile::vectors][5], tile& to) {
    const unsigned width = at.width_;
    const std::uint32_t mask = low_bits(width);
    const bool is_behind = 3 * width > 64;
    const unsigned last_shift = 3 * width - (is_behind ? 64 : 32);
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      std::uint32_t bits[4];
      ZENITH_UNROLL
      for (unsigned i = 0; i < 4; ++i) bits[i] = simt::funnel_shift_right(word[v][i], word[v][i + 1], at.shift_);
      U* const item = to.item + v * tile::per_vector;
      item[0] = bits[0] & mask;
      item[1] = simt::funnel_shift_right_clamped(bits[0], bits[1], width) & mask;
      item[2] = simt::funnel_shift_right_clamped(bits[1], bits[2], 2 * width - 32) & mask;
      item[3] =
          simt::funnel_shift_right_clamped(is_behind ? bits[2] : bits[1], is_behind ? bits[3] : bits[2], last_shift) &
          mask;
    }
  }
  ZENITH_DEVICE static void take_wide(const even_bits& at, tile& to) {
    if constexpr (tile::per_vector == 4) {
      std::uint32_t word[tile::vectors][5];
      load_words(at, word);
      split_wide(at, word, to);
    }
  }

  // Each on its own: words that several values share come from the cache.
  template <class Word, class Bits>
  ZENITH_DEVICE static void take_each(const Bits& at, tile& to) {
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        to.item[v * tile::per_vector + i] =
            packed_bytes::bits_at<Word>(at.words(v), at.shift(v) + i * at.width(v), at.width(v));
      }
    }
  }

  // Of up to 32.
  ZENITH_DEVICE static std::uint32_t low_bits(unsigned width) {
    return simt::funnel_shift_right_clamped(~0U, 0U, 32 - width);
  }

  ZENITH_DEVICE void patch(unsigned vector, U* words) const {
    const auto range = patches_.of_block(vector / tile::vectors_in_block);
    const unsigned first = vector % tile::vectors_in_block * tile::vector_items + simt::lane_index() * tile::per_vector;
    for (unsigned p = 0; p < range.count; ++p) {
      const unsigned position =
          packed_bytes::word_at<std::uint8_t>(in_.bytes, in_.patch_positions_at + range.first + p);
      if (position - first >= tile::per_vector) continue;
      const U word = packed_bytes::word_at<U>(in_.bytes, in_.patch_values_at + (range.first + p) * sizeof(U));
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) words[i] = position - first == i ? word : words[i];
    }
  }

  patch_record patches_;
};

template <class U>
class unpacker<U, encoding::frame_of_reference> : public difference_unpacker<U> {
 public:
  using tile = packed_tile<U>;
  using difference_unpacker<U>::difference_unpacker;

  ZENITH_DEVICE void open(std::uint64_t group) { difference_unpacker<U>::open(group, this->bias_); }
  /// From a copy of the group's record, in place of `fetch`.
  ZENITH_DEVICE void open(std::uint64_t group, const record_copy& record) {
    difference_unpacker<U>::open(group, this->bias_, record);
  }

  /// Adds this lane's share of what the group's sum would be if all words were 0; false where a value might wrap
  /// around, which only matters to sums that are wider than it.
  ZENITH_DEVICE bool add_references(std::uint64_t& sum) const {
    const U reference = this->record_.own_reference();
    if constexpr (sizeof(U) == 4) {
      if (!this->stays_above(reference)) return false;
    }
    if (simt::lane_index() < packed_group_blocks) sum += std::uint64_t{reference} * packed_block_items;
    return true;
  }

  /// Tile `number` of the group, of which `items` values exist; what stands behind them is undefined.
  ZENITH_DEVICE void unpack(unsigned number, unsigned /*items*/, tile& to) const {
    this->take(number, to);
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const U reference = this->record_.reference((number * tile::vectors + v) / tile::vectors_in_block);
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) to.item[v * tile::per_vector + i] += reference;
    }
  }
};

template <class U>
class unpacker<U, encoding::delta> : public difference_unpacker<U> {
 public:
  using tile = packed_tile<U>;
  using difference_unpacker<U>::difference_unpacker;

  ZENITH_DEVICE void open(std::uint64_t group) {
    difference_unpacker<U>::open(group, 0);
    const std::uint64_t block = group * packed_group_blocks + simt::lane_index() % packed_group_blocks;
    base_ = this->bias_;
    if (block < this->in_.blocks()) {
      base_ += packed_bytes::word_at<U>(this->in_.bytes, this->in_.bases_at + block * sizeof(U));
    }
  }
  /// From a copy of the group's record, with its blocks' bases behind it, in place of `fetch`.
  ZENITH_DEVICE void open(std::uint64_t group, const record_copy& record) {
    difference_unpacker<U>::open(group, 0, record);
    const unsigned slot = simt::lane_index() % packed_group_blocks;
    base_ = this->bias_ + record.template read<U>(static_cast<unsigned>(packed::group_bytes<U> + slot * sizeof(U)));
  }

  /// Of block lane % 16.
  [[nodiscard]] ZENITH_DEVICE running_block<U> own_block() const { return {base_, this->record_.own_reference()}; }

  /// As in frame_of_reference; false as well where a step or a word is so wide that to find out takes more than it
  /// saves.
  ZENITH_DEVICE bool add_references(std::uint64_t& sum) const {
    const U step = this->record_.own_reference();
    const U first = base_ + step;
    constexpr unsigned steps = packed_block_items - 1;
    std::uint64_t all_steps = step;
    if constexpr (sizeof(U) == 4) {
      // so that neither all steps nor all words of a block take more than 31 bits
      constexpr unsigned most_width = 23;
      constexpr std::uint32_t most_step = 1U << 23;
      if (this->even_width() > most_width) return false;
      const auto by = static_cast<std::int32_t>(step);
      const auto drift = static_cast<std::int32_t>(step * steps);
      const std::uint32_t below = drift < 0 ? 0U - static_cast<std::uint32_t>(drift) : 0U;
      const std::uint32_t above = (drift < 0 ? 0U : static_cast<std::uint32_t>(drift)) +
                                  packed::low_mask<std::uint32_t>(this->even_width()) * packed_block_items;
      const bool stays = step + most_step < 2 * most_step && first >= below && first <= ~above;
      if (!simt::all(simt::full_warp, stays)) return false;
      all_steps = static_cast<std::uint64_t>(std::int64_t{by});
    }
    if (simt::lane_index() < packed_group_blocks) {
      sum += std::uint64_t{first} * packed_block_items + all_steps * (steps * packed_block_items / 2);
    }
    return true;
  }

  ZENITH_DEVICE void unpack(unsigned number, unsigned /*items*/, tile& to) const {
    this->take(number, to);
    U carry = 0;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      const unsigned block = (number * tile::vectors + v) / tile::vectors_in_block;
      U* const item = to.item + v * tile::per_vector;
      const U reference = this->record_.reference(block);
      // a lane's steps, then those of the lanes before it
      item[0] += reference;
      ZENITH_UNROLL
      for (unsigned i = 1; i < tile::per_vector; ++i) item[i] += item[i - 1] + reference;
      const U steps = warp_scan_before(item[tile::per_vector - 1]);
      if (v % tile::vectors_in_block == 0) carry = simt::shuffle(simt::full_warp, base_, block);
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) item[i] += carry + steps;
      if (v % tile::vectors_in_block + 1 < tile::vectors_in_block) {
        // the next vector goes on where this one's last value stands
        carry = simt::shuffle(simt::full_warp, item[tile::per_vector - 1], simt::warp_size - 1);
      }
    }
  }

 private:
  U base_;  // of block lane % 16
};

template <class U>
class unpacker<U, encoding::vertical> {
 public:
  using tile = packed_tile<U>;

  ZENITH_DEVICE explicit unpacker(const packed_layout& in, U bias = 0) : in_(in), bias_(bias) {}

  ZENITH_DEVICE void fetch(std::uint64_t group) { record_.fetch(in_, group); }
  ZENITH_DEVICE void open(std::uint64_t /*group*/) { record_.open(in_, bias_); }

  ZENITH_DEVICE void unpack(unsigned number, unsigned items, tile& to) const {
    const unsigned lanes = in_.parameter;
    const unsigned span = packed_miniblock_items * lanes;
    ZENITH_UNROLL
    for (unsigned v = 0; v < tile::vectors; ++v) {
      if (v * tile::vector_items >= items) continue;
      const unsigned first = (number * tile::vectors + v) * tile::vector_items;  // in the group
      const unsigned miniblock = first / span * lanes;
      const auto at = record_.is_even() ? miniblock_place{miniblock * record_.even_width(), record_.even_width(), 0}
                                        : record_.place(miniblock / simt::warp_size, miniblock);
      const U reference = record_.reference(miniblock / packed_miniblocks);
      const unsigned slot = first % span + simt::lane_index() * tile::per_vector;
      // a vector's values stand in the same row, side by side
      const unsigned bit = slot / lanes * at.width;
      const std::uint32_t* const from = record_.payload() + at.word + bit / 32 * lanes + slot % lanes;
      ZENITH_UNROLL
      for (unsigned i = 0; i < tile::per_vector; ++i) {
        to.item[v * tile::per_vector + i] = static_cast<U>(reference + bits_of(from + i, bit % 32, at.width, lanes));
      }
    }
  }

 private:
  // `width` bits of words that stand `lanes` apart, from bit `shift` of the first on.
  ZENITH_DEVICE static U bits_of(const std::uint32_t* words, unsigned shift, unsigned width, unsigned lanes) {
    if (width == 0) return 0;
    const std::uint32_t w0 = simt::load(words);
    const std::uint32_t w1 = shift + width > 32 ? simt::load(words + lanes) : 0U;
    const std::uint32_t low = simt::funnel_shift_right(w0, w1, shift);
    if constexpr (sizeof(U) == 4) {
      return low & packed::low_mask<U>(width);
    } else {
      const std::uint32_t w2 = shift + width > 64 ? simt::load(words + 2 * lanes) : 0U;
      const std::uint32_t high = simt::funnel_shift_right(w1, w2, shift);
      return (static_cast<U>(high) << 32 | low) & packed::low_mask<U>(width);
    }
  }

  const packed_layout& in_;
  U bias_;
  group_record<U> record_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

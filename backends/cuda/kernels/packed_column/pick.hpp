#pragma once

/// \file
/// Some values of a packed column: a sample, or those that a bitmap marks.

#include <algorithms/top_k/filter_tile.hpp>
#include <backends/cuda/kernels/packed_column/indices.hpp>
#include <backends/cuda/kernels/packed_column/unpack_bytes.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// The values that strategy "filter" of top-k samples, one in each of as many strata: a warp unpacks the tile around
/// each.
template <class U, encoding Kind>
struct sample_values {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned warps = block_size / simt::warp_size;
  using tile = packed_tile<U>;

  packed_layout column;
  std::uint32_t samples;
  U* out;

  ZENITH_DEVICE void operator()() const {
    const std::uint32_t sample = simt::block_index() * warps + simt::warp_index();
    if (sample >= samples) return;
    const std::uint64_t index = top_k_detail::sample_position(sample, column.count, samples);
    const auto number = static_cast<unsigned>(index % packed_group_items / tile::size);
    const std::uint64_t left = column.count - index / tile::size * tile::size;
    unpacker<U, Kind> source(column);
    tile values;
    source.fetch(index / packed_group_items);
    source.open(index / packed_group_items);
    source.unpack(number, left < tile::size ? static_cast<unsigned>(left) : tile::size, values);
    ZENITH_UNROLL
    for (unsigned i = 0; i < tile::lane_items; ++i) {
      if (tile::position_of(i) == index % tile::size) simt::store(out + sample, values.item[i]);
    }
  }
};

/// The same where a lane finds its value on its own: frame_of_reference without patches.
template <class U>
struct sample_framed_values {
  static constexpr unsigned block_size = 256;

  packed_layout column;
  std::uint32_t samples;
  U* out;

  ZENITH_DEVICE void operator()() const {
    const std::uint32_t sample = simt::block_index() * block_size + simt::thread_index();
    if (sample < samples) {
      simt::store(out + sample, value_at(top_k_detail::sample_position(sample, column.count, samples)));
    }
  }

 private:
  ZENITH_DEVICE U value_at(std::uint64_t index) const {
    const record_in_place record(column.bytes + column.groups_at + index / packed_group_items * packed::group_bytes<U>);
    const auto in_group = static_cast<unsigned>(index % packed_group_items);
    const unsigned miniblock = in_group / packed_miniblock_items;
    unsigned word = 0;
    for (unsigned before = 0; before < miniblock; ++before) word += group_record<U>::width_in(record, before);
    const unsigned width = group_record<U>::width_in(record, miniblock);
    const std::uint32_t* const payload = group_record<U>::payload_of(column, record.template read<std::uint64_t>(0));
    const U reference = record.template read<U>(8 + in_group / packed_block_items * static_cast<unsigned>(sizeof(U)));
    return static_cast<U>(reference +
                          packed_bytes::bits_at<U>(payload + word, in_group % packed_miniblock_items * width, width));
  }
};

/// The marked values and their indices, rising, the first `limit` of them. Only tiles that hold one are unpacked.
template <class U, encoding Kind>
struct take_marked {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned warps = block_size / simt::warp_size;
  using tile = packed_tile<U>;

  packed_layout column;
  marked_values marked;
  std::uint64_t limit;
  U* values;
  std::uint64_t* indices;

  // Most groups are empty: a lane looks at each. Neighbours are of different warps, so that those which hold the most
  // share the work.
  ZENITH_DEVICE void operator()() const {
    const std::uint64_t all_warps = std::uint64_t{simt::grid_size()} * warps;
    for (std::uint64_t first = std::uint64_t{simt::block_index()} * warps + simt::warp_index(); first < marked.groups;
         first += all_warps * simt::warp_size) {
      const std::uint64_t group = first + simt::lane_index() * all_warps;
      const std::uint64_t before = group < marked.groups ? marked.before(group) : limit;
      if (simt::all(simt::full_warp, before >= limit)) return;  // the groups of a warp rise
      const bool is_wanted = before < limit && !marked.is_empty(group);
      for (std::uint32_t left = simt::ballot(simt::full_warp, is_wanted); left != 0; left &= left - 1) {
        const unsigned lane = simt::find_first_set(left) - 1;
        take(first + lane * all_warps, simt::shuffle(simt::full_warp, before, lane));
      }
    }
  }

 private:
  static constexpr unsigned vector_words = tile::vector_items / 32;
  static constexpr unsigned tile_words = tile::size / 32;

  ZENITH_DEVICE void take(std::uint64_t group, std::uint64_t before) const {
    // of words lane and lane + 32: the word, and how many bits stand before it
    std::uint32_t word[2];
    ZENITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      word[half] = marked.word(group, half * simt::warp_size + simt::lane_index());
    }
    const std::uint32_t holding[2] = {simt::ballot(simt::full_warp, word[0] != 0),
                                      simt::ballot(simt::full_warp, word[1] != 0)};
    if ((holding[0] | holding[1]) == 0) return;
    const auto bits = warp_scan<std::uint32_t>(simt::popcount(word[0]) | simt::popcount(word[1]) << 16);
    const std::uint32_t rank[2] = {bits.before & 0xffff, (bits.before >> 16) + (bits.all & 0xffff)};

    unpacker<U, Kind> source(column);
    source.fetch(group);
    source.open(group);
    if constexpr (Kind == encoding::frame_of_reference) {
      if (source.words_suffice(group)) {
        take_own(source, group, word[0], 0, before + rank[0]);
        take_own(source, group, word[1], 1, before + rank[1]);
        return;
      }
    }
    for (unsigned number = 0; number < tile::in_group; ++number) {
      const unsigned half = number / (tile::in_group / 2);
      const unsigned first_word = number % (tile::in_group / 2) * tile_words;
      if ((holding[half] >> first_word & ((1U << tile_words) - 1)) == 0) continue;
      const std::uint64_t first = group * packed_group_items + number * tile::size;
      const std::uint64_t left = column.count - first;
      tile one;
      source.unpack(number, left < tile::size ? static_cast<unsigned>(left) : tile::size, one);
      ZENITH_UNROLL
      for (unsigned v = 0; v < tile::vectors; ++v) {
        const unsigned at = simt::lane_index() * tile::per_vector;  // in the vector
        const unsigned from = first_word + v * vector_words + at / 32;
        const std::uint32_t own = simt::shuffle(simt::full_warp, word[half], from);
        const std::uint32_t own_rank = simt::shuffle(simt::full_warp, rank[half], from);
        ZENITH_UNROLL
        for (unsigned i = 0; i < tile::per_vector; ++i) {
          const unsigned bit = (at + i) % 32;
          const std::uint64_t to = before + own_rank + simt::popcount(own & ((1U << bit) - 1));
          if ((own >> bit & 1) == 0 || to >= limit) continue;
          simt::store(values + to, one.item[v * tile::per_vector + i]);
          simt::store(indices + to, first + tile::position_of(v * tile::per_vector + i));
        }
      }
    }
  }

  // The marked values of this lane's miniblock, each on its own.
  ZENITH_DEVICE void take_own(const unpacker<U, Kind>& source, std::uint64_t group, std::uint32_t marks, unsigned half,
                              std::uint64_t to) const {
    const U reference = simt::shuffle(simt::full_warp, source.own_reference(), block_of_lane(half));
    const unsigned first = (half * simt::warp_size + simt::lane_index()) * packed_miniblock_items;
    for (std::uint32_t left = marks; left != 0 && to < limit; left &= left - 1, ++to) {
      const unsigned at = first + simt::find_first_set(left) - 1;
      const U word = packed_bytes::bits_at<U>(source.words(), at * source.even_width(), source.even_width());
      simt::store(values + to, static_cast<U>(reference + word));
      simt::store(indices + to, group * packed_group_items + at);
    }
  }
};

/// out[i] = names[positions[i]] + first.
template <class Index>
struct name_positions {
  static constexpr unsigned block_size = 128;

  const std::uint32_t* positions;
  const std::uint64_t* names;
  std::uint64_t first;
  std::uint64_t count;
  Index* out;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < count;
         i += stride) {
      simt::store(out + i, static_cast<Index>(simt::load(names + simt::load(positions + i)) + first));
    }
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

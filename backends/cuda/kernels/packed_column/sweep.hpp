#pragma once

/// \file
/// The kernel of queries that need not unpack: the words of groups of one width go through shared memory, where each
/// lane takes whole miniblocks. All other groups are unpacked, as in visit.hpp.

#include <backends/cuda/kernels/packed_column/miniblock.hpp>
#include <backends/cuda/kernels/packed_column/visit.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// A consumer that takes words has, beside what visit.hpp asks for:
///   note                                  a trivially copyable value of whole 32-bit words
///   begin_words(source, note)             of an open group that words suffice for, before they are there: which of
///                                         `words_wanted` it is; lane b notes what it needs to know of block b % 16
///   take_words<Kind>(words, note, group, half)   a lane's miniblock, half * 32 + lane of the group
///   take_no_words(note, group)            of the whole group, where the notes are enough
enum class words_wanted : std::uint8_t {
  unpacked,  ///< the group must be unpacked after all
  none,      ///< the notes are enough
  all,
};

/// The block of a group in which a lane's miniblock of that half stands.
ZENITH_DEVICE unsigned block_of_lane(unsigned half) {
  return (half * simt::warp_size + simt::lane_index()) / packed_miniblocks;
}

/// Each warp has a few slots of shared memory: while the words of one are used, those of the others are on their way.
template <class U, encoding Kind, class Consumer>
struct sweep_column {
  static constexpr unsigned block_size = 128;
  static constexpr unsigned warps = block_size / simt::warp_size;
  static constexpr unsigned wanted_blocks = 4;
  static constexpr unsigned slots = 3;
  static constexpr unsigned slot_bytes = 4096;
  static constexpr std::size_t shared_bytes = std::size_t{warps} * slots * slot_bytes;

  packed_layout column;
  Consumer consumer;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint64_t, partials, 2 * warps);
    state_type state(consumer);
    unpacker<U, Kind> source(column, state.bias());
    const unsigned first_slot = simt::warp_index() * slots * slot_bytes;
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * warps;
    const std::uint64_t groups = column.groups();
    std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    if (group < groups) source.fetch(group);
    portion under_way[slots - 1];  // the oldest first
    ZENITH_UNROLL
    for (unsigned i = 0; i < slots - 1; ++i) under_way[i] = portion{};
    unsigned slot = 0;
    for (bool is_done = false; !is_done; group += stride) {
      is_done = group >= groups;
      portion next{};
      if (!is_done) {
        source.open(group);
        if (group + stride < groups) source.fetch(group + stride);
        next.group = group;
        if (source.words_suffice(group)) {
          next.width = source.even_width();
          next.wanted = state.begin_words(source, next.note);
        }
      }
      const bool by_words = next.wanted != words_wanted::unpacked;
      // nothing is under way when a group is unpacked, so that groups are finished in their order
      const unsigned turns = !by_words ? slots - 1 : next.wanted == words_wanted::all && next.width > 16 ? 2 : 1;
      for (unsigned turn = 0; turn < turns; ++turn) {
        next.half = turn;
        if (next.wanted == words_wanted::all) begin_copy(first_slot + slot * slot_bytes, source.words(), next);
        simt::async_commit();
        slot = slot + 1 == slots ? 0 : slot + 1;
        simt::async_wait<slots - 1>();
        simt::warp_barrier(simt::full_warp);
        use(first_slot + slot * slot_bytes, under_way[0], state);
        simt::warp_barrier(simt::full_warp);
        ZENITH_UNROLL
        for (unsigned i = 0; i + 1 < slots - 1; ++i) under_way[i] = under_way[i + 1];
        under_way[slots - 2] = next;
      }
      if (!is_done && !by_words) visit_group(source, state, column, group, 0, column.count);
    }
    state.finish(partials);
  }

 private:
  using state_type = typename Consumer::state;
  using note_type = typename state_type::note;

  // A group whose words fit into a slot, or a half of one.
  struct portion {
    std::uint64_t group = 0;
    std::uint32_t width = 0;
    unsigned half = 0;
    words_wanted wanted = words_wanted::unpacked;
    note_type note{};
  };

  ZENITH_DEVICE static void begin_copy(unsigned to_byte, const std::uint32_t* group_words, const portion& of) {
    const unsigned words = of.width * (of.width > 16 ? 32 : 64);
    const std::uint32_t* const from = group_words + of.half * words;
    const auto to = simt::dynamic_shared<std::uint32_t>(to_byte, slot_bytes / 4);
    const unsigned lane = simt::lane_index();
    if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
      constexpr unsigned step = 4 * simt::warp_size;
      ZENITH_UNROLL
      for (unsigned at = 0; at < slot_bytes / 4; at += step) {
        if (at + 4 * lane < words) simt::async_copy<4>(to, at + 4 * lane, from + (at + 4 * lane));
      }
    } else {
      ZENITH_UNROLL_BY(4)
      for (unsigned at = lane; at < words; at += simt::warp_size) simt::async_copy<1>(to, at, from + at);
    }
  }

  ZENITH_DEVICE static void use(unsigned slot_byte, const portion& of, state_type& state) {
    // the same for all lanes
    if (of.wanted == words_wanted::unpacked) return;
    if (of.wanted == words_wanted::none) {
      state.take_no_words(of.note, of.group);
    } else {
      with_width(of.width, [&]<unsigned Width>(std::integral_constant<unsigned, Width>) {
        ZENITH_UNROLL
        for (unsigned half = 0; half < (Width > 16 ? 1 : 2); ++half) {
          const miniblock_words<Width> words(slot_byte, half * simt::warp_size + simt::lane_index());
          state.template take_words<Kind>(words, of.note, of.group, of.half + half);
        }
      });
      if (of.width > 16 && of.half == 0) return;
    }
    state.finish_group(of.group);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

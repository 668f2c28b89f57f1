#pragma once

/// \file
/// The kernel of queries that need not unpack: the words of groups of one width go through shared memory, where each
/// lane takes whole miniblocks. All other groups are unpacked, as in visit.hpp.

#include <backends/cuda/kernels/packed_column/miniblock.hpp>
#include <backends/cuda/kernels/packed_column/visit.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// A consumer that takes words has, beside what visit.hpp asks for:
///   note<Kind>                            a trivially copyable value of whole 32-bit words
///   begin_words(source, note)             of an open group that words suffice for, before they are there: which of
///                                         `words_wanted` it is; lane b notes what it needs to know of block b % 16
///   take_words<Kind>(words, note, group, half)   a lane's miniblock, half * 32 + lane of the group
///   take_no_words(note, group)            of the whole group, where the notes are enough
enum class words_wanted : std::uint32_t {
  unpacked,  ///< the group must be unpacked after all
  none,      ///< the notes are enough
  all,
};

/// Each warp has two slots of shared memory: while the words of one are used, those of the other are on their way.
/// Records are copied two groups ahead.
template <class U, encoding Kind, class Consumer>
struct sweep_column {
  static constexpr unsigned block_size = 128;
  static constexpr unsigned warps = block_size / simt::warp_size;
  /// Measured: more warps are worth more than a third slot, but not registers that spill.
  static constexpr unsigned wanted_blocks = 5;

 private:
  static constexpr unsigned slots = 2;
  static constexpr unsigned slot_bytes = 4096;
  static constexpr unsigned records = 4;
  static constexpr unsigned record_words = packed::group_bytes<U> / 8;
  static constexpr unsigned bases_words = Kind == encoding::delta ? packed_group_blocks * sizeof(U) / 8 : 0;
  static constexpr unsigned record_bytes = 8 * (record_words + bases_words);

 public:
  static constexpr std::size_t shared_bytes = std::size_t{warps} * (slots * slot_bytes + records * record_bytes);

  packed_layout column;
  Consumer consumer;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint64_t, partials, 2 * warps);
    state_type state(consumer);
    unpacker<U, Kind> source(column, state.bias());
    const unsigned own_slots = simt::warp_index() * (slots * slot_bytes);
    const unsigned own_records = warps * slots * slot_bytes + simt::warp_index() * (records * record_bytes);
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * warps;
    std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index();
    const std::uint64_t groups = column.groups();
    // of this warp: fewer than 2^32, as each takes a hundred bytes of the device's memory
    unsigned left = group < groups ? static_cast<unsigned>((groups - group + stride - 1) / stride) : 0;
    record_source records_ahead(column, group, left, stride);
    for (unsigned i = 0; i < slots; ++i) records_ahead.begin_copy(own_records + i * record_bytes);
    simt::async_commit();
    simt::async_wait<0>();
    simt::warp_barrier(simt::full_warp);
    portion before{};
    unsigned slot = 0;
    unsigned record = 0;
    for (bool is_done = false; !is_done; group += stride, --left) {
      is_done = left == 0;
      portion now{};
      if (!is_done) {
        source.open(group, record_copy(own_records + record * record_bytes));
        now.group = group;
        if (source.words_suffice(group)) {
          now.width = source.even_width();
          now.wanted = state.begin_words(source, now.note);
        }
      }
      records_ahead.begin_copy(own_records + (record + slots) % records * record_bytes);
      record = (record + 1) % records;
      // a group that is unpacked waits for the words before it, so that groups are finished in their order
      const unsigned passes = now.wanted == words_wanted::all && now.width > 16 ? 2 : 1;
      for (unsigned pass = 0; pass < passes; ++pass) {
        now.half = pass;
        if (now.wanted == words_wanted::all) begin_copy(own_slots + slot * slot_bytes, source.words(), now);
        simt::async_commit();
        slot = 1 - slot;
        simt::async_wait<slots - 1>();
        simt::warp_barrier(simt::full_warp);
        use(own_slots + slot * slot_bytes, before, state);
        simt::warp_barrier(simt::full_warp);
        before = now;
      }
      if (!is_done && now.wanted == words_wanted::unpacked) {
        visit_group(source, state, column, group, 0, column.count);
      }
    }
    state.finish(partials);
  }

 private:
  using state_type = typename Consumer::state;
  using note_type = typename state_type::template note<Kind>;

  // A group whose words fit into a slot, or a half of one.
  struct portion {
    std::uint64_t group = 0;
    std::uint32_t width = 0;
    unsigned half = 0;
    words_wanted wanted = words_wanted::unpacked;
    note_type note{};
  };

  // Copies the record of one of the warp's groups after the other, and for delta the bases of its blocks: behind those
  // of the last block there is padding.
  class record_source {
   public:
    ZENITH_DEVICE record_source(const packed_layout& in, std::uint64_t group, unsigned groups, std::uint64_t stride)
        : record_(reinterpret_cast<const std::uint64_t*>(in.bytes + in.groups_at) + group * record_words +
                  simt::lane_index()),
          bases_(reinterpret_cast<const std::uint64_t*>(in.bytes + in.bases_at) + group * bases_words +
                 simt::lane_index()),
          stride_(stride),
          left_(groups) {}

    ZENITH_DEVICE void begin_copy(unsigned to_byte) {
      if (left_ == 0) return;
      --left_;
      const auto to = simt::dynamic_shared<std::uint64_t>(to_byte, record_words + bases_words);
      const unsigned lane = simt::lane_index();
      if (lane < record_words) simt::async_copy<1>(to, lane, record_);
      record_ += stride_ * record_words;
      if constexpr (bases_words > 0) {
        if (lane < bases_words) simt::async_copy<1>(to, record_words + lane, bases_);
        bases_ += stride_ * bases_words;
      }
    }

   private:
    const std::uint64_t* record_;
    const std::uint64_t* bases_;
    std::uint64_t stride_;
    unsigned left_;
  };

  ZENITH_DEVICE static void begin_copy(unsigned to_byte, const std::uint32_t* group_words, const portion& of) {
    const unsigned words = of.width * (of.width > 16 ? 32 : 64);
    const unsigned lane = simt::lane_index();
    const auto to = simt::dynamic_shared<std::uint32_t>(to_byte, slot_bytes / 4);
    const std::uint32_t* const from = group_words + of.half * words;
    if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
      // unrolled further, each copy would find out anew where shared memory begins
      ZENITH_UNROLL_BY(2)
      for (unsigned at = 4 * lane; at < words; at += 4 * simt::warp_size) simt::async_copy<4>(to, at, from + at);
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

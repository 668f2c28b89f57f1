#pragma once

/// \file
/// What the groups of a column to be packed take: a warp a group, one read of the values whatever is measured.

#include <backends/cuda/kernels/packed_column/pack_block.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// What all groups take together, and between which widths the miniblocks of frame_of_reference lie that hold a value,
/// without and with patches. Zeros at first.
struct column_sizes {
  packed::group_sizes groups;
  std::uint64_t widest[2];
  std::uint64_t narrowest[2];  ///< complements
};

/// A warp's share of a column_sizes, in shared memory: registers are for the values.
class warp_sizes {
 public:
  static constexpr unsigned fields = sizeof(column_sizes) / sizeof(std::uint64_t);
  static constexpr unsigned sums = 9;  ///< the others are maxima

  ZENITH_DEVICE explicit warp_sizes(const simt::shared_span<std::uint64_t>& of_warps)
      : fields_(of_warps.subspan(simt::warp_index() * fields, fields)) {
    if (simt::lane_index() < fields) fields_.write(simt::lane_index(), 0);
    simt::warp_barrier(simt::full_warp);
  }

  /// By one lane.
  ZENITH_DEVICE void add(const column_sizes& one) const {
    const auto& of = one.groups;
    const std::uint64_t added[sums] = {of.words,          of.patched_words,       of.patches,
                                       of.delta_words,    of.delta_patched_words, of.delta_patches,
                                       of.vertical_words, of.variable_bytes,      of.runs};
    ZENITH_UNROLL
    for (unsigned i = 0; i < sums; ++i) fields_.write(i, fields_.read(i) + added[i]);
    const std::uint64_t most[fields - sums] = {of.fixed_bytes, one.widest[0], one.widest[1], one.narrowest[0],
                                               one.narrowest[1]};
    ZENITH_UNROLL
    for (unsigned i = 0; i < fields - sums; ++i) {
      if (most[i] > fields_.read(sums + i)) fields_.write(sums + i, most[i]);
    }
  }

  /// By all threads of the block: what its warps have, to what all blocks have.
  template <unsigned Warps>
  ZENITH_DEVICE static void finish(const simt::shared_span<std::uint64_t>& of_warps, column_sizes* to) {
    simt::block_barrier();
    const unsigned i = simt::thread_index();
    if (i >= fields) return;
    std::uint64_t all = 0;
    for (unsigned w = 0; w < Warps; ++w) {
      const std::uint64_t one = of_warps.read(w * fields + i);
      all = i < sums ? all + one : one > all ? one : all;
    }
    auto* const at = reinterpret_cast<std::uint64_t*>(to) + i;
    if (i < sums) {
      simt::atomic_add(at, all);
    } else {
      simt::atomic_max(at, all);
    }
  }

 private:
  static_assert(sizeof(packed::group_sizes) == (sums + 1) * sizeof(std::uint64_t));

  simt::shared_span<std::uint64_t> fields_;
};

/// Measures every group for `Asked`: an encoding, or `automatic` for every one.
template <class U, encoding Asked>
struct measure_column {
  static constexpr unsigned block_size = 256;
  static constexpr unsigned warps = block_size / simt::warp_size;

  packed::encoder<U> with;
  std::uint64_t groups;
  packed::group_sizes* sizes;
  column_sizes* total;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint64_t, of_warps, warps * warp_sizes::fields);
    const warp_sizes mine(of_warps);
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * warps;
    for (std::uint64_t group = std::uint64_t{simt::block_index()} * warps + simt::warp_index(); group < groups;
         group += stride) {
      measured found;
      each_block(with, group, 0, packed_group_blocks,
                 [&](unsigned b, std::uint64_t first, unsigned items, const warp_block<U>& values) {
                   if (items > 0) measure_block(found, b, first, items, values);
                 });
      if constexpr (has_fixed || has_variable) finish_group(found);
      if (simt::lane_index() == 0) {
        simt::store(sizes + group, found.sizes.groups);
        mine.add(found.sizes);
      }
    }
    warp_sizes::finish<warps>(of_warps, total);
  }

 private:
  static constexpr bool has_all = Asked == encoding::automatic;
  static constexpr bool has_frame = has_all || Asked == encoding::frame_of_reference;
  static constexpr bool has_delta = has_all || Asked == encoding::delta;
  static constexpr bool has_fixed = has_all || Asked == encoding::null_suppression_fixed;
  static constexpr bool has_variable = has_all || Asked == encoding::null_suppression_variable;
  static constexpr bool has_runs = has_all || Asked == encoding::run_length;
  static constexpr bool has_vertical = has_all || Asked == encoding::vertical;

  struct measured {
    column_sizes sizes{};
    // a lane's own
    std::uint32_t fixed_bytes = 1;
    std::uint32_t variable_bytes = 0;
    U least = static_cast<U>(~U{0});  // of a span of `vertical`, in the order of words
    U greatest = 0;
    run_begins<U> runs;
  };

  ZENITH_DEVICE void measure_block(measured& found, unsigned number, std::uint64_t first, unsigned items,
                                   const warp_block<U>& values) const {
    auto& of = found.sizes.groups;
    if constexpr (has_runs) measure_runs(found, values, first, items);
    if constexpr (has_fixed || has_variable) measure_bytes(found, values, items);
    if constexpr (has_vertical) measure_span(found, values, number, first, items);
    if constexpr (has_frame) {
      auto block = values;
      block.take(false, with.with_sign, items);
      ZENITH_UNROLL
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        const auto shape = shape_of_lengths<U>(length_of(block.word[m]), with.patches);
        of.words += shape.width;
        of.patched_words += shape.patched_width;
        of.patches += shape.patches;
        if (m * packed_miniblock_items < items) add_widths(found.sizes, shape.width, shape.patched_width);
      }
    }
    if constexpr (has_delta) {
      auto block = values;
      block.take(true, with.with_sign, items);
      ZENITH_UNROLL
      for (unsigned m = 0; m < packed_miniblocks; ++m) {
        const auto shape = shape_of_lengths<U>(length_of(block.word[m]), with.patches);
        of.delta_words += shape.width;
        of.delta_patched_words += shape.patched_width;
        of.delta_patches += shape.patches;
      }
    }
  }

  ZENITH_DEVICE static void add_widths(column_sizes& to, unsigned width, unsigned patched_width) {
    const std::uint64_t one[2] = {width, patched_width};
    ZENITH_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      to.widest[i] = one[i] > to.widest[i] ? one[i] : to.widest[i];
      to.narrowest[i] = ~one[i] > to.narrowest[i] ? ~one[i] : to.narrowest[i];
    }
  }

  ZENITH_DEVICE void measure_runs(measured& found, const warp_block<U>& block, std::uint64_t first,
                                  unsigned items) const {
    found.runs.begin_block(with, first);
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const bool begins = found.runs.begins(block, m, first, items);
      found.sizes.groups.runs += simt::popcount(simt::ballot(simt::full_warp, begins));
    }
  }

  ZENITH_DEVICE void measure_bytes(measured& found, const warp_block<U>& block, unsigned items) const {
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      const U value = block.word[m];
      if (warp_block<U>::place(m) >= items) continue;
      if constexpr (has_fixed) {
        const unsigned bytes = packed::fixed_bytes_of(value, with.with_sign);
        found.fixed_bytes = bytes > found.fixed_bytes ? bytes : found.fixed_bytes;
      }
      if constexpr (has_variable) {
        found.variable_bytes +=
            packed::variable_bytes<U>(packed::variable_code(packed::variable_word(value, with.with_sign)));
      }
    }
  }

  ZENITH_DEVICE void measure_span(measured& found, const warp_block<U>& block, unsigned number, std::uint64_t first,
                                  unsigned items) const {
    const U turn = with.with_sign ? warp_block<U>::sign : U{0};
    ZENITH_UNROLL
    for (unsigned m = 0; m < packed_miniblocks; ++m) {
      if (warp_block<U>::place(m) >= items) continue;
      const U image = block.word[m] ^ turn;
      found.least = image < found.least ? image : found.least;
      found.greatest = image > found.greatest ? image : found.greatest;
    }
    const unsigned blocks_of_span = with.lanes / packed_miniblocks;
    const bool ends_span = (number + 1) % blocks_of_span == 0 || with.items_from(first + packed_block_items, 1) == 0;
    if (!ends_span) return;
    const U least = warp_block<U>::least_of(found.least);
    const U greatest = static_cast<U>(~warp_block<U>::least_of(static_cast<U>(~found.greatest)));
    found.sizes.groups.vertical_words += std::uint64_t{with.lanes} * length_of(static_cast<U>(greatest - least));
    found.least = static_cast<U>(~U{0});
    found.greatest = 0;
  }

  ZENITH_DEVICE static void finish_group(measured& found) {
    found.sizes.groups.fixed_bytes = simt::reduce_max(simt::full_warp, found.fixed_bytes);
    found.sizes.groups.variable_bytes = simt::reduce_add(simt::full_warp, found.variable_bytes);
  }
};

/// What each group takes in the encoding that was chosen; the sums before them are where it begins.
struct take_sizes {
  static constexpr unsigned block_size = 256;

  const packed::group_sizes* sizes;
  std::uint64_t groups;
  encoding kind;
  bool patched;
  std::uint64_t* payload;
  std::uint64_t* patch;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t group = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    if (group >= groups) return;
    const auto taken = packed::place_in(simt::load(sizes + group), kind, patched);
    simt::store(payload + group, taken.payload);
    if (patched) simt::store(patch + group, taken.patch);
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

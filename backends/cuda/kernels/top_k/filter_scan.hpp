#pragma once

/// \file
/// Phase 2 of strategy "filter": one read of the data against the threshold, and the verdict on what survived.

#include <backends/cuda/kernels/top_k/filter_extent.hpp>
#include <backends/cuda/kernels/top_k/filter_sinks.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Filters the slots up to `last_slot` into a warp's sink.
template <class T, class Sink>
ZENITH_DEVICE void filter_slots(const filter_problem<T>& problem, const filter_extent<T>& extent,
                                typename filter_problem<T>::image_t threshold, std::uint32_t last_slot, Sink& sink) {
  filter_tile<T> tile(problem.order);
  const reaches_threshold<T> keep(problem.order, threshold);
  // The body's tiles, then the tail and the head. Only the last slot of all is behind the tiles.
  const std::uint32_t tiles = last_slot < extent.tiles ? last_slot : extent.tiles;
  for (std::uint64_t i = simt::block_index(); i < std::uint64_t{tiles} + 2; i += simt::grid_size()) {
    const auto [slot, first, count] =
        i < tiles ? extent.part(i, simt::warp_index()) : extent.edge(i - tiles, problem.count);
    if (count > 0 && slot <= last_slot) {
      sink.move_to(slot);
      tile.move_to(first);
      top_k_detail::filter_tile(tile, problem.keys + first, count, keep, sink);
    }
    if (sink.is_flooded()) return;
  }
}

template <class T>
struct scan_keys {
  using entry = typename filter_problem<T>::entry;
  using sink_type = survivor_sink<T>;
  static constexpr unsigned block_size = filter_extent<T>::block_size;
  static constexpr unsigned wanted_blocks = 4;
  static constexpr unsigned warps = block_size / simt::warp_size;
  static constexpr unsigned stage_entries = warps * sink_type::stage_size;

  filter_problem<T> problem;
  filter_extent<T> extent;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(entry, stages, stage_entries);
    ZENITH_STATIC_SHARED(std::uint32_t, sums, warps);
    scan(stages, simt::load(&problem.state->threshold));
    if (is_last_block(&problem.state->barrier.arrived)) decide(sums);
  }

  /// Filters the calling block's share; `stages` are `stage_entries`.
  ZENITH_DEVICE void scan(const simt::shared_span<entry>& stages, typename filter_problem<T>::image_t threshold) const {
    sink_type sink(problem, stages.subspan(simt::warp_index() * sink_type::stage_size, sink_type::stage_size));
    filter_slots(problem, extent, threshold, problem.slots - 1, sink);
    sink.close();
  }

  /// The verdict, by the last block; `sums` are `warps`.
  ZENITH_DEVICE void decide(const simt::shared_span<std::uint32_t>& sums) const {
    auto& state = *problem.state;
    const std::uint32_t above = simt::atomic_load(&state.above);
    const std::uint32_t equal = simt::atomic_load(&state.equal);
    // everybody has read them before anybody changes them
    simt::block_barrier();
    const filter_verdict verdict = verdict_on(above, equal);
    const std::uint32_t cut = verdict == filter_verdict::ties ? find_cut(problem.k - above, sums) : 0;
    if (simt::thread_index() != 0) return;
    simt::store(&state.cut, cut);
    simt::atomic_store(&state.equal, verdict == filter_verdict::ties ? 0 : kept_equal(above, equal));
    simt::atomic_store(&state.verdict, static_cast<std::uint32_t>(verdict));
    simt::store(&state.reads, simt::load(&state.reads) + 1);
  }

  /// The verdict on so many survivors above the threshold and equal to it.
  [[nodiscard]] ZENITH_DEVICE filter_verdict verdict_on(std::uint32_t above, std::uint32_t equal) const {
    if (above > problem.above_capacity || std::uint64_t{above} + equal < problem.k) return filter_verdict::refine;
    return above < problem.k && equal > problem.equal_capacity ? filter_verdict::ties : filter_verdict::done;
  }

  /// How many equal items count where the verdict is `done`.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t kept_equal(std::uint32_t above, std::uint32_t equal) const {
    return above >= problem.k ? 0 : equal;
  }

  /// The slot in which the `wanted`-th of the equal items stands, of which there are as many; all threads together, of
  /// one block. In each round every warp sums up its part of the range, and all go on with the part in which it stands.
  ZENITH_DEVICE std::uint32_t find_cut(std::uint32_t wanted, const simt::shared_span<std::uint32_t>& sums) const {
    constexpr unsigned batch = 8;  // loads of a thread in flight
    std::uint32_t first = 0;
    std::uint32_t end = problem.slots;
    while (end - first > 1) {
      const std::uint32_t part = (end - first + warps - 1) / warps;
      const std::uint32_t part_first = first + simt::warp_index() * part;
      const std::uint32_t part_end = part_first + part < end ? part_first + part : end;
      std::uint32_t sum = 0;
      for (std::uint32_t i = part_first + simt::lane_index(); i < part_end; i += batch * simt::warp_size) {
        ZENITH_UNROLL
        for (unsigned j = 0; j < batch; ++j) {
          const std::uint32_t slot = i + j * simt::warp_size;
          sum += slot < part_end ? simt::atomic_load(problem.equal_in_slot + slot) : 0;
        }
      }
      sum = simt::reduce_add(simt::full_warp, sum);
      if (simt::lane_index() == 0) sums.write(simt::warp_index(), sum);
      simt::block_barrier();
      unsigned found = 0;
      while (sums.read(found) < wanted) wanted -= sums.read(found++);
      simt::block_barrier();
      first += found * part;
      end = first + part < end ? first + part : end;
    }
    return first;
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

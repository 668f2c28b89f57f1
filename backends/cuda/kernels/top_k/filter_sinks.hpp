#pragma once

/// \file
/// Where the filter's survivors go. A sink belongs to one warp.

#include <backends/cuda/kernels/top_k/filter_tile.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Adds to a counter for the whole warp; returns what stood there before, to every lane.
ZENITH_DEVICE std::uint32_t warp_reserve(std::uint32_t* counter, std::uint32_t count) {
  std::uint32_t before = 0;
  if (simt::lane_index() == 0) before = simt::atomic_add(counter, count);
  return simt::shuffle(simt::full_warp, before, 0);
}

/// The sink of a scan. Survivors above the threshold collect in shared memory and go out together, so that the counter
/// of all blocks sees few atomics. Those equal to it are counted for each slot, and kept while they fit.
template <class T>
class survivor_sink {
 public:
  using entry = typename filter_problem<T>::entry;
  static constexpr unsigned stage_size = 1024 / sizeof(entry);

  struct slot_type {
    const survivor_sink& sink;
    bool is_staged;
    std::uint32_t above;
    std::uint32_t equal;

    [[nodiscard]] ZENITH_DEVICE bool takes_equal() const { return equal < sink.problem_.equal_capacity; }
    ZENITH_DEVICE void write_above(std::uint32_t rank, const entry& one) const {
      if (is_staged) {
        sink.stage_.write(above + rank, one);
      } else {
        sink.put_above(above + rank, one);
      }
    }
    ZENITH_DEVICE void write_equal(std::uint32_t rank, const entry& one) const {
      const auto& problem = sink.problem_;
      if (equal + rank < problem.equal_capacity) {
        simt::store(problem.survivors + problem.above_capacity + equal + rank, one);
      }
    }
  };

  ZENITH_DEVICE survivor_sink(const filter_problem<T>& problem, const simt::shared_span<entry>& stage)
      : problem_(problem), stage_(stage) {}

  /// The slot whose equal items are counted from here on, or dropped.
  ZENITH_DEVICE void move_to(std::uint32_t slot, bool takes_equal = true) {
    slot_ = slot;
    takes_equal_ = takes_equal;
  }

  /// Whether there are more survivors above the threshold than fit, so that the scan is in vain.
  [[nodiscard]] ZENITH_DEVICE bool is_flooded() const { return is_flooded_; }

  ZENITH_DEVICE slot_type reserve(const survivor_counts& count) {
    slot_type result{*this, true, staged_, problem_.equal_capacity};
    if (count.above > 0) {
      if (staged_ + count.above > stage_size) flush();
      result.is_staged = count.above <= stage_size;
      result.above = result.is_staged ? staged_ : reserve_above(count.above);
      if (result.is_staged) staged_ += count.above;
    }
    if (count.equal > 0 && takes_equal_) {
      if (simt::lane_index() == 0) simt::atomic_add(problem_.equal_in_slot + slot_, count.equal);
      if (equal_is_full_) {
        uncounted_ += count.equal;
      } else {
        result.equal = warp_reserve(&problem_.state->equal, count.equal);
        equal_is_full_ = result.equal >= problem_.equal_capacity;
      }
    }
    return result;
  }

  /// Writes out what is still held back.
  ZENITH_DEVICE void close() {
    flush();
    if (uncounted_ > 0 && simt::lane_index() == 0) simt::atomic_add(&problem_.state->equal, uncounted_);
  }

 private:
  ZENITH_DEVICE std::uint32_t reserve_above(std::uint32_t count) {
    const std::uint32_t first = warp_reserve(&problem_.state->above, count);
    is_flooded_ = is_flooded_ || first + count > problem_.above_capacity;
    return first;
  }

  ZENITH_DEVICE void put_above(std::uint32_t at, const entry& one) const {
    if (at < problem_.above_capacity) simt::store(problem_.survivors + at, one);
  }

  ZENITH_DEVICE void flush() {
    if (staged_ == 0) return;
    simt::warp_barrier(simt::full_warp);
    const std::uint32_t first = reserve_above(staged_);
    for (unsigned i = simt::lane_index(); i < staged_; i += simt::warp_size) put_above(first + i, stage_.read(i));
    simt::warp_barrier(simt::full_warp);
    staged_ = 0;
  }

  const filter_problem<T>& problem_;
  simt::shared_span<entry> stage_;
  std::uint32_t slot_ = 0;
  std::uint32_t staged_ = 0;
  std::uint32_t uncounted_ = 0;  ///< equal items that the state's counter does not know of
  bool takes_equal_ = true;
  bool equal_is_full_ = false;
  bool is_flooded_ = false;
};

/// The sink that collects nothing but items equal to the threshold, of which all that come fit.
template <class T>
class tie_sink {
 public:
  using entry = typename filter_problem<T>::entry;

  struct slot_type {
    entry* to;
    [[nodiscard]] ZENITH_DEVICE bool takes_equal() const { return to != nullptr; }
    ZENITH_DEVICE void write_above(std::uint32_t /*rank*/, const entry& /*one*/) const {}
    ZENITH_DEVICE void write_equal(std::uint32_t rank, const entry& one) const { simt::store(to + rank, one); }
  };

  ZENITH_DEVICE explicit tie_sink(const filter_problem<T>& problem) : problem_(problem) {}

  ZENITH_DEVICE void move_to(std::uint32_t /*slot*/) {}
  [[nodiscard]] ZENITH_DEVICE bool is_flooded() const { return false; }

  ZENITH_DEVICE slot_type reserve(const survivor_counts& count) {
    if (count.equal == 0) return {nullptr};
    const std::uint32_t first = warp_reserve(&problem_.state->equal, count.equal);
    return {problem_.survivors + problem_.above_capacity + first};
  }

 private:
  const filter_problem<T>& problem_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

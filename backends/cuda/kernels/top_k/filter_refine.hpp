#pragma once

/// \file
/// For a scan that the sample misled: radix histograms of the images narrow the threshold down, one read a digit, until
/// the items that reach it fit, at the latest when it is the k-th best image itself.

#include <backends/cuda/kernels/top_k/filter_extent.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

/// Digits of 11 bits: a histogram of 32-bit counters is 8 KiB of shared memory, and three passes cover 32 bits.
inline constexpr unsigned digit_bits = 11;
inline constexpr unsigned digit_bins = 1U << digit_bits;

/// One digit of it, by all blocks of a launch.
template <class T>
struct narrow_threshold {
  using image_t = typename filter_problem<T>::image_t;
  static constexpr unsigned block_size = filter_extent<T>::block_size;
  static constexpr unsigned image_bits = sizeof(image_t) * 8;
  static constexpr unsigned passes = (image_bits + digit_bits - 1) / digit_bits;
  static constexpr unsigned per_vector = filter_extent<T>::per_vector;

  filter_problem<T> problem;
  filter_extent<T> extent;
  std::uint32_t* bins;  ///< digit_bins of this pass, zeroed
  std::uint32_t pass;

  /// Adds the calling block's share to the bins; `counts` are digit_bins.
  ZENITH_DEVICE void count(const simt::shared_span<std::uint32_t>& counts) const {
    for (unsigned i = simt::thread_index(); i < digit_bins; i += block_size) counts.write(i, 0);
    if (pass == 0) clear_slots();
    simt::block_barrier();
    count_digits(counts);
    simt::block_barrier();
    for (unsigned i = simt::thread_index(); i < digit_bins; i += block_size) {
      if (const std::uint32_t count = counts.read(i); count > 0) simt::atomic_add(bins + i, count);
    }
  }

  /// The digit of the k-th best image among those counted, by the last block; `sums` are block_size.
  ZENITH_DEVICE void choose(const simt::shared_span<std::uint32_t>& sums) const {
    constexpr unsigned piece = digit_bins / block_size;
    // from the highest digit down; in the last pass the highest ones do not occur
    const unsigned highest = digit_bins - 1 - simt::thread_index() * piece;
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < piece; ++i) sum += simt::atomic_load(bins + highest - i);
    sums.write(simt::thread_index(), sum);
    simt::block_barrier();
    if (simt::thread_index() != 0) return;

    auto& state = *problem.state;
    std::uint32_t wanted = pass == 0 ? problem.k : simt::load(&state.wanted);
    unsigned found = 0;
    while (sums.read(found) < wanted) wanted -= sums.read(found++);
    unsigned digit = digit_bins - 1 - found * piece;
    while (simt::atomic_load(bins + digit) < wanted) wanted -= simt::atomic_load(bins + digit--);

    const image_t prefix = pass == 0 ? image_t{0} : simt::load(&state.threshold);
    simt::store(&state.threshold, prefix | static_cast<image_t>(digit) << shift());
    simt::store(&state.wanted, wanted);
    // all that reach the threshold as it is now
    const std::uint32_t reached = problem.k - wanted + simt::atomic_load(bins + digit);
    if (pass == passes - 1 || reached <= problem.above_capacity) {
      simt::atomic_store(&state.refined, 1U);
      simt::atomic_store(&state.above, 0U);
      simt::atomic_store(&state.equal, 0U);
    }
    simt::store(&state.reads, simt::load(&state.reads) + 1);
  }

 private:
  // The last digit takes what bits are left.
  [[nodiscard]] ZENITH_DEVICE unsigned shift() const {
    const unsigned above = (pass + 1) * digit_bits;
    return above < image_bits ? image_bits - above : 0;
  }

  // The next scan counts anew.
  ZENITH_DEVICE void clear_slots() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < problem.slots;
         i += stride) {
      simt::store(problem.equal_in_slot + i, 0U);
    }
  }

  ZENITH_DEVICE void count_digits(const simt::shared_span<std::uint32_t>& counts) const {
    const image_t prefix = pass == 0 ? image_t{0} : simt::load(&problem.state->threshold);
    // bits that are settled: those above this digit
    const unsigned settled = image_bits - pass * digit_bits;
    const auto take = [&](T key) {
      const image_t image = problem.order.image(key);
      if (pass > 0 && (image ^ prefix) >> settled != 0) return;
      const image_t low = pass > 0 ? image & static_cast<image_t>((image_t{1} << settled) - 1) : image;
      simt::atomic_add<simt::scope::block>(counts.pointer(static_cast<unsigned>(low >> shift())), 1U);
    };

    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    const std::uint64_t thread = std::uint64_t{simt::block_index()} * block_size + simt::thread_index();
    const std::uint64_t vectors = (extent.body_end - extent.head) / per_vector;
    ZENITH_UNROLL_BY(4)
    for (std::uint64_t v = thread; v < vectors; v += stride) {
      const auto loaded = simt::load_vector_streaming<per_vector>(problem.keys + extent.head + v * per_vector);
      ZENITH_UNROLL
      for (unsigned i = 0; i < per_vector; ++i) take(loaded.value[i]);
    }
    if (thread < extent.head) take(simt::load_streaming(problem.keys + thread));
    if (thread < problem.count - extent.body_end) take(simt::load_streaming(problem.keys + extent.body_end + thread));
  }
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

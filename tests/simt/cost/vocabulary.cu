// Two kernels in the words of the vocabulary; intrinsics.cu writes the same two out.

#include <backends/cuda/simt/vocabulary.hpp>

namespace simt = zenith::simt;

// Loads, shared memory, barriers, shuffles, an atomic.
struct sum_blocks {
  static constexpr unsigned block_size = 256;

  const std::uint32_t* from;
  std::uint32_t* to;
  std::uint32_t count;

  ZENITH_DEVICE void operator()() const {
    ZENITH_STATIC_SHARED(std::uint32_t, parts, block_size / 32);
    std::uint32_t sum = 0;
    for (std::uint32_t i = (simt::block_index() * block_size + simt::thread_index()) * 4; i < count;
         i += simt::grid_size() * block_size * 4) {
      const auto four = simt::load_vector_streaming<4>(from + i);
      sum += four.value[0] + four.value[1] + four.value[2] + four.value[3];
    }
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      sum += simt::shuffle_xor(simt::full_warp, sum, distance);
    }
    if (simt::lane_index() == 0) parts.write(simt::warp_index(), sum);
    simt::block_barrier();
    if (simt::thread_index() == 0) {
      for (unsigned i = 1; i < block_size / 32; ++i) sum += parts.read(i);
      simt::atomic_add(to, sum);
    }
  }
};

// Ballots, bits, a warp-aggregated append, dynamic shared memory, an asynchronous copy, a fence.
struct append_odd {
  static constexpr unsigned block_size = 128;

  const std::uint32_t* from;
  std::uint32_t* to;
  std::uint32_t* appended;

  ZENITH_DEVICE void operator()() const {
    const auto staged = simt::dynamic_shared<std::uint32_t>(0, block_size);
    const unsigned thread = simt::thread_index();
    const unsigned item = simt::block_index() * block_size + thread;
    simt::async_copy<1>(staged, thread, from + item);
    simt::async_commit();
    simt::async_wait<0>();
    simt::block_barrier();
    const std::uint32_t value = staged.read(block_size - 1 - thread);
    const std::uint32_t odd = simt::ballot(simt::full_warp, (value & 1) != 0);
    const std::uint32_t before = odd & ((1U << simt::lane_index()) - 1);
    std::uint32_t first = 0;
    if (simt::lane_index() == 0) first = simt::atomic_add(appended, simt::popcount(odd));
    first = simt::shuffle(simt::full_warp, first, 0);
    if ((value & 1) != 0) simt::store(to + first + simt::popcount(before), simt::funnel_shift_left(value, value, 7));
    simt::fence();
  }
};

template __global__ void simt::detail::run<sum_blocks>(const __grid_constant__ sum_blocks);
template __global__ void simt::detail::run<append_odd>(const __grid_constant__ append_odd);

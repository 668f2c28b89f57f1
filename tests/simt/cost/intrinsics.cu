// The kernels of vocabulary.cu in CUDA's own words.

#include <cuda_pipeline_primitives.h>

#include <cstdint>

struct sum_blocks {
  static constexpr unsigned block_size = 256;

  const std::uint32_t* from;
  std::uint32_t* to;
  std::uint32_t count;

  __device__ __forceinline__ void operator()() const {
    __shared__ std::uint32_t parts[block_size / 32];
    std::uint32_t sum = 0;
    for (std::uint32_t i = (blockIdx.x * block_size + threadIdx.x) * 4; i < count; i += gridDim.x * block_size * 4) {
      const uint4 four = __ldcs(reinterpret_cast<const uint4*>(from + i));
      sum += four.x + four.y + four.z + four.w;
    }
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(0xffffffffU, sum, static_cast<int>(distance));
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned i = 1; i < block_size / 32; ++i) sum += parts[i];
      atomicAdd(to, sum);
    }
  }
};

struct append_odd {
  static constexpr unsigned block_size = 128;

  const std::uint32_t* from;
  std::uint32_t* to;
  std::uint32_t* appended;

  __device__ __forceinline__ void operator()() const {
    extern __shared__ __align__(16) std::uint32_t staged[];
    const unsigned thread = threadIdx.x;
    const unsigned item = blockIdx.x * block_size + thread;
    __pipeline_memcpy_async(staged + thread, from + item, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const std::uint32_t value = staged[block_size - 1 - thread];
    const std::uint32_t odd = __ballot_sync(0xffffffffU, (value & 1) != 0);
    const std::uint32_t before = odd & ((1U << (threadIdx.x % 32)) - 1);
    std::uint32_t first = 0;
    if (threadIdx.x % 32 == 0) first = atomicAdd(appended, static_cast<unsigned>(__popc(odd)));
    first = __shfl_sync(0xffffffffU, first, 0);
    if ((value & 1) != 0) {
      std::uint32_t* const place = to + first + static_cast<unsigned>(__popc(before));
      *place = __funnelshift_l(value, value, 7);
    }
    __threadfence();
  }
};

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_size) run(const __grid_constant__ Kernel kernel) {
  kernel();
}

template __global__ void run<sum_blocks>(const __grid_constant__ sum_blocks);
template __global__ void run<append_odd>(const __grid_constant__ append_odd);

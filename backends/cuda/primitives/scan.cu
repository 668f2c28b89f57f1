#include <backends/cuda/primitives/library.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>

#include <backends/cuda/primitives/temporary.cuh>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {

/// One element more than there are: the last sum has a place of its own, and nothing is read for it.
template <class T>
struct one_more {
  const T* from;
  std::uint64_t n;
  __device__ T operator()(std::uint64_t i) const { return i < n ? from[i] : T{0}; }
};

template <class T>
void exclusive_scan(call_memory& memory, const T* from, std::uint64_t n, T* to) {
  const auto elements =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t{0}), one_more<T>{from, n});
  with_temporary(memory, "cub::DeviceScan::ExclusiveSum", [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, elements, to, static_cast<std::int64_t>(n + 1),
                                         memory.stream());
  });
}

template void exclusive_scan<std::uint32_t>(call_memory&, const std::uint32_t*, std::uint64_t, std::uint32_t*);
template void exclusive_scan<std::uint64_t>(call_memory&, const std::uint64_t*, std::uint64_t, std::uint64_t*);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library

#include <backends/cuda/top_k/bitonic.hpp>
#include <backends/cuda/top_k/call.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template struct top_k_runner<std::uint32_t, bitonic_strategy>;

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/cuda/top_k/instances/bitonic.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_bitonic<double>(const execution&, const top_k_call&);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/cuda/packed_column/top_k.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_packed_top_k<std::uint32_t>(const execution&, const packed_top_k_call&);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

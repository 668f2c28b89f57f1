#include <backends/cuda/packed_column/pack.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_pack<std::uint64_t>(const execution&, const pack_call&, memory_space);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/cuda/packed_column/queries.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_unpack<std::uint64_t>(const execution&, const unpack_call&);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

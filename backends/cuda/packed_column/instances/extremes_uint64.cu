#include <backends/cuda/packed_column/queries.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_extremes<std::uint64_t>(const execution&, const packed_extremes_call&);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

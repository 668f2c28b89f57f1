#include <backends/cuda/packed_column/select.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_select<std::uint32_t>(const execution&, const packed_select_call&);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

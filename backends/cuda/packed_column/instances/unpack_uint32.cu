#include <backends/cuda/packed_column/queries.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_unpack<std::uint32_t>(const execution&, const unpack_call&);
template void enqueue_values<std::uint32_t>(const packed_layout&, std::uint64_t, std::uint64_t, std::uint32_t*,
                                            CUstream_st*);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/cuda/packed_column/select.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_select<std::uint64_t>(const execution&, const packed_select_call&);
template void enqueue_bitmap<std::uint64_t>(const packed_layout&, std::uint64_t, std::uint64_t, std::uint64_t*,
                                            CUstream_st*);
template std::uint64_t mark_values<std::uint64_t>(const packed_layout&, std::uint64_t, std::uint64_t, std::uint64_t*,
                                                  std::uint32_t*, CUstream_st*);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/cuda/top_k/instances/filter.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template void run_filter<std::int64_t>(const execution&, const top_k_call&);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/cuda/top_k/call.hpp>
#include <backends/cuda/top_k/filter.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

template struct top_k_runner<std::int64_t, filter_strategy>;

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

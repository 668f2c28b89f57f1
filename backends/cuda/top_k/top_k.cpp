#include <backends/cuda/top_k/top_k.hpp>

#include <backends/cuda/top_k/strategies.hpp>
#include <core/with_key_type.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

void top_k_bitonic(const execution& on, const top_k_call& call) {
  detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) { run_bitonic<T>(on, call); });
}

void top_k_filter(const execution& on, const top_k_call& call) {
  detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) { run_filter<T>(on, call); });
}

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#include <backends/kokkos/bitonic.hpp>

namespace zenith::kokkos_backend {

template void run_bitonic<double>(const top_k_call&, top_k_statistics&);
template void run_bitonic<std::int64_t>(const top_k_call&, top_k_statistics&);
template void run_bitonic<std::uint64_t>(const top_k_call&, top_k_statistics&);

}  // namespace zenith::kokkos_backend

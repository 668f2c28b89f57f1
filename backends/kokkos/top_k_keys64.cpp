#include <backends/kokkos/bitonic.hpp>
#include <backends/kokkos/filter.hpp>

namespace zenith::kokkos_backend {

template void run_bitonic<double>(const top_k_call&, top_k_statistics&);
template void run_filter<double>(const top_k_call&, top_k_statistics&);
template void run_bitonic<std::int64_t>(const top_k_call&, top_k_statistics&);
template void run_filter<std::int64_t>(const top_k_call&, top_k_statistics&);
template void run_bitonic<std::uint64_t>(const top_k_call&, top_k_statistics&);
template void run_filter<std::uint64_t>(const top_k_call&, top_k_statistics&);

}  // namespace zenith::kokkos_backend

#include <backends/cpu/parallel_sort.hpp>

namespace zenith::cpu_backend {

template void sort_stably(std::pmr::memory_resource&, std::uint32_t*, std::uint32_t*, std::uint64_t, int);
template void sort_stably(std::pmr::memory_resource&, std::uint64_t*, std::uint32_t*, std::uint64_t, int);
template void sort_short_segments(std::pmr::memory_resource&, std::uint32_t*, std::uint32_t*, std::uint64_t,
                                  const std::uint32_t*, std::uint64_t, int);
template void sort_short_segments(std::pmr::memory_resource&, std::uint64_t*, std::uint32_t*, std::uint64_t,
                                  const std::uint32_t*, std::uint64_t, int);

}  // namespace zenith::cpu_backend

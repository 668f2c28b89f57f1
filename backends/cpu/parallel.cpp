#include <backends/cpu/parallel.hpp>

#include <algorithm>

#include <core/workers.hpp>

namespace zenith::cpu_backend {

int workers_for(int threads, std::uint64_t bytes) noexcept {
  return static_cast<int>(std::clamp<std::uint64_t>(bytes / worth_a_worker, 1, static_cast<std::uint64_t>(threads)));
}

void run_workers(int workers, const std::function<void(int)>& work) { detail::run_workers(workers, work); }

int hardware_threads() { return detail::hardware_threads(); }

}  // namespace zenith::cpu_backend

#include <backends/cpu/parallel.hpp>

#include <algorithm>

#if defined(ZENITH_HAS_TBB)
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace zenith::cpu_backend {

int workers_for(int threads, std::uint64_t bytes) noexcept {
  return static_cast<int>(std::clamp<std::uint64_t>(bytes / worth_a_worker, 1, static_cast<std::uint64_t>(threads)));
}

#if defined(ZENITH_HAS_TBB)

void run_workers(int workers, const std::function<void(int)>& work) {
  if (workers == 1) return work(0);
  const auto run = [&] { oneapi::tbb::parallel_for(0, workers, 1, work, oneapi::tbb::simple_partitioner{}); };
  if (oneapi::tbb::this_task_arena::max_concurrency() >= workers) {
    run();
  } else {
    oneapi::tbb::task_arena arena(workers);
    arena.execute(run);
  }
}

int hardware_threads() noexcept { return oneapi::tbb::info::default_concurrency(); }

bool has_threads() noexcept { return true; }

#else

void run_workers(int workers, const std::function<void(int)>& work) {
  for (int i = 0; i < workers; ++i) work(i);
}

int hardware_threads() noexcept { return 1; }

bool has_threads() noexcept { return false; }

#endif

}  // namespace zenith::cpu_backend

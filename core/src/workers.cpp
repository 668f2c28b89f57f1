#include <core/workers.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(ZENITH_HAS_TBB)
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <new>
#include <optional>

#include <core/binding.hpp>
#endif

namespace zenith::detail {
namespace {

// A fork and a join, by threads of the call's own. It is also what the thread sanitizer can follow.
void run_threads(int workers, const std::function<void(int)>& work) {
  std::exception_ptr first_fault;
  std::mutex fault_guard;
  const auto guarded = [&](int worker) noexcept {
    try {
      work(worker);
    } catch (...) {
      const std::scoped_lock lock(fault_guard);
      if (first_fault == nullptr) first_fault = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<std::size_t>(workers - 1));
    for (int i = 1; i < workers; ++i) {
      try {
        others.emplace_back(guarded, i);
      } catch (const std::system_error&) {  // the system grants no more threads
        guarded(i);
      }
    }
    guarded(0);
  }
  if (first_fault != nullptr) std::rethrow_exception(first_fault);
}

int count_processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

#if defined(ZENITH_HAS_TBB)

// Whether TBB can be called. The first call of a process allocates; where that fails TBB (2021.8) takes it for one that
// goes on, and every later call waits for it for ever. So it is made here, and where it fails TBB is not called again.
bool tbb_is_started() {
  static const bool is_started = [] {
    // where there is no memory, this fails before TBB has begun, and the next call tries again
    constexpr std::size_t more_than_tbb_takes = std::size_t{64} << 10;
    ::operator delete(::operator new(more_than_tbb_takes));
    try {
      // it counts processors, for all that follows
      const unbound_caller free;
      (void)oneapi::tbb::info::default_concurrency();
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }();
  return is_started;
}

void run_in_arena(int workers, const std::function<void()>& run) {
  using oneapi::tbb::global_control;
  const int unbound_processors = processors_beyond_binding();
  // No wider than TBB starts threads: of more it writes a warning, and a thread that it starts while memory runs out
  // ends the process. The threads that there are do the work of all workers.
  const int allowed = unbound_processors > 0
                          ? unbound_processors
                          : static_cast<int>(global_control::active_value(global_control::max_allowed_parallelism));
  const int width = std::min(workers, allowed);
  if (oneapi::tbb::this_task_arena::max_concurrency() >= width) return run();
  oneapi::tbb::task_arena arena(width);
  std::optional<unbound_workers> unbound;
  if (unbound_processors > 0) unbound.emplace(arena, unbound_processors);
  arena.execute(run);
}

#endif

}  // namespace

#if defined(ZENITH_HAS_TBB)

void run_workers(int workers, const std::function<void(int)>& work) {
  if (workers == 1) return work(0);
  if (!tbb_is_started()) return run_threads(workers, work);
  const auto run = [&] { oneapi::tbb::parallel_for(0, workers, 1, work, oneapi::tbb::simple_partitioner{}); };
  run_in_arena(workers, run);
}

int hardware_threads() {
  if (!tbb_is_started()) return count_processors();
  static const int found = [] {
    const int beyond = processors_beyond_binding();  // of a caller that is still bound
    const unbound_caller free;
    return std::max(oneapi::tbb::info::default_concurrency(), beyond);
  }();
  return found;
}

#else

void run_workers(int workers, const std::function<void(int)>& work) {
  if (workers == 1) return work(0);
  run_threads(workers, work);
}

int hardware_threads() { return count_processors(); }

#endif

int host_threads(const execution& on) {
  const bool is_of_the_host = on.target != nullptr && on.target->memory == memory_space::host;
  return is_of_the_host ? std::max(1, on.threads) : hardware_threads();
}

}  // namespace zenith::detail

#pragma once

/// \file
/// Threads that OpenMP has bound. With OMP_PROC_BIND the runtime binds a program's first thread to one place when the
/// program starts; what asks for the processors of that thread, as TBB does, then finds one, and every thread that it
/// starts is bound to the same.

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(ZENITH_HAS_TBB)
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#endif

namespace zenith::detail {

/// The number of processors in the places of an OpenMP runtime of this process that binds the calling thread to fewer;
/// 0 without one.
[[nodiscard]] int processors_beyond_binding() noexcept;

#if defined(ZENITH_HAS_TBB)

/// While it lives, the caller and TBB's workers in `arena` may run on all processors of the places. For a thread that
/// is bound: it is so again afterwards.
class unbound_workers final : public oneapi::tbb::task_scheduler_observer {
 public:
  explicit unbound_workers(oneapi::tbb::task_arena& arena);
  unbound_workers(const unbound_workers&) = delete;
  unbound_workers& operator=(const unbound_workers&) = delete;
  ~unbound_workers() override;

  void on_scheduler_entry(bool is_worker) override;

 private:
#if defined(__linux__)
  cpu_set_t of_caller_;
#endif
};

#endif

}  // namespace zenith::detail

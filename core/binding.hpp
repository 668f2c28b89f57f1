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

/// While it lives, the caller may run on all processors of the places; a thread that is bound is so again afterwards.
/// What counts processors or starts threads meanwhile is not bound.
class unbound_caller {
 public:
  unbound_caller() noexcept;
  unbound_caller(const unbound_caller&) = delete;
  unbound_caller& operator=(const unbound_caller&) = delete;
  ~unbound_caller();

 private:
  bool was_bound_ = false;
#if defined(__linux__)
  cpu_set_t mask_{};
#endif
};

#if defined(ZENITH_HAS_TBB)

/// While it lives, so may TBB's workers in `arena`: for a program that has started TBB in a bound thread.
class unbound_workers final : public oneapi::tbb::task_scheduler_observer {
 public:
  /// `processors`: of all places.
  unbound_workers(oneapi::tbb::task_arena& arena, int processors);
  unbound_workers(const unbound_workers&) = delete;
  unbound_workers& operator=(const unbound_workers&) = delete;
  ~unbound_workers() override { observe(false); }

  void on_scheduler_entry(bool is_worker) override;

 private:
  unbound_caller caller_;
};

#endif

}  // namespace zenith::detail

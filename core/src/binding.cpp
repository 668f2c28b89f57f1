#include <core/binding.hpp>

#if defined(__linux__)
#include <dlfcn.h>

#include <vector>
#endif
#if defined(ZENITH_HAS_TBB)
#include <oneapi/tbb/global_control.h>
#endif

namespace zenith::detail {
namespace {

#if defined(__linux__)

template <class Function>
Function* find_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// The processors of all places; none without an OpenMP runtime that has places.
cpu_set_t find_places() noexcept {
  cpu_set_t all;
  CPU_ZERO(&all);
  auto* const count_places = find_function<int()>("omp_get_num_places");
  auto* const count_processors = find_function<int(int)>("omp_get_place_num_procs");
  auto* const list_processors = find_function<void(int, int*)>("omp_get_place_proc_ids");
  if (count_places == nullptr || count_processors == nullptr || list_processors == nullptr) return all;
  for (int place = 0; place < count_places(); ++place) {
    int ids[CPU_SETSIZE];
    const int count = count_processors(place);
    if (count > CPU_SETSIZE) continue;
    list_processors(place, ids);
    for (int i = 0; i < count; ++i) {
      if (ids[i] >= 0 && ids[i] < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(ids[i]), &all);
    }
  }
  return all;
}

const cpu_set_t& places() noexcept {
  static const cpu_set_t found = find_places();
  return found;
}

#endif

}  // namespace

int processors_beyond_binding() noexcept {
#if defined(__linux__)
  const int all = CPU_COUNT(&places());
  cpu_set_t mine;
  if (all < 2 || sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) >= all) return 0;
  return all;
#else
  return 0;
#endif
}

unbound_caller::unbound_caller() noexcept {
#if defined(__linux__)
  was_bound_ = processors_beyond_binding() > 0 && sched_getaffinity(0, sizeof mask_, &mask_) == 0;
  if (was_bound_) (void)sched_setaffinity(0, sizeof(cpu_set_t), &places());
#endif
}

unbound_caller::~unbound_caller() {
#if defined(__linux__)
  if (was_bound_) (void)sched_setaffinity(0, sizeof mask_, &mask_);
#endif
}

#if defined(ZENITH_HAS_TBB)

unbound_workers::unbound_workers(oneapi::tbb::task_arena& arena, int processors) : task_scheduler_observer(arena) {
  // TBB has counted the processors of a bound thread. `caller_` is not bound any more, so they are not counted here.
  static const oneapi::tbb::global_control more(oneapi::tbb::global_control::max_allowed_parallelism,
                                                static_cast<std::size_t>(processors));
  observe(true);
}

void unbound_workers::on_scheduler_entry(bool is_worker) {
#if defined(__linux__)
  if (is_worker) (void)sched_setaffinity(0, sizeof(cpu_set_t), &places());
#endif
}

#endif

}  // namespace zenith::detail

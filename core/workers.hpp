#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include <zenith/backend.hpp>

namespace zenith::detail {

/// Runs work(0) … work(workers - 1) at the same time and waits for all of them. They run in the caller's TBB arena when
/// it is wide enough, else in one of their own, and where there is no TBB in threads that live as long as the call; the
/// first exception is passed on. With one worker this is a plain call.
void run_workers(int workers, const std::function<void(int)>& work);

/// The number of threads that this process may use. The first call of a process starts TBB and allocates: it may
/// throw `std::bad_alloc`, and the next call tries again.
[[nodiscard]] int hardware_threads();

/// The most threads that a caller may ask for. There are no more than the process has processors, or than a limit of
/// TBB allows that the program has set: these do the work of all.
inline constexpr int most_threads = 1024;

/// The threads for work on the host that an executor's settings allow: its own on the host, all of the process's when
/// it chooses by itself or drives a device.
[[nodiscard]] int host_threads(const execution& on);

/// Runs work(worker, i) for each i < count, handed out by rising i to whichever worker is free.
template <class Work>
void share_out(int workers, std::uint64_t count, const Work& work) {
  if (count < static_cast<std::uint64_t>(workers)) workers = count == 0 ? 1 : static_cast<int>(count);
  std::atomic<std::uint64_t> next{0};
  run_workers(workers, [&](int worker) {
    for (auto i = next++; i < count; i = next++) work(worker, i);
  });
}

}  // namespace zenith::detail

#pragma once

#include <cstdint>
#include <functional>

namespace zenith::cpu_backend {

/// Waking a sleeping worker takes some ten microseconds, in which a core reads this much.
inline constexpr std::uint64_t worth_a_worker = 512 * 1024;

/// How many of `threads` workers are worth waking for a pass over `bytes` bytes.
[[nodiscard]] int workers_for(int threads, std::uint64_t bytes) noexcept;

/// Runs work(0) … work(workers - 1) at the same time and waits for all of them. They run in the caller's TBB arena when
/// it is wide enough, else in one of their own, and in a build without TBB in threads that live as long as the call;
/// the first exception is passed on. With one worker this is a plain call.
void run_workers(int workers, const std::function<void(int)>& work);

/// The number of threads that this process may use. The first call may throw `std::bad_alloc`.
[[nodiscard]] int hardware_threads();

}  // namespace zenith::cpu_backend

#include <backends/cpu/kernel_launch.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>

#include <backends/cpu/parallel.hpp>

namespace zenith::cpu_backend {
namespace {

/// Chunks are short enough for every worker to get several, and begin where blocks and tiles do.
std::uint64_t chunk_for(std::uint64_t n, int workers) {
  constexpr std::uint64_t most = 1 << 18;
  const std::uint64_t each = n / (static_cast<std::uint64_t>(workers) * 8) + 1;
  return std::clamp((each + least_chunk - 1) / least_chunk * least_chunk, least_chunk, most);
}

/// Of small teams some are taken at once. But each worker has enough chunks for all to end together.
std::uint64_t teams_at_once(std::uint64_t n, int workers) {
  constexpr std::uint64_t most = 64;
  return std::clamp<std::uint64_t>(n / (static_cast<std::uint64_t>(workers) * 64), 1, most);
}

std::uint64_t chunk_of(const kernel_launch& launch, int workers) {
  if (workers == 1) return launch.count;
  return launch.is_of_teams ? teams_at_once(launch.count, workers) : chunk_for(launch.count, workers);
}

/// A worker for whom there is no chunk is not woken. One that is awake takes a few microseconds to begin.
int workers_of(int threads, const launch_state& state, const kernel_launch& launch) {
  constexpr std::uint64_t worth_an_awake_worker = 96 * 1024;
  const std::uint64_t chunks = launch.is_of_teams ? launch.count : (launch.count + least_chunk - 1) / least_chunk;
  const auto most = static_cast<int>(std::min(chunks, static_cast<std::uint64_t>(threads)));
  const int woken = workers_for(most, launch.bytes);
  const auto useful =
      static_cast<int>(std::min(launch.bytes / worth_an_awake_worker, static_cast<std::uint64_t>(most)));
  return useful > woken ? std::max(woken, std::min(useful, state.awake_workers())) : woken;
}

}  // namespace

bool launch_state::keeps_workers() noexcept {
#if defined(ZENITH_HAS_TBB)
  return true;
#else
  return false;
#endif
}

int launch_state::awake_workers() const noexcept {
  constexpr std::chrono::microseconds awake_for{100};
  const bool are_awake = keeps_workers() && workers_ > 1 && std::chrono::steady_clock::now() - had_work_ < awake_for;
  return are_awake ? workers_ : 1;
}

void launch_state::had_work(int workers) noexcept {
  workers_ = workers;
  had_work_ = std::chrono::steady_clock::now();
}

void launch_on(int threads, launch_state& state, const kernel_launch& launch) {
  if (launch.count == 0) return;
  const int workers = workers_of(threads, state, launch);
  const auto shares = static_cast<std::uint64_t>(workers);
  // a line more, so that no two workers write to one
  const std::uint64_t lines = launch.scratch_bytes == 0 ? 0 : launch.scratch_bytes / sizeof(line) + 1;
  launch_share only;
  line* const workspace = state.reserve(lines * shares + (workers == 1 ? 0 : shares));
  const std::uint64_t chunk = chunk_of(launch, workers);
  const std::uint64_t chunks = (launch.count - 1) / chunk + 1;
  const launch_worker first{0,
                            static_cast<std::uint32_t>(workers),
                            launch.count,
                            chunk,
                            workers == 1 ? &only : reinterpret_cast<launch_share*>(workspace + lines * shares),
                            nullptr};
  for (std::uint64_t i = 0; i < shares; ++i) {
    new (first.shares + i) launch_share{chunks * i / shares, chunks * (i + 1) / shares};
  }
  const auto run = [&](int worker) {
    launch_worker own = first;
    own.id = static_cast<std::uint32_t>(worker);
    own.scratch = workspace + own.id * lines;
    launch.entry(launch.kernel, own);
  };
  if (workers == 1) return run(0);
  run_workers(workers, std::cref(run));
  state.had_work(workers);
}

std::uint64_t compact_on(int workers, std::uint64_t count, const device::part_test& test, std::uint32_t* to) {
  return device::compact_in_parts(
      count, static_cast<std::uint64_t>(workers), test, to, [](std::uint64_t parts, const auto& run) {
        run_workers(static_cast<int>(parts), [&](int worker) { run(static_cast<std::uint64_t>(worker)); });
      });
}

}  // namespace zenith::cpu_backend

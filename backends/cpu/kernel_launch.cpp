#include <backends/cpu/kernel_launch.hpp>

#include <algorithm>

#include <backends/cpu/parallel.hpp>
#include <backends/cpu/scratch.hpp>

namespace zenith::cpu_backend {
namespace {

/// Chunks are short enough for every worker to get several, and begin where blocks and tiles do.
std::uint64_t chunk_for(std::uint64_t n, int workers) {
  constexpr std::uint64_t least = 1024;
  constexpr std::uint64_t most = 1 << 18;
  const std::uint64_t each = n / (static_cast<std::uint64_t>(workers) * 8) + 1;
  return std::clamp((each + least - 1) / least * least, least, most);
}

}  // namespace

void launch_on(int threads, std::pmr::memory_resource& memory, const kernel_launch& launch) {
  if (launch.count == 0) return;
  const int workers = workers_for(threads, launch.bytes);
  const std::uint64_t lines = launch.scratch_bytes / sizeof(line) + 1;
  const scratch<line> workspace(memory, lines * static_cast<std::uint64_t>(workers));
  std::uint64_t next = 0;
  const launch_worker first{0, launch.count, launch.is_of_teams ? 1 : chunk_for(launch.count, workers), &next, nullptr};
  run_workers(workers, [&](int worker) {
    launch_worker own = first;
    own.id = static_cast<std::uint32_t>(worker);
    own.scratch = workspace.data() + own.id * lines;
    launch.entry(launch.kernel, own);
  });
}

std::uint64_t compact_on(int workers, std::uint64_t count, const device::part_test& test, std::uint32_t* to) {
  return device::compact_in_parts(
      count, static_cast<std::uint64_t>(workers), test, to, [](std::uint64_t parts, const auto& run) {
        run_workers(static_cast<int>(parts), [&](int worker) { run(static_cast<std::uint64_t>(worker)); });
      });
}

}  // namespace zenith::cpu_backend

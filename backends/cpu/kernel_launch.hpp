#pragma once

/// \file
/// Launches of the CPU's device context, whatever the kernel: compiled once for all of them.

#include <chrono>
#include <cstdint>
#include <memory_resource>

#include <backends/cpu/launch.hpp>
#include <backends/cpu/scratch.hpp>
#include <core/device/compact_in_parts.hpp>

namespace zenith::cpu_backend {

/// A line of the cache.
struct alignas(64) line {
  unsigned char bytes[64];
};
[[nodiscard]] constexpr std::uint64_t lines_of(std::uint64_t bytes) {
  return (bytes + sizeof(line) - 1) / sizeof(line);
}

/// Items that a worker takes at a time, at least.
inline constexpr std::uint64_t least_chunk = 1024;

struct kernel_launch {
  kernel_entry entry;
  const void* kernel;
  std::uint64_t count;          ///< of items
  std::uint64_t bytes;          ///< that it reads, or what takes as long: how many workers it is worth
  std::uint64_t scratch_bytes;  ///< a worker's
  bool is_of_teams;             ///< a team is an item; else items are handed out in chunks
};

/// What a call's launches share: the workers' scratch, as much as any of them has wanted so far, and which workers are
/// awake.
class launch_state {
 public:
  explicit launch_state(std::pmr::memory_resource& memory) : memory_(memory) {}

  /// Whether workers look for work when they had some. Those of a build without TBB end with each launch.
  [[nodiscard]] static bool keeps_workers() noexcept;
  /// How many workers had work so short a time ago that they still look for more.
  [[nodiscard]] int awake_workers() const noexcept;
  void had_work(int workers) noexcept;

  [[nodiscard]] line* reserve(std::uint64_t lines) {
    if (lines > held_.size()) {
      held_ = {};
      held_ = scratch<line>(memory_, lines);
    }
    return held_.data();
  }

 private:
  std::pmr::memory_resource& memory_;
  scratch<line> held_;
  int workers_ = 1;
  std::chrono::steady_clock::time_point had_work_;
};

/// Runs a kernel on as many of `threads` workers as it is worth, and has items for.
void launch_on(int threads, launch_state& state, const kernel_launch& launch);

/// The items below `count` for which a test holds, in order. Returns how many they are.
[[nodiscard]] std::uint64_t compact_on(int workers, std::uint64_t count, const device::part_test& test,
                                       std::uint32_t* to);

}  // namespace zenith::cpu_backend

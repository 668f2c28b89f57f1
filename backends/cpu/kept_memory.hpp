#pragma once

/// \file
/// Scratch that stays from call to call. What malloc gives back to the system comes back as fresh pages, each of which
/// the system clears when it is first written: for a short call that is more than its work.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory_resource>

namespace zenith::cpu_backend {

/// Memory of new and delete. Blocks of 4 KiB to 16 MiB that are given back are kept for the next that wants one of
/// their size, rounded up to a quarter of a power of two; others pass through. At most `most_bytes` are kept: what
/// would exceed that, and an allocation that finds no memory, give everything kept back first. Any thread may allocate,
/// and any give back, without a lock.
class kept_memory final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t least_block = std::size_t{1} << 12;
  static constexpr std::size_t most_block = std::size_t{1} << 24;
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t blocks_of_size = 64;  ///< that are kept, at most

  explicit kept_memory(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}
  ~kept_memory() override { release(); }
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;

  /// Gives all that is kept back; returns the bytes.
  std::size_t release() noexcept;
  /// The same, and keeps nothing from here on. Blocks in use may still be given back.
  void close() noexcept;
  /// What is kept now: blocks that no one uses.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

 private:
  // four sizes from a power of two to the next
  static constexpr std::size_t sizes = 4 * 12 + 1;
  using places = std::array<std::atomic<void*>, blocks_of_size>;

  void* do_allocate(std::size_t bytes, std::size_t align) override;
  void do_deallocate(void* at, std::size_t bytes, std::size_t align) override;
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  [[nodiscard]] static bool is_kept(std::size_t bytes, std::size_t align) noexcept {
    return bytes >= least_block && bytes <= most_block && align <= alignment;
  }
  void* take(places& from, std::size_t size) noexcept;

  std::array<places, sizes> idle_{};
  std::atomic<std::size_t> kept_bytes_{0};
  std::atomic<std::size_t> most_bytes_;
};

/// What the process keeps at most.
inline constexpr std::size_t most_kept_scratch = std::size_t{64} << 20;

/// Not under the address sanitizer, which would take what is used after its release for the next user's.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps_scratch = false;
#elif defined(__has_feature)
inline constexpr bool keeps_scratch = !__has_feature(address_sanitizer);
#else
inline constexpr bool keeps_scratch = true;
#endif

/// Where scratch comes from when the executor names no resource: the default resource. Where that is new and delete, a
/// `kept_memory` of the process, which ends with it.
[[nodiscard]] std::pmr::memory_resource& usual_scratch_resource();

}  // namespace zenith::cpu_backend

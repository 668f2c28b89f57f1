#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

/// \file
/// What the vocabulary's words are made of: the engine as a running kernel sees it, free of types. None of these may be
/// called outside a kernel, but for `launch`.

namespace zenith::simt_engine {

/// The emulated device: the most shared memory of a block, static and dynamic together, and its multiprocessors.
inline constexpr std::size_t device_shared_bytes = 99 * 1024;
inline constexpr int device_multiprocessors = 3;

struct launch_request {
  const char* kernel_name = "";
  unsigned grid = 1;
  unsigned block = 32;
  std::size_t shared_bytes = 0;
  const void* kernel = nullptr;  ///< the kernel struct, which every thread reads and none owns
  std::size_t kernel_bytes = 0;
  void (*run_thread)(const void* kernel) = nullptr;
  bool waits_within = false;  ///< blocks wait for each other, so all of them are on the device at once
};

/// Runs every thread of every block, in an order drawn from the seed; throws the fault that it finds.
void launch(const launch_request& request, const std::source_location& where);

/// Whether a kernel's thread runs: this word alone may be said at any time.
[[nodiscard]] bool is_in_kernel() noexcept;

[[nodiscard]] unsigned thread_index();
[[nodiscard]] unsigned block_index();
[[nodiscard]] unsigned block_size();
[[nodiscard]] unsigned grid_size();

/// Waits for every thread of the block, and returns how many of them said true.
unsigned block_barrier(bool predicate, const std::source_location& where);

enum class warp_operation : std::uint8_t {
  barrier,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any,
  reduce_add,
  reduce_min,
  reduce_max,
};

inline constexpr std::size_t widest_warp_value = 64;

/// Waits for the lanes of `mask`. Shuffles replace the `bytes` bytes at `value`; the others return what they found out.
std::uint32_t warp_meet(warp_operation operation, std::uint32_t mask, void* value, std::size_t bytes, unsigned argument,
                        const std::source_location& where);

enum class access : std::uint8_t {
  read,
  streaming_read,  ///< promises that nobody writes there during the launch
  write,
  atomic_read,
  atomic_write,  ///< or read, changed and written
  block_atomic_read,
  block_atomic_write,
};

/// Plain and atomic memory, checked; `bytes` must be the access's alignment.
void read_memory(void* to, const void* from, std::size_t bytes, access how, const std::source_location& where);
void write_memory(void* to, const void* from, std::size_t bytes, access how, const std::source_location& where);
/// Announces an atomic operation: other threads may run first. Then `read_memory` and `write_memory` are one step.
void before_atomic();

enum class fence_scope : std::uint8_t { block, device };
void memory_fence(fence_scope scope);

/// `bytes` bytes of the block's dynamic shared memory from `offset` on.
[[nodiscard]] void* dynamic_shared(std::size_t offset, std::size_t bytes, std::size_t align,
                                   const std::source_location& where);
/// The block's variable that `key` names: the same bytes for every thread.
[[nodiscard]] void* static_shared(const void* key, std::size_t bytes, std::size_t align,
                                  const std::source_location& where);
/// An index into a shared span that has `count` elements.
void require_element(std::size_t at, std::size_t count, const std::source_location& where);

void async_copy(void* to, const void* from, std::size_t bytes, const std::source_location& where);
void async_commit();
void async_wait(unsigned pending, const std::source_location& where);

/// The order of everything from now on, and where it starts: ZENITH_SIMT_SEED, or 1, unless a test says otherwise.
void set_seed(std::uint64_t seed);
[[nodiscard]] std::uint64_t seed();

}  // namespace zenith::simt_engine

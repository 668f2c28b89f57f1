#include "failing_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constinit std::atomic<std::int64_t> live{0};
constinit std::atomic<bool> armed{false};
constinit std::atomic<bool> of_one_thread{false};
constinit thread_local bool is_that_thread = false;
constinit std::atomic<bool> failed{false};
constinit std::atomic<std::int64_t> before_failure{0};
constinit std::atomic<std::size_t> most_bytes{std::numeric_limits<std::size_t>::max()};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (armed && (is_that_thread || !of_one_thread) && before_failure.fetch_sub(1) == 0) {
    failed = true;
    return nullptr;
  }
  if (bytes > most_bytes) return nullptr;
  const auto whole = (bytes + alignment - 1) / alignment * alignment;
  void* const made = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (made != nullptr) ++live;
  return made;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const made = allocate(bytes, alignment);
  if (made == nullptr) throw std::bad_alloc{};
  return made;
}

void release(void* block) noexcept {
  if (block != nullptr) --live;
  std::free(block);
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

// What is not here is defined by the standard library through these.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }

namespace zenith_test::failing_memory {

std::int64_t live_blocks() { return live; }

void fail_at(std::int64_t n) {
  before_failure = n;
  failed = false;
  armed = true;
}

void fail_at_in_this_thread(std::int64_t n) {
  is_that_thread = true;
  of_one_thread = true;
  fail_at(n);
}

void fail_beyond(std::size_t bytes) { most_bytes = bytes; }

bool stop() {
  armed = false;
  of_one_thread = false;
  is_that_thread = false;
  return failed;
}

}  // namespace zenith_test::failing_memory

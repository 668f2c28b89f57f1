#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>

/// \file
/// Memory of operator new that runs out when a test says so.

namespace zenith_test::failing_memory {

/// Blocks of operator new that were not deleted, of all threads.
[[nodiscard]] std::int64_t live_blocks();

/// The n-th allocation from now, by whichever thread, throws `std::bad_alloc`; those after it do not.
void fail_at(std::int64_t n);
/// The same of the calling thread's allocations.
void fail_at_in_this_thread(std::int64_t n);
/// From now on those of more bytes fail.
void fail_beyond(std::size_t bytes);
/// No allocation fails any more. Returns whether the one did that was to fail.
bool stop();

/// While it lives each buffer of scratch is an allocation of its own, which can fail, and nothing of it stays: scratch
/// is kept for later calls only where the default resource is new and delete itself, which this one is not.
class scratch_not_kept final : public std::pmr::memory_resource {
 public:
  scratch_not_kept() : replaced_(std::pmr::set_default_resource(this)) {}
  ~scratch_not_kept() override { std::pmr::set_default_resource(replaced_); }
  scratch_not_kept(const scratch_not_kept&) = delete;
  scratch_not_kept& operator=(const scratch_not_kept&) = delete;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* replaced_;
};

}  // namespace zenith_test::failing_memory

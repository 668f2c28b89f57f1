#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

/// \file
/// A stack and what runs on it: one for each emulated thread.

namespace zenith::simt_engine {

/// A stack with an unmapped page below it. Sanitized code has large frames.
class fiber_stack {
 public:
  static constexpr std::size_t bytes = std::size_t{256} << 10;

  fiber_stack();
  fiber_stack(const fiber_stack&) = delete;
  fiber_stack& operator=(const fiber_stack&) = delete;
  ~fiber_stack();

  [[nodiscard]] std::byte* bottom() const noexcept { return bottom_; }
  [[nodiscard]] bool holds(std::uintptr_t address) const noexcept {
    return address - reinterpret_cast<std::uintptr_t>(bottom_) < bytes;
  }

 private:
  std::byte* mapping_ = nullptr;
  std::byte* bottom_ = nullptr;
};

/// Runs one function after another, each on this fiber's stack until it returns or is given up.
class fiber {
 public:
  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() { give_up(); }

  /// Prepares `body(argument)`; it starts with the first `resume`.
  void start(void (*body)(void*), void* argument);
  /// From the scheduler: runs until the fiber suspends or its function returns; true while there is more to run.
  bool resume();
  /// From the fiber: back to the scheduler.
  void suspend();
  /// Forgets a function that has not returned, without unwinding its stack: device code owns nothing, and a fault may
  /// have been found where no exception can pass.
  void give_up() noexcept;

  [[nodiscard]] const fiber_stack& stack() const noexcept { return stack_; }

 private:
  fiber_stack stack_;
  boost::context::fiber own_;
  boost::context::fiber scheduler_;
  void* scheduler_shadow_ = nullptr;
  void* own_shadow_ = nullptr;
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
};

}  // namespace zenith::simt_engine

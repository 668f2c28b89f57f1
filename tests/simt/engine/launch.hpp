#pragma once

#include <array>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fault.hpp"
#include "fiber.hpp"
#include "kernel_words.hpp"
#include "memory.hpp"
#include "random.hpp"

/// \file
/// One launch while it runs: its threads, its blocks, and the order in which they take their turns.
///
/// Time is kept by clocks: each thread counts the points at which it makes its past known to others. A thread knows of
/// an access when it knows a later clock of the thread that made it; two accesses to the same bytes are a race when the
/// later one's thread does not know of the earlier one. What a thread knows comes from block barriers (everything of
/// its block before the barrier), warp barriers (what the lanes of the mask know) and fences around atomics.

namespace zenith::simt_engine {

/// A clock for each thread of the launch.
using clocks = std::vector<std::uint32_t>;

enum class thread_state : std::uint8_t { ready, at_barrier, at_warp_operation, returned };

struct pending_copy {
  void* to = nullptr;
  std::array<std::byte, 16> value{};
  std::size_t bytes = 0;
};

struct block_state;

struct thread_context {
  fiber body;
  block_state* home = nullptr;
  unsigned index = 0;
  thread_state state = thread_state::returned;
  site waits_at;

  // at a barrier or a warp operation
  bool predicate = false;
  warp_operation operation{};
  std::uint32_t mask = 0;
  unsigned argument = 0;
  std::size_t value_bytes = 0;
  std::array<std::byte, widest_warp_value> value{};
  std::array<std::byte, widest_warp_value> received{};
  std::uint32_t answer = 0;

  // what it knows
  std::uint32_t clock = 1;
  std::array<std::uint32_t, 32> known{};   // of the lanes of its warp
  std::shared_ptr<const clocks> others;    // of threads of other blocks, and of its own by way of atomics
  std::shared_ptr<const clocks> released;  // what it knew at its last fence: its atomics hand it on
  std::shared_ptr<const clocks> taken;     // what atomics handed to it since its last fence

  std::vector<pending_copy> open_batch;
  std::deque<std::vector<pending_copy>> batches;
  std::uint64_t steps = 0;  // accesses since it last waited
  bool in_engine = false;   // what runs now is not the kernel's text

  [[nodiscard]] unsigned lane() const noexcept { return index % 32; }
  [[nodiscard]] unsigned warp() const noexcept { return index / 32; }
};

/// The shared memory of a block: regions with guards between them.
class shared_memory {
 public:
  static constexpr std::size_t capacity = 256 * 1024;

  shared_memory();
  /// Forgets all variables, and poisons what they held; then allocates `dynamic_bytes`.
  void reset(std::size_t dynamic_bytes);
  region& add(std::size_t bytes, std::size_t align);
  [[nodiscard]] region* find(std::uintptr_t address) noexcept;
  /// Where `address` lies: how far from which variable.
  [[nodiscard]] std::string describe(std::uintptr_t address) const;
  [[nodiscard]] region& dynamic() noexcept { return regions_.front(); }
  [[nodiscard]] bool owns(std::uintptr_t address) const noexcept {
    return address - reinterpret_cast<std::uintptr_t>(pages_.data()) < pages_.size();
  }
  /// Where the variable of `key` stands; null before its first use.
  std::unordered_map<const void*, std::size_t> variables;
  [[nodiscard]] region& at(std::size_t i) { return regions_[i]; }
  [[nodiscard]] std::size_t count() const noexcept { return regions_.size(); }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }

 private:
  lazy_pages pages_;
  lazy_pages shadow_;
  std::deque<region> regions_;  // the dynamic one first
  std::size_t end_ = 0;
  std::size_t used_bytes_ = 0;
};

struct block_state {
  unsigned index = 0;
  bool running = false;
  std::vector<std::unique_ptr<thread_context>> threads;  // at least as many as a block has
  shared_memory shared;
  clocks known;  // each thread's clock at the last barrier
  unsigned ready = 0;
  unsigned at_barrier = 0;
  unsigned returned = 0;
};

class launch_run {
 public:
  launch_run(const launch_request& request, site where, std::uint64_t seed);
  launch_run(const launch_run&) = delete;
  launch_run& operator=(const launch_run&) = delete;
  ~launch_run();
  void run();

  [[nodiscard]] const launch_request& request() const noexcept { return request_; }
  [[nodiscard]] unsigned grid() const noexcept { return request_.grid; }
  [[nodiscard]] unsigned threads_per_block() const noexcept { return request_.block; }
  [[nodiscard]] random_numbers& random() noexcept { return random_; }

  // from a thread
  void wait(thread_context& self, thread_state why);
  void let_others_run(thread_context& self);
  void wake(thread_context& thread);
  void arrive_at_barrier(thread_context& self);
  void arrive_at_warp_operation(thread_context& self);
  void fence(thread_context& self, fence_scope scope);
  /// Checks one access and notes it in the shadow; false when it reads what nothing wrote, a fault that may wait.
  bool check(thread_context& self, const void* at, std::size_t bytes, access how, site where);
  void start_copy(thread_context& self, void* to, const void* from, std::size_t bytes, site where);
  void finish_copies(thread_context& self, unsigned pending, site where);
  void count_step(thread_context& self, site where);
  /// A read of what nothing wrote. When its writer still comes, unordered, the two race, and that is what to report: a
  /// barrier is missing between them. So the launch goes on until the block is past its next barrier.
  void suspect(const thread_context& self, site where, std::string sentence);
  void confirm_suspicion();
  /// Ends the launch with a fault of `about`; the running thread never runs again, nor do the destructors on its stack.
  /// So the sentence is made by a function: what it needed is gone when it returns.
  template <class Sentence>
  [[noreturn]] void raise(const thread_context& about, fault_kind kind, site where, const Sentence& sentence) {
    stop_with(about, kind, where, sentence());
  }

 private:
  [[noreturn]] void stop_with(const thread_context& about, fault_kind kind, site where, std::string sentence);
  void check_request() const;
  void admit_block();
  void retire_block(block_state& block);
  void resume(thread_context& thread);
  static void thread_main(void* self);
  void explain_standstill(const block_state& block);
  [[nodiscard]] fault make_fault(const thread_context* about, fault_kind kind, site where, std::string sentence) const;

  // clocks
  [[nodiscard]] std::uint32_t number(const thread_context& thread) const noexcept;
  [[nodiscard]] std::size_t place(const thread_context& thread) const noexcept;
  [[nodiscard]] bool knows(const thread_context& self, const access_record& of) const noexcept;
  void join_at_barrier(block_state& block);
  void join_at_warp_barrier(thread_context& self);
  void exchange_by_atomic(thread_context& self, std::uintptr_t at, bool writes);

  // accesses
  bool check_region(thread_context& self, const region& area, bool is_shared, std::uintptr_t at, std::size_t bytes,
                    access how, site where);
  struct conflict_context {
    bool before_wrote;
    bool now_writes;
    bool is_shared;
  };
  void check_conflict(thread_context& self, const access_record& before, const access_record& now,
                      conflict_context context, std::uintptr_t at, const region& area);
  bool check_elsewhere(thread_context& self, std::uintptr_t at, std::size_t bytes, access how, site where);
  [[nodiscard]] std::string name_thread(const access_record& of, const thread_context& seen_from) const;
  [[nodiscard]] std::string name_place(const region& area, bool is_shared, std::uintptr_t at) const;

  launch_request request_;
  site where_;
  std::uint64_t seed_;
  random_numbers random_;
  std::uint32_t first_number_ = 1;
  std::vector<unsigned> waiting_blocks_;  // the next one last
  std::vector<std::unique_ptr<block_state>> resident_;
  std::vector<thread_context*> ready_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<const clocks>> handed_on_;
  std::optional<fault> found_;
  std::optional<fault> suspicion_;
  const block_state* suspicious_block_ = nullptr;
  std::uint64_t turns_left_for_suspicion_ = 0;
  std::exception_ptr thrown_;
};

/// The thread that runs now, nullptr outside a kernel.
[[nodiscard]] thread_context* current_thread() noexcept;
[[nodiscard]] launch_run& current_launch();

/// The running thread, while it is in the engine. The linker keeps one copy of an inline function, and it may be the
/// instrumented one of a kernel's file: what that announces for the engine is not the kernel's.
class engine_section {
 public:
  engine_section() : self_(*current_thread()) { self_.in_engine = true; }
  engine_section(const engine_section&) = delete;
  engine_section& operator=(const engine_section&) = delete;
  ~engine_section() { self_.in_engine = false; }

  [[nodiscard]] thread_context& self() const noexcept { return self_; }

 private:
  thread_context& self_;
};

}  // namespace zenith::simt_engine

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <utility>

#include "launch.hpp"

namespace zenith::simt_engine {
namespace {

// Blocks that are on the device at the same time, when the seed says many, and the threads that they may have together.
constexpr unsigned most_resident_blocks = 4;
constexpr unsigned most_resident_threads = 2048;
// Accesses of one thread without a wait: far more than any kernel at test sizes makes.
constexpr std::uint64_t endless_steps = 50'000'000;
// How long a launch goes on after a read of what nothing wrote; a thread gets a turn for each wait.
constexpr std::uint64_t most_turns_under_suspicion = 1'000'000;

// One launch at a time: host threads may launch concurrently, and a device serialises as it likes.
std::recursive_mutex& device_lock() {
  static std::recursive_mutex lock;
  return lock;
}

// Blocks that are not in use, with their stacks: a stack costs two system calls.
std::vector<std::unique_ptr<block_state>>& spare_blocks() {
  static std::vector<std::unique_ptr<block_state>> spare;
  return spare;
}

thread_local thread_context* running_thread = nullptr;
thread_local launch_run* running_launch = nullptr;

std::uint64_t seed_from_environment() {
  const char* const text = std::getenv("ZENITH_SIMT_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

// The type behind "… [with Kernel = " or "… [Kernel = ", as compilers spell a template's name.
std::string plain_name(std::string_view spelled) {
  constexpr std::string_view mark = "Kernel = ";
  const auto at = spelled.find(mark);
  if (at == std::string_view::npos || !spelled.ends_with(']')) return std::string(spelled);
  return std::string(spelled.substr(at + mark.size(), spelled.size() - at - mark.size() - 1));
}

struct seed_state {
  std::uint64_t seed = seed_from_environment();
  std::uint64_t launches = 0;
  std::uint64_t threads = 0;
};

seed_state& seeds() {
  static seed_state state;
  return state;
}

}  // namespace

thread_context* current_thread() noexcept { return running_thread; }
launch_run& current_launch() { return *running_launch; }

void set_seed(std::uint64_t seed) {
  const std::lock_guard lock(device_lock());
  seeds().seed = seed;
  seeds().launches = 0;
}

std::uint64_t seed() {
  const std::lock_guard lock(device_lock());
  return seeds().seed;
}

void launch(const launch_request& request, const std::source_location& where) {
  const std::lock_guard lock(device_lock());
  launch_run run(request, site::of_call(where), seeds().seed);
  run.run();
}

launch_run::launch_run(const launch_request& request, site where, std::uint64_t seed)
    : request_(request), where_(where), seed_(seed), random_(random_numbers(seed).next() + seeds().launches) {
  ++seeds().launches;
  check_request();
  // Threads are numbered through all launches, so that whatever an earlier launch did is known to be over.
  first_number_ = static_cast<std::uint32_t>(1 + seeds().threads);
  seeds().threads += std::uint64_t{grid()} * threads_per_block();
  waiting_blocks_.resize(grid());
  std::iota(waiting_blocks_.begin(), waiting_blocks_.end(), 0U);
  for (std::size_t i = waiting_blocks_.size(); i > 1; --i) {
    std::swap(waiting_blocks_[i - 1], waiting_blocks_[random_.below(i)]);
  }
  const unsigned most = std::min(most_resident_blocks, most_resident_threads / threads_per_block());
  const auto residents = request.waits_within ? std::size_t{grid()} : static_cast<std::size_t>(1 + random_.below(most));
  for (std::size_t i = 0; i < std::min<std::size_t>(residents, grid()); ++i) {
    if (spare_blocks().empty()) {
      resident_.push_back(std::make_unique<block_state>());
    } else {
      resident_.push_back(std::move(spare_blocks().back()));
      spare_blocks().pop_back();
    }
  }
}

launch_run::~launch_run() {
  for (auto& block : resident_) {
    for (auto& thread : block->threads) thread->body.give_up();
    spare_blocks().push_back(std::move(block));
  }
}

void launch_run::check_request() const {
  const auto wrong = [&](std::string sentence) {
    throw make_fault(nullptr, fault_kind::launch, where_, std::move(sentence));
  };
  if (running_launch != nullptr) wrong("a kernel launches another");
  if (grid() == 0 || grid() > 0x7fffffffU) wrong(fmt::format("a grid of {} blocks", grid()));
  if (request_.shared_bytes > device_shared_bytes) {
    wrong(fmt::format("{} bytes of dynamic shared memory; the device has {}", request_.shared_bytes,
                      device_shared_bytes));
  }
  if (std::uint64_t{grid()} * threads_per_block() + seeds().threads >= 0xffffffffULL) {
    wrong("the emulation has run out of thread numbers: 2^32 in one process");
  }
}

void launch_run::run() {
  running_launch = this;
  struct at_end {
    ~at_end() { running_launch = nullptr; }
  } const restore;
  for (auto& block : resident_) {
    block->returned = 0;
    block->threads.resize(std::max<std::size_t>(block->threads.size(), threads_per_block()));
    for (auto& thread : block->threads) {
      if (thread == nullptr) thread = std::make_unique<thread_context>();
    }
    retire_block(*block);
  }
  while (!ready_.empty() && !found_ && thrown_ == nullptr) {
    const std::size_t turn = random_.below(ready_.size());
    thread_context* const next = std::exchange(ready_[turn], ready_.back());
    ready_.pop_back();
    --next->home->ready;
    resume(*next);
    if (suspicion_ && --turns_left_for_suspicion_ == 0) confirm_suspicion();
    if (!found_ && next->home->ready == 0 && next->home->returned < threads_per_block() && next->home->running) {
      explain_standstill(*next->home);
    }
  }
  confirm_suspicion();
  if (thrown_ != nullptr && !found_) std::rethrow_exception(thrown_);
  if (found_) throw *found_;
}

// Takes the next block of the grid into the place of one that is done.
void launch_run::retire_block(block_state& block) {
  block.running = !waiting_blocks_.empty();
  if (!block.running) return;
  block.index = waiting_blocks_.back();
  waiting_blocks_.pop_back();
  block.shared.reset(request_.shared_bytes);
  block.known.assign(threads_per_block(), 0);
  block.ready = block.at_barrier = block.returned = 0;
  for (unsigned i = 0; i < threads_per_block(); ++i) {
    thread_context& thread = *block.threads[i];
    thread.home = &block;
    thread.index = i;
    thread.in_engine = false;
    thread.clock = 1;
    thread.known.fill(0);
    thread.others = thread.released = thread.taken = nullptr;
    thread.open_batch.clear();
    thread.batches.clear();
    thread.body.start(&launch_run::thread_main, &thread);
    wake(thread);
  }
}

void launch_run::thread_main(void* self) {
  auto& thread = *static_cast<thread_context*>(self);
  launch_run& launch = current_launch();
  try {
    launch.request_.run_thread(launch.request_.kernel);
  } catch (...) {
    launch.thrown_ = std::current_exception();
  }
  thread.state = thread_state::returned;
}

void launch_run::resume(thread_context& thread) {
  running_thread = &thread;
  const bool more = thread.body.resume();
  running_thread = nullptr;
  if (more) return;
  block_state& home = *thread.home;
  if (++home.returned < threads_per_block()) return;
  if (&home == suspicious_block_) confirm_suspicion();
  if (!found_) retire_block(home);
}

void launch_run::wake(thread_context& thread) {
  thread.state = thread_state::ready;
  thread.steps = 0;
  ++thread.home->ready;
  ready_.push_back(&thread);
}

void launch_run::wait(thread_context& self, thread_state why) {
  self.state = why;
  self.body.suspend();
}

void launch_run::let_others_run(thread_context& self) {
  const std::uint64_t steps = self.steps;
  wake(self);
  self.steps = steps;
  self.body.suspend();
}

void launch_run::count_step(thread_context& self, site where) {
  if (++self.steps < endless_steps) return;
  raise(self, fault_kind::endless, where, [&] {
    return fmt::format("a thread made {} accesses and never waited for another: it seems to go round for ever",
                       endless_steps);
  });
}

fault launch_run::make_fault(const thread_context* about, fault_kind kind, site where, std::string sentence) const {
  fault::details what{.kind = kind,
                      .where = where.resolve(),
                      .in_kernel = about != nullptr,
                      .sentence = std::move(sentence),
                      .kernel = plain_name(request_.kernel_name),
                      .seed = seed_};
  if (about != nullptr) {
    what.block = {about->home->index, 0, 0};
    what.thread = {about->index, 0, 0};
  }
  return fault(std::move(what));
}

void launch_run::suspect(const thread_context& self, site where, std::string sentence) {
  if (suspicion_) return;
  suspicion_ = make_fault(&self, fault_kind::uninitialised_read, where, std::move(sentence));
  suspicious_block_ = self.home;
  turns_left_for_suspicion_ = most_turns_under_suspicion;
}

void launch_run::confirm_suspicion() {
  if (suspicion_ && !found_) found_ = std::move(suspicion_);
  suspicion_.reset();
}

void launch_run::stop_with(const thread_context& about, fault_kind kind, site where, std::string sentence) {
  // Under a suspicion this fault may be a consequence of what was read: this thread stops, and the others may still
  // show who should have written. The block then stands still, which confirms it. No exception: the fault may have been
  // found in the midst of instrumented code that no exception can pass.
  if (!suspicion_) found_ = make_fault(&about, kind, where, std::move(sentence));
  std::string().swap(sentence);
  running_thread->state = thread_state::ready;  // nobody waits for it, and nobody wakes it
  running_thread->body.suspend();
  std::abort();  // a thread with a fault never runs again
}

}  // namespace zenith::simt_engine

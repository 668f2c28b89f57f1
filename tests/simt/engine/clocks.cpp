#include <algorithm>
#include <utility>

#include "launch.hpp"

/// \file
/// Who knows of what: the happens-before order of a launch.

namespace zenith::simt_engine {
namespace {

using shared_clocks = std::shared_ptr<const clocks>;

shared_clocks later_of(const shared_clocks& a, const shared_clocks& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto both = std::make_shared<clocks>(*a);
  std::transform(both->begin(), both->end(), b->begin(), both->begin(),
                 [](std::uint32_t x, std::uint32_t y) { return std::max(x, y); });
  return both;
}

}  // namespace

std::size_t launch_run::place(const thread_context& thread) const noexcept {
  return std::size_t{thread.home->index} * threads_per_block() + thread.index;
}

std::uint32_t launch_run::number(const thread_context& thread) const noexcept {
  return first_number_ + static_cast<std::uint32_t>(place(thread));
}

bool launch_run::knows(const thread_context& self, const access_record& of) const noexcept {
  if (of.thread < first_number_) return true;
  const std::size_t at = of.thread - first_number_;
  if (at == place(self)) return true;
  if (at / threads_per_block() == self.home->index) {
    const std::size_t thread = at % threads_per_block();
    if (of.clock < self.home->known[thread]) return true;
    if (thread / 32 == self.warp() && of.clock < self.known[thread % 32]) return true;
  }
  return self.others != nullptr && of.clock < (*self.others)[at];
}

void launch_run::join_at_barrier(block_state& block) {
  shared_clocks all;
  for (unsigned i = 0; i < threads_per_block(); ++i) {
    all = later_of(all, block.threads[i]->others);
    block.known[i] = ++block.threads[i]->clock;
  }
  for (unsigned i = 0; i < threads_per_block(); ++i) block.threads[i]->others = all;
}

void launch_run::join_at_warp_barrier(thread_context& self) {
  std::array<std::uint32_t, 32> known{};
  shared_clocks all;
  const auto for_each_lane = [&](const auto& function) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((self.mask >> lane & 1U) != 0) function(*self.home->threads[self.warp() * 32 + lane]);
    }
  };
  for_each_lane([&](thread_context& lane) {
    for (unsigned i = 0; i < 32; ++i) known[i] = std::max(known[i], lane.known[i]);
    all = later_of(all, lane.others);
  });
  for_each_lane([&](thread_context& lane) { known[lane.lane()] = ++lane.clock; });
  for_each_lane([&](thread_context& lane) {
    lane.known = known;
    lane.others = all;
  });
}

// A fence releases what the thread knows to whoever takes it from a later atomic of this thread, and acquires what its
// own atomics took from others before.
void launch_run::fence(thread_context& self, fence_scope scope) {
  self.others = later_of(self.others, self.taken);
  self.taken = nullptr;
  const std::size_t threads = std::size_t{grid()} * threads_per_block();
  auto all = scope == fence_scope::device && self.others != nullptr ? std::make_shared<clocks>(*self.others)
                                                                    : std::make_shared<clocks>(threads);
  const std::size_t first = std::size_t{self.home->index} * threads_per_block();
  for (unsigned i = 0; i < threads_per_block(); ++i) {
    std::uint32_t known = self.home->known[i];
    if (i / 32 == self.warp()) known = std::max(known, self.known[i % 32]);
    (*all)[first + i] = std::max((*all)[first + i], known);
  }
  (*all)[first + self.index] = ++self.clock;
  self.released = std::move(all);
}

void launch_run::exchange_by_atomic(thread_context& self, std::uintptr_t at, bool writes) {
  const auto found = handed_on_.find(at);
  if (found != handed_on_.end()) self.taken = later_of(self.taken, found->second);
  if (!writes || self.released == nullptr) return;
  auto& to = handed_on_[at];
  to = later_of(to, self.released);
}

}  // namespace zenith::simt_engine

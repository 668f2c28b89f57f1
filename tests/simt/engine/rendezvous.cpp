#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "launch.hpp"

namespace zenith::simt_engine {
namespace {

const char* to_string(warp_operation operation) {
  switch (operation) {
    case warp_operation::barrier: return "warp_barrier";
    case warp_operation::shuffle: return "shuffle";
    case warp_operation::shuffle_up: return "shuffle_up";
    case warp_operation::shuffle_down: return "shuffle_down";
    case warp_operation::shuffle_xor: return "shuffle_xor";
    case warp_operation::ballot: return "ballot";
    case warp_operation::any: return "any";
    case warp_operation::all: return "all";
    case warp_operation::match_any: return "match_any";
    case warp_operation::reduce_add: return "reduce_add";
    case warp_operation::reduce_min: return "reduce_min";
    case warp_operation::reduce_max: break;
  }
  return "reduce_max";
}

// "3", "0-15", "0-3, 7, 30-31"
std::string name_numbers(const std::vector<unsigned>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += end - i == 1 ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string name_whereabouts(const thread_context& thread) {
  switch (thread.state) {
    case thread_state::ready: return "has not come to it yet";
    case thread_state::returned: return "returned from the kernel";
    case thread_state::at_barrier: return fmt::format("waits at the block barrier at {}", thread.waits_at.text());
    case thread_state::at_warp_operation: break;
  }
  return fmt::format("waits in {} with mask {:#010x} at {}", to_string(thread.operation), thread.mask,
                     thread.waits_at.text());
}

// One clause for each whereabouts that some of the threads share, the most frequent last.
std::string name_groups(const std::vector<const thread_context*>& threads, const char* what, bool as_lanes) {
  std::map<std::string, std::vector<unsigned>> groups;
  for (const auto* thread : threads) {
    groups[name_whereabouts(*thread)].push_back(as_lanes ? thread->lane() : thread->index);
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [whereabouts, numbers] : groups) {
    if (++named > 4) return text + fmt::format("; and {} more groups", groups.size() - 4);
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {} {}", what, name_numbers(numbers), whereabouts);
  }
  return text;
}

template <class Value>
Value value_of(const thread_context& thread) {
  Value value;
  std::memcpy(&value, thread.value.data(), sizeof(Value));
  return value;
}

// The lane that `reader` gets its value from; its own where the source lies outside the warp.
unsigned source_lane(const thread_context& reader) {
  const unsigned lane = reader.lane();
  switch (reader.operation) {
    case warp_operation::shuffle: return reader.argument % 32;
    case warp_operation::shuffle_up: return reader.argument > lane ? lane : lane - reader.argument;
    case warp_operation::shuffle_down: return reader.argument > 31 - lane ? lane : lane + reader.argument;
    default: return reader.argument > 31 ? lane : lane ^ reader.argument;
  }
}

}  // namespace

void launch_run::arrive_at_barrier(thread_context& self) {
  block_state& home = *self.home;
  if (++home.at_barrier < threads_per_block()) {
    wait(self, thread_state::at_barrier);
    return;
  }
  unsigned said_true = 0;
  for (unsigned i = 0; i < threads_per_block(); ++i) {
    const thread_context& thread = *home.threads[i];
    if (&thread != &self && !(thread.waits_at == self.waits_at)) {
      raise(self, fault_kind::barrier, self.waits_at, [&] {
        return fmt::format("the threads of a block meet at different barriers: thread {} waits at {}", thread.index,
                           thread.waits_at.text());
      });
    }
    said_true += thread.predicate ? 1 : 0;
  }
  home.at_barrier = 0;
  if (&home == suspicious_block_) confirm_suspicion();
  join_at_barrier(home);
  for (unsigned i = 0; i < threads_per_block(); ++i) {
    thread_context& thread = *home.threads[i];
    thread.answer = said_true;
    if (&thread != &self) wake(thread);
  }
  // whoever came last is no sooner than the others
  let_others_run(self);
}

void launch_run::arrive_at_warp_operation(thread_context& self) {
  block_state& home = *self.home;
  const std::uint32_t own = 1U << self.lane();
  if ((self.mask & own) == 0) {
    raise(self, fault_kind::warp_mask, self.waits_at, [&] {
      return fmt::format("lane {} calls {} with mask {:#010x}, which leaves it out", self.lane(),
                         to_string(self.operation), self.mask);
    });
  }
  self.state = thread_state::at_warp_operation;
  std::array<thread_context*, 32> lanes{};
  bool complete = true;
  for (std::uint32_t left = self.mask; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    thread_context& other = *home.threads[self.warp() * 32 + lane];
    lanes[lane] = &other;
    complete = complete && other.state == thread_state::at_warp_operation && other.operation == self.operation &&
               other.mask == self.mask && other.value_bytes == self.value_bytes;
  }
  if (!complete) {
    wait(self, thread_state::at_warp_operation);
    return;
  }
  if (self.operation == warp_operation::barrier) join_at_warp_barrier(self);

  std::uint32_t said_true = 0;
  std::uint32_t sum = 0;
  std::uint32_t least = 0xffffffffU;
  std::uint32_t most = 0;
  for (thread_context* lane : lanes) {
    if (lane == nullptr) continue;
    if (lane->predicate) said_true |= 1U << lane->lane();
    const auto word = value_of<std::uint32_t>(*lane);
    sum += word;
    least = std::min(least, word);
    most = std::max(most, word);
  }
  for (thread_context* lane : lanes) {
    if (lane == nullptr) continue;
    switch (self.operation) {
      case warp_operation::barrier: break;
      case warp_operation::shuffle:
      case warp_operation::shuffle_up:
      case warp_operation::shuffle_down:
      case warp_operation::shuffle_xor: {
        const thread_context* const source = lanes[source_lane(*lane)];
        if (source == nullptr) {
          raise(*lane, fault_kind::warp_mask, lane->waits_at, [&] {
            return fmt::format("lane {} reads in {} from lane {}, which mask {:#010x} leaves out", lane->lane(),
                               to_string(self.operation), source_lane(*lane), self.mask);
          });
        }
        lane->received = source->value;
        break;
      }
      case warp_operation::ballot: lane->answer = said_true; break;
      case warp_operation::any: lane->answer = said_true != 0 ? 1 : 0; break;
      case warp_operation::all: lane->answer = said_true == self.mask ? 1 : 0; break;
      case warp_operation::match_any:
        lane->answer = 0;
        for (const thread_context* other : lanes) {
          if (other != nullptr && std::memcmp(other->value.data(), lane->value.data(), lane->value_bytes) == 0) {
            lane->answer |= 1U << other->lane();
          }
        }
        break;
      case warp_operation::reduce_add: lane->answer = sum; break;
      case warp_operation::reduce_min: lane->answer = least; break;
      case warp_operation::reduce_max: lane->answer = most; break;
    }
  }
  for (thread_context* lane : lanes) {
    if (lane != nullptr && lane != &self) wake(*lane);
  }
  let_others_run(self);
}

// No thread of the block can go on. A warp operation that is short of lanes is the cause; barriers only wait for it.
void launch_run::explain_standstill(const block_state& block) {
  if (suspicion_) return confirm_suspicion();
  std::vector<const thread_context*> threads;
  for (unsigned i = 0; i < threads_per_block(); ++i) threads.push_back(block.threads[i].get());

  for (const auto* thread : threads) {
    if (thread->state != thread_state::at_warp_operation) continue;
    std::vector<const thread_context*> missing;
    for (std::uint32_t left = thread->mask; left != 0; left &= left - 1) {
      const auto* other = threads[thread->warp() * 32 + static_cast<unsigned>(std::countr_zero(left))];
      const bool meets = other->state == thread_state::at_warp_operation && other->operation == thread->operation &&
                         other->mask == thread->mask;
      if (!meets) missing.push_back(other);
    }
    found_ =
        make_fault(thread, fault_kind::warp_mask, thread->waits_at,
                   fmt::format("lane {} waits in {} with mask {:#010x} for lanes that never arrive: {}", thread->lane(),
                               to_string(thread->operation), thread->mask, name_groups(missing, "lane", true)));
    return;
  }
  const auto waiting = std::find_if(threads.begin(), threads.end(), [](const thread_context* thread) {
    return thread->state == thread_state::at_barrier;
  });
  std::vector<const thread_context*> missing;
  std::copy_if(threads.begin(), threads.end(), std::back_inserter(missing),
               [](const thread_context* thread) { return thread->state != thread_state::at_barrier; });
  found_ =
      make_fault(*waiting, fault_kind::barrier, (*waiting)->waits_at,
                 fmt::format("{} of {} threads of the block wait at a barrier that not all reach: {}",
                             threads.size() - missing.size(), threads.size(), name_groups(missing, "thread", false)));
}

}  // namespace zenith::simt_engine

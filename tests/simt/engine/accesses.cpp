#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "launch.hpp"
#include "sanitizer.hpp"

/// \file
/// Every access of a kernel: is it inside, was it written, does anybody else touch it.

namespace zenith::simt_engine {
namespace {

bool writes(access how) {
  return how == access::write || how == access::atomic_write || how == access::block_atomic_write;
}

bool is_atomic(access how) { return how != access::read && how != access::streaming_read && how != access::write; }

bool is_block_scope(access how) { return how == access::block_atomic_read || how == access::block_atomic_write; }

const char* verb(access how) {
  if (how == access::atomic_write || how == access::block_atomic_write) return "changes atomically";
  return how == access::write ? "writes" : "reads";
}

// Constants and tables of the program, which a kernel may read.
bool in_static_storage(std::uintptr_t address) {
  struct search {
    std::uintptr_t address;
    bool found = false;
  } wanted{address};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [at, found] = *static_cast<search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && at - (info->dlpi_addr + part.p_vaddr) < part.p_memsz) found = true;
        }
        return found ? 1 : 0;
      },
      &wanted);
  return wanted.found;
}

}  // namespace

std::string launch_run::name_place(const region& area, bool is_shared, std::uintptr_t at) const {
  if (!is_shared) return fmt::format("device memory, {}", device_memory::instance().describe(at));
  return fmt::format("shared memory, byte {} of a variable of {} bytes", at - area.base, area.bytes);
}

std::string launch_run::name_thread(const access_record& of, const thread_context& seen_from) const {
  const std::size_t at = of.thread - first_number_;
  const std::size_t block = at / threads_per_block();
  if (block == seen_from.home->index) return fmt::format("thread {} of the same block", at % threads_per_block());
  return fmt::format("thread {} of block {}", at % threads_per_block(), block);
}

bool launch_run::check(thread_context& self, const void* pointer, std::size_t bytes, access how, site where) {
  count_step(self, where);
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  if (self.body.stack().holds(at)) return true;
  auto& device = device_memory::instance();
  const bool is_shared = self.home->shared.owns(at);
  const region* const area = is_shared ? self.home->shared.find(at) : device.owns(at) ? device.find(at) : nullptr;
  if (!is_shared && !device.owns(at)) return check_elsewhere(self, at, bytes, how, where);
  if (area == nullptr || !area->holds(at, bytes)) {
    raise(self, fault_kind::out_of_bounds, where, [&] {
      return fmt::format("a thread {} {} bytes of {}", verb(how), bytes,
                         is_shared ? self.home->shared.describe(at) : "device memory, " + device.describe(at));
    });
  }
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && at % bytes != 0) {
    raise(self, fault_kind::misaligned, where, [&] {
      return fmt::format("a thread {} {} bytes at an address that is not a multiple of {}", verb(how), bytes, bytes);
    });
  }
  if (is_atomic(how)) exchange_by_atomic(self, at, writes(how));
  return check_region(self, *area, is_shared, at, bytes, how, where);
}

bool launch_run::check_elsewhere(thread_context& self, std::uintptr_t at, std::size_t bytes, access how, site where) {
  const auto kernel = reinterpret_cast<std::uintptr_t>(request_.kernel);
  const bool in_kernel = at >= kernel && at + bytes <= kernel + request_.kernel_bytes;
  if (!writes(how) && (in_kernel || in_static_storage(at))) return true;
  for (const auto& block : resident_) {
    if (block.get() != self.home && block->shared.owns(at)) {
      raise(self, fault_kind::out_of_bounds, where,
            [&] { return fmt::format("a thread {} {} bytes of another block's shared memory", verb(how), bytes); });
    }
    for (const auto& thread : block->threads) {
      if (thread->body.stack().holds(at)) {
        raise(self, fault_kind::out_of_bounds, where,
              [&] { return fmt::format("a thread {} {} bytes of another thread's local memory", verb(how), bytes); });
      }
    }
  }
  raise(self, fault_kind::host_memory, where, [&] {
    return fmt::format("a thread {} {} bytes at {:#x}, which is neither device nor shared memory nor its own",
                       verb(how), bytes, at);
  });
}

bool launch_run::check_region(thread_context& self, const region& area, bool is_shared, std::uintptr_t at,
                              std::size_t bytes, access how, site where) {
  access_record now{.thread = number(self),
                    .clock = self.clock,
                    .where = where,
                    .bytes = 0,
                    .atomic = is_atomic(how),
                    .block_scope = is_block_scope(how),
                    .streaming = how == access::streaming_read};
  std::uintptr_t word_at = at;
  bool all_written = true;
  area.for_each_word(at, bytes, [&](shadow_word& word, std::uint8_t touched) {
    now.bytes = touched;
    if (how != access::write && (word.written & touched) != touched) {
      const bool under_way = (word.pending & touched) != 0;
      if (all_written) {
        suspect(self, where,
                fmt::format("a thread reads {} bytes of {}, {}", bytes, name_place(area, is_shared, word_at),
                            under_way ? "to which an asynchronous copy is under way that it has not waited for"
                                      : "that nothing wrote"));
      }
      all_written = false;
      now.unwritten = true;
    }
    // reads first: a read before the write is the plainer half of a missing barrier
    if (writes(how)) {
      for (const auto& read : word.read) check_conflict(self, read, now, {false, true, is_shared}, word_at, area);
    }
    check_conflict(self, word.write, now, {true, writes(how), is_shared}, word_at, area);
    if (writes(how)) {
      word.write = now;
      word.written |= touched;
      word.pending &= static_cast<std::uint8_t>(~touched);
    } else {
      if (word.read[0].thread != now.thread) word.read[1] = word.read[0];
      word.read[0] = now;
    }
    word_at += word_bytes - word_at % word_bytes;
  });
  return all_written;
}

void launch_run::check_conflict(thread_context& self, const access_record& before, const access_record& now,
                                conflict_context context, std::uintptr_t at, const region& area) {
  if (before.thread < first_number_ || (before.bytes & now.bytes) == 0) return;
  const auto& [before_wrote, now_writes, is_shared] = context;
  const auto did = [](const access_record& of, bool wrote) {
    if (of.atomic) return wrote ? "changed atomically" : "read atomically";
    return wrote ? "wrote" : "read";
  };
  const auto does = [](const access_record& of, bool writes_now) {
    if (of.atomic) return writes_now ? "changes atomically" : "reads atomically";
    return writes_now ? "writes" : "reads";
  };
  const auto report = [&](const char* why) {
    if (before.unwritten) suspicion_.reset();
    raise(self, fault_kind::race, now.where, [&] {
      return fmt::format("a thread {} {} that {} {} at {}, {}", does(now, now_writes), name_place(area, is_shared, at),
                         name_thread(before, self), did(before, before_wrote), before.where.text(), why);
    });
  };
  if ((before.streaming && now_writes) || (now.streaming && before_wrote)) {
    report("in the same launch: one of them is a streaming load, which promises that nobody writes there");
  }
  if (knows(self, before)) return;
  if (before.atomic && now.atomic) {
    const bool same_block = (before.thread - first_number_) / threads_per_block() == self.home->index;
    if (same_block || (!before.block_scope && !now.block_scope)) return;
    report("and at least one of the two is atomic for its own block only");
  }
  report("with no barrier or fence between them that orders the two");
}

void launch_run::start_copy(thread_context& self, void* to, const void* from, std::size_t bytes, site where) {
  check(self, from, bytes, access::read, where);
  check(self, to, bytes, access::write, where);
  const auto at = reinterpret_cast<std::uintptr_t>(to);
  if (const region* const area = self.home->shared.find(at)) {
    area->for_each_word(at, bytes, [](shadow_word& word, std::uint8_t touched) {
      word.written &= static_cast<std::uint8_t>(~touched);
      word.pending |= touched;
    });
  } else {
    raise(self, fault_kind::out_of_bounds, where,
          [&] { return std::string("an asynchronous copy goes to memory that is not shared"); });
  }
  std::memset(to, poison, bytes);
  pending_copy copy{.to = to, .value = {}, .bytes = bytes};
  std::memcpy(copy.value.data(), from, bytes);
  self.open_batch.push_back(copy);
}

void launch_run::finish_copies(thread_context& self, unsigned pending, site where) {
  while (self.batches.size() > pending) {
    for (const auto& copy : self.batches.front()) {
      check(self, copy.to, copy.bytes, access::write, where);
      std::memcpy(copy.to, copy.value.data(), copy.bytes);
    }
    self.batches.pop_front();
  }
}

}  // namespace zenith::simt_engine

#include "kernel_words.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "launch.hpp"

namespace zenith::simt_engine {

bool is_in_kernel() noexcept { return current_thread() != nullptr; }

unsigned thread_index() { return current_thread()->index; }
unsigned block_index() { return current_thread()->home->index; }
unsigned block_size() { return current_launch().threads_per_block(); }
unsigned grid_size() { return current_launch().grid(); }

unsigned block_barrier(bool predicate, const std::source_location& where) {
  const engine_section section;
  thread_context& self = section.self();
  self.predicate = predicate;
  self.waits_at = site::of_call(where);
  current_launch().arrive_at_barrier(self);
  return self.answer;
}

std::uint32_t warp_meet(warp_operation operation, std::uint32_t mask, void* value, std::size_t bytes, unsigned argument,
                        const std::source_location& where) {
  const engine_section section;
  thread_context& self = section.self();
  self.operation = operation;
  self.mask = mask;
  self.argument = argument;
  self.predicate = argument != 0;
  self.value_bytes = bytes;
  if (bytes != 0) std::memcpy(self.value.data(), value, bytes);
  self.waits_at = site::of_call(where);
  current_launch().arrive_at_warp_operation(self);
  const bool is_shuffle = operation >= warp_operation::shuffle && operation <= warp_operation::shuffle_xor;
  if (is_shuffle) std::memcpy(value, self.received.data(), bytes);
  return self.answer;
}

void read_memory(void* to, const void* from, std::size_t bytes, access how, const std::source_location& where) {
  const engine_section section;
  if (current_launch().check(section.self(), from, bytes, how, site::of_call(where))) {
    std::memcpy(to, from, bytes);
  } else {
    std::memset(to, 0, bytes);  // a value of any type, to go on with until the fault is reported
  }
}

void write_memory(void* to, const void* from, std::size_t bytes, access how, const std::source_location& where) {
  const engine_section section;
  current_launch().check(section.self(), to, bytes, how, site::of_call(where));
  std::memcpy(to, from, bytes);
}

void before_atomic() {
  const engine_section section;
  launch_run& launch = current_launch();
  if (launch.random().below(4) == 0) launch.let_others_run(section.self());
}

void memory_fence(fence_scope scope) {
  const engine_section section;
  current_launch().fence(section.self(), scope);
}

void* dynamic_shared(std::size_t offset, std::size_t bytes, std::size_t align, const std::source_location& where) {
  const engine_section section;
  thread_context& self = section.self();
  const region& area = self.home->shared.dynamic();
  if (offset > area.bytes || bytes > area.bytes - offset) {
    current_launch().raise(self, fault_kind::out_of_bounds, site::of_call(where), [&] {
      return fmt::format("bytes {} to {} of the dynamic shared memory are asked for; the launch gave {}", offset,
                         offset + bytes, area.bytes);
    });
  }
  if (offset % align != 0) {
    current_launch().raise(self, fault_kind::misaligned, site::of_call(where), [&] {
      return fmt::format("offset {} in dynamic shared memory for a type aligned to {}", offset, align);
    });
  }
  return reinterpret_cast<void*>(area.base + offset);
}

void* static_shared(const void* key, std::size_t bytes, std::size_t align, const std::source_location& where) {
  const engine_section section;
  thread_context& self = section.self();
  shared_memory& shared = self.home->shared;
  const auto [variable, is_new] = shared.variables.try_emplace(key, shared.count());
  if (is_new) {
    if (shared.used_bytes() + bytes > device_shared_bytes) {
      current_launch().raise(self, fault_kind::launch, site::of_call(where), [&] {
        return fmt::format("a block needs {} bytes of shared memory; the device has {}", shared.used_bytes() + bytes,
                           device_shared_bytes);
      });
    }
    static_cast<void>(shared.add(bytes, align));
  }
  return reinterpret_cast<void*>(shared.at(variable->second).base);
}

void require_element(std::size_t at, std::size_t count, const std::source_location& where) {
  if (at < count) return;
  const engine_section section;
  current_launch().raise(section.self(), fault_kind::out_of_bounds, site::of_call(where),
                         [&] { return fmt::format("element {} of a shared span of {} elements", at, count); });
}

void async_copy(void* to, const void* from, std::size_t bytes, const std::source_location& where) {
  const engine_section section;
  current_launch().start_copy(section.self(), to, from, bytes, site::of_call(where));
}

void async_commit() {
  const engine_section section;
  thread_context& self = section.self();
  self.batches.push_back(std::exchange(self.open_batch, {}));
}

void async_wait(unsigned pending, const std::source_location& where) {
  const engine_section section;
  current_launch().finish_copies(section.self(), pending, site::of_call(where));
}

}  // namespace zenith::simt_engine

#include "memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "sanitizer.hpp"

namespace zenith::simt_engine {

lazy_pages::lazy_pages(std::size_t bytes, bool accessible) : bytes_(bytes) {
  void* const at = mmap(nullptr, std::max<std::size_t>(bytes, 1), accessible ? PROT_READ | PROT_WRITE : PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(at);
}

lazy_pages::lazy_pages(lazy_pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

lazy_pages& lazy_pages::operator=(lazy_pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

lazy_pages::~lazy_pages() {
  if (data_ == nullptr) return;
  allow(data_, bytes_);
  munmap(data_, std::max<std::size_t>(bytes_, 1));
}

void lazy_pages::clear() noexcept { madvise(data_, bytes_, MADV_DONTNEED); }

device_memory& device_memory::instance() {
  static device_memory memory;
  return memory;
}

device_memory::device_memory() : pages_(capacity, true) {
  const auto start = reinterpret_cast<std::uintptr_t>(pages_.data());
  base_ = (start + guard_bytes + alignment - 1) / alignment * alignment;
  next_ = base_;
}

// A gap of `extent` bytes, searched from where the last search ended, so that freed addresses come back late.
std::uintptr_t device_memory::place(std::size_t extent) {
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(pages_.data()) + capacity;
  for (int round = 0; round < 2; ++round) {
    std::uintptr_t at = round == 0 ? next_ : base_;
    while (extent <= end - at) {
      const auto behind = live_.lower_bound(at);
      if (behind != live_.begin()) {
        const auto& before = std::prev(behind)->second.bytes;
        const std::uintptr_t free_from = before.base + before.bytes + guard_bytes;
        if (free_from > at) {
          at = (free_from + alignment - 1) / alignment * alignment;
          if (at > end) break;
          continue;
        }
      }
      if (behind == live_.end() || at + extent + guard_bytes <= behind->first) return at;
      at = behind->first + alignment;
    }
  }
  return 0;
}

void* device_memory::allocate(std::size_t bytes) {
  const std::lock_guard lock(guard_);
  if (bytes > capacity - 2 * guard_bytes) return nullptr;
  const std::uintptr_t at = place(std::max<std::size_t>(bytes, 1) + guard_bytes);
  if (at == 0) return nullptr;
  next_ = (at + bytes + guard_bytes + alignment - 1) / alignment * alignment;
  auto* const data = reinterpret_cast<std::byte*>(at);
  allow(data, bytes);
  std::memset(data, poison, bytes);
  forbid(data + bytes, guard_bytes);
  forbid(data - guard_bytes / 2, guard_bytes / 2);

  lazy_pages shadow((bytes / word_bytes + 1) * sizeof(shadow_word), true);
  const region area{at, bytes, reinterpret_cast<shadow_word*>(shadow.data())};
  live_.emplace(at, allocation{area, std::move(shadow)});
  freed_.erase(freed_.lower_bound(at), freed_.upper_bound(at + bytes));
  return data;
}

void device_memory::deallocate(void* pointer) {
  const std::lock_guard lock(guard_);
  if (pointer == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  const auto found = live_.find(at);
  if (found == live_.end()) {
    throw fault(
        {.kind = fault_kind::out_of_bounds,
         .in_kernel = false,
         .sentence = fmt::format("a pointer is freed that is not the start of a live allocation: {}", describe(at))});
  }
  const std::size_t bytes = found->second.bytes.bytes;
  std::memset(pointer, poison, bytes);
  forbid(pointer, bytes);
  last_ = nullptr;
  live_.erase(found);
  if (freed_.size() >= 256) freed_.erase(freed_.begin());
  freed_[at] = bytes;
}

region* device_memory::find_locked(std::uintptr_t address) noexcept {
  if (last_ != nullptr && last_->holds(address, 1)) return last_;
  auto behind = live_.upper_bound(address);
  if (behind == live_.begin()) return nullptr;
  region& candidate = std::prev(behind)->second.bytes;
  if (!candidate.holds(address, 0)) return nullptr;
  return last_ = &candidate;
}

const region* device_memory::find(std::uintptr_t address) noexcept {
  const std::lock_guard lock(guard_);
  return find_locked(address);
}

std::string device_memory::describe(std::uintptr_t address) {
  const std::lock_guard lock(guard_);
  if (!owns(address)) return "which is not device memory";
  for (const auto& [start, bytes] : freed_) {
    if (address >= start && address < start + std::max<std::size_t>(bytes, 1)) {
      return fmt::format("{} bytes into an allocation of {} bytes that was freed", address - start, bytes);
    }
  }
  auto behind = live_.upper_bound(address);
  if (behind != live_.begin()) {
    const auto& before = std::prev(behind)->second.bytes;
    if (before.holds(address, 0) && address < before.base + before.bytes) {
      return fmt::format("{} bytes into an allocation of {} bytes", address - before.base, before.bytes);
    }
    const std::uintptr_t past = address - (before.base + before.bytes);
    if (behind == live_.end() || past <= behind->first - address) {
      return fmt::format("{} bytes past the end of an allocation of {} bytes", past, before.bytes);
    }
  }
  if (behind != live_.end()) {
    return fmt::format("{} bytes before the start of an allocation of {} bytes", behind->first - address,
                       behind->second.bytes.bytes);
  }
  return "where nothing is allocated";
}

const region* device_memory::require(const void* pointer, std::size_t bytes, const char* what) {
  const std::lock_guard lock(guard_);
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  if (!owns(at)) {
    throw fault({.kind = fault_kind::host_memory,
                 .in_kernel = false,
                 .sentence = fmt::format("{} gets host memory as device memory", what)});
  }
  const region* const in = find_locked(at);
  if (in == nullptr || !in->holds(at, bytes)) {
    throw fault({.kind = fault_kind::out_of_bounds,
                 .in_kernel = false,
                 .sentence = fmt::format("{} touches {} bytes of device memory, {}", what, bytes,
                                         describe(in == nullptr ? at : in->base + in->bytes))});
  }
  return in;
}

void device_memory::copy(void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(guard_);
  if (bytes == 0) return;
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  if (owns(source)) {
    require(from, bytes, "a copy")->for_each_word(source, bytes, [&](const shadow_word& word, std::uint8_t touched) {
      if ((word.written & touched) == touched) return;
      throw fault({.kind = fault_kind::uninitialised_read,
                   .in_kernel = false,
                   .sentence = fmt::format("a copy of {} bytes reads device memory that nothing wrote, {}", bytes,
                                           describe(source))});
    });
  }
  const region* const area = owns(target) ? require(to, bytes, "a copy") : nullptr;
  std::memmove(to, from, bytes);
  if (area == nullptr) return;
  area->for_each_word(target, bytes, [](shadow_word& word, std::uint8_t touched) { word.written |= touched; });
}

void device_memory::fill(void* at, int byte, std::size_t bytes) {
  const std::lock_guard lock(guard_);
  if (bytes == 0) return;
  const region* const area = require(at, bytes, "a fill");
  std::memset(at, byte, bytes);
  area->for_each_word(reinterpret_cast<std::uintptr_t>(at), bytes,
                      [](shadow_word& word, std::uint8_t touched) { word.written |= touched; });
}

std::size_t device_memory::live_bytes() {
  const std::lock_guard lock(guard_);
  std::size_t bytes = 0;
  for (const auto& [start, held] : live_) bytes += held.bytes.bytes;
  return bytes;
}

std::size_t device_memory::live_allocations() {
  const std::lock_guard lock(guard_);
  return live_.size();
}

}  // namespace zenith::simt_engine

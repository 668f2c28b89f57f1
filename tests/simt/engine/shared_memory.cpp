#include <fmt/format.h>

#include <cstring>

#include "launch.hpp"
#include "sanitizer.hpp"

namespace zenith::simt_engine {
namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::size_t widest_alignment = 256;

}  // namespace

shared_memory::shared_memory() : pages_(capacity, true), shadow_(capacity / word_bytes * sizeof(shadow_word), true) {}

void shared_memory::reset(std::size_t dynamic_bytes) {
  allow(pages_.data(), capacity);
  std::memset(pages_.data(), poison, end_);
  std::memset(shadow_.data(), 0, end_ / word_bytes * sizeof(shadow_word));
  forbid(pages_.data(), capacity);
  variables.clear();
  regions_.clear();
  end_ = guard_bytes;
  used_bytes_ = 0;
  static_cast<void>(add(dynamic_bytes, widest_alignment));
}

region& shared_memory::add(std::size_t bytes, std::size_t align) {
  end_ = (end_ + align - 1) / align * align;
  std::byte* const at = pages_.data() + end_;
  allow(at, bytes);
  std::memset(at, poison, bytes);
  regions_.push_back({reinterpret_cast<std::uintptr_t>(at), bytes,
                      reinterpret_cast<shadow_word*>(shadow_.data()) + end_ / word_bytes});
  end_ = (end_ + bytes + guard_bytes + widest_alignment - 1) / widest_alignment * widest_alignment;
  used_bytes_ += bytes;
  return regions_.back();
}

region* shared_memory::find(std::uintptr_t address) noexcept {
  for (auto& area : regions_) {
    if (area.bytes != 0 && area.holds(address, 1)) return &area;
  }
  return nullptr;
}

std::string shared_memory::describe(std::uintptr_t address) const {
  for (const auto& area : regions_) {
    const std::uintptr_t end = area.base + area.bytes;
    if (area.bytes != 0 && address < end && address >= area.base) {
      return fmt::format("shared memory, {} bytes before the end of a variable of {} bytes", end - address, area.bytes);
    }
    if (address >= end && address - end < guard_bytes) {
      return fmt::format("shared memory, {} bytes past the end of a variable of {} bytes", address - end, area.bytes);
    }
    if (address < area.base && area.base - address <= guard_bytes) {
      return fmt::format("shared memory, {} bytes before the start of a variable of {} bytes", area.base - address,
                         area.bytes);
    }
  }
  return "shared memory, where no variable stands";
}

}  // namespace zenith::simt_engine

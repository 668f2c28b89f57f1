#pragma once

/// \file
/// The first pages of memory that several workers are about to write, cleared by all of them.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <core/host_memory.hpp>

namespace zenith::cpu_backend {

/// What is cleared at once: a huge page. Workers whose first writes meet in a page would each clear one, and all but
/// one throw theirs away.
inline constexpr std::uint64_t fresh_page = 2 * 1024 * 1024;

/// Where the page ends that byte `at` of memory from `from` on lies in.
[[nodiscard]] inline std::uint64_t end_of_page(const std::byte* from, std::uint64_t at) {
  return at + fresh_page - (reinterpret_cast<std::uintptr_t>(from) + at) % fresh_page;
}

/// Each worker calls `clear` before it writes.
class fresh_pages {
 public:
  fresh_pages(std::byte* from, std::uint64_t bytes) : from_(from), bytes_(bytes) {}

  /// Clears pages that no other worker has taken, and waits for those that others clear.
  void clear() {
    const auto first_end = end_of_page(from_, 0);
    const auto end_of = [&](std::uint64_t page) { return std::min(bytes_, first_end + page * fresh_page); };
    const std::uint64_t pages = bytes_ <= first_end ? 1 : 1 + (bytes_ - first_end + fresh_page - 1) / fresh_page;
    for (auto page = taken_++; page < pages; page = taken_++) {
      const std::uint64_t begin = page == 0 ? 0 : end_of(page - 1);
      detail::touch(from_ + begin, end_of(page) - begin);
      cleared_.fetch_add(1, std::memory_order_release);
    }
    while (cleared_.load(std::memory_order_acquire) < pages) std::this_thread::yield();
  }

 private:
  std::byte* from_;
  std::uint64_t bytes_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> cleared_{0};
};

}  // namespace zenith::cpu_backend

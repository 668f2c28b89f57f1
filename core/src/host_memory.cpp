#include <core/host_memory.hpp>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <core/large_pages.hpp>
#include <zenith/error.hpp>
#include <zenith/result_vector.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace zenith::detail {
namespace {

// What releasing must know stands in front of the bytes, on a cache line of its own.
struct allocation {
  void* begin;
  std::uint64_t size;
};
constexpr std::uint64_t front = 64;
static_assert(sizeof(allocation) <= front);

std::byte* place(std::byte* data, const allocation& of) {
  std::memcpy(data - front, &of, sizeof of);
  return data;
}

allocation allocation_of(const std::byte* data) {
  allocation of;
  std::memcpy(&of, data - front, sizeof of);
  return of;
}

std::byte* allocate_small(std::uint64_t bytes) {
  const std::uint64_t size = bytes + 2 * front;
  auto* begin = static_cast<std::byte*>(std::malloc(size));
  if (begin == nullptr) return nullptr;
  const auto past = reinterpret_cast<std::uintptr_t>(begin) % front;
  return place(begin + (2 * front - past), {begin, size});
}

void release_small(std::byte* data) { std::free(allocation_of(data).begin); }

#if defined(__linux__)

constexpr std::uint64_t large = 4 * 1024 * 1024;
constexpr std::uint64_t huge_page = 2 * 1024 * 1024;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

// Begins with a huge page: small pages take several times as long to clear. The last one is huge if it is to be a
// quarter full. With MAP_NORESERVE the system may grant what it could not fill.
std::byte* allocate_large(std::uint64_t bytes, int flags = 0) {
  const std::uint64_t size = round_up(bytes + front, huge_page);
  const std::uint64_t mapped = size + huge_page;
  void* const anywhere = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (anywhere == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(anywhere);
  const std::uint64_t before = round_up(address, huge_page) - address;
  std::byte* const begin = static_cast<std::byte*>(anywhere) + before;
  if (before > 0) munmap(anywhere, before);
  munmap(begin + size, mapped - before - size);
  const std::uint64_t unused = size - (bytes + front);
  // advice: that it is not taken changes no result
  madvise(begin, unused > huge_page / 4 * 3 ? size - huge_page : size, MADV_HUGEPAGE);
  return place(begin + front, {begin, size});
}

void release_large(std::byte* data) {
  const auto of = allocation_of(data);
  munmap(of.begin, of.size);
}

#endif

}  // namespace

host_bytes host_memory(std::uint64_t bytes, std::string_view who) {
  std::byte* data = nullptr;
  auto release = release_small;
  if (bytes <= std::numeric_limits<std::uint64_t>::max() / 2) {
#if defined(__linux__)
    if (bytes >= large) {
      data = allocate_large(bytes);
      release = release_large;
    } else {
      data = allocate_small(bytes);
    }
#else
    data = allocate_small(bytes);
#endif
  }
  if (data == nullptr) {
    throw error(error_code::out_of_memory,
                std::string{who} + ": " + std::to_string(bytes) + " bytes of host memory are not to be had");
  }
  return {{data, release}, bytes};
}

host_bytes address_space(std::uint64_t most) noexcept {
#if defined(__linux__)
  if (most >= large && most <= std::numeric_limits<std::uint64_t>::max() / 2) {
    if (std::byte* data = allocate_large(most, MAP_NORESERVE); data != nullptr) return {{data, release_large}, most};
  }
#endif
  return {};
}

void touch([[maybe_unused]] std::byte* from, [[maybe_unused]] std::uint64_t bytes) noexcept {
#if defined(MADV_POPULATE_WRITE)
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t before = reinterpret_cast<std::uintptr_t>(from) % page;
  madvise(from - before, bytes + before, MADV_POPULATE_WRITE);  // older systems refuse, and clear pages later
#endif
}

void shrink(host_bytes& bytes, std::size_t used) noexcept {
  if (bytes.data == nullptr) return;
  if (used == 0) {
    bytes = {};
    return;
  }
#if defined(__linux__)
  if (bytes.data.get_deleter() != release_large) return;
  auto of = allocation_of(bytes.data.get());
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t kept = (front + used + page - 1) / page * page;
  if (kept >= of.size || munmap(static_cast<std::byte*>(of.begin) + kept, of.size - kept) != 0) return;
  of.size = kept;
  place(bytes.data.get(), of);
  bytes.size = kept - front;
#endif
}

void ask_for_large_pages(void* at, std::size_t bytes) noexcept { prefer_large_pages(at, bytes); }

void reject_results(std::size_t count, std::size_t value_bytes) {
  throw error(error_code::out_of_memory, "there is no memory for " + std::to_string(count) + " results of " +
                                             std::to_string(value_bytes) + " bytes");
}

}  // namespace zenith::detail

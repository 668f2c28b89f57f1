#include <backends/cpu/kept_memory.hpp>

#include <bit>
#include <new>

namespace zenith::cpu_backend {
namespace {

/// Bytes rounded up to a power of two or to five, six or seven quarters of one, and the number of that size.
struct block_size {
  std::size_t bytes;
  std::size_t number;

  static block_size of_number(std::size_t number) noexcept {
    const std::size_t step = (kept_memory::least_block / 4) << (number / 4);
    return {(number % 4 + 4) * step, number};
  }
  static block_size of(std::size_t bytes) noexcept {
    const std::size_t step = std::bit_floor(bytes) / 4;
    const std::size_t steps = (bytes + step - 1) / step - 4;
    constexpr int least_width = std::bit_width(kept_memory::least_block);
    return of_number(static_cast<std::size_t>(std::bit_width(bytes) - least_width) * 4 + steps);
  }
};

std::pmr::memory_resource& system_memory() noexcept { return *std::pmr::new_delete_resource(); }

}  // namespace

void* kept_memory::take(places& from, std::size_t size) noexcept {
  for (auto& place : from) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    void* const found = place.exchange(nullptr, std::memory_order_acquire);
    if (found == nullptr) continue;  // another thread was faster
    kept_bytes_.fetch_sub(size, std::memory_order_relaxed);
    return found;
  }
  return nullptr;
}

void* kept_memory::do_allocate(std::size_t bytes, std::size_t align) {
  if (!is_kept(bytes, align)) return system_memory().allocate(bytes, align);
  const auto size = block_size::of(bytes);
  if (void* const found = take(idle_[size.number], size.bytes); found != nullptr) return found;
  try {
    return system_memory().allocate(size.bytes, alignment);
  } catch (const std::bad_alloc&) {
    if (release() == 0) throw;
    return system_memory().allocate(size.bytes, alignment);
  }
}

void kept_memory::do_deallocate(void* at, std::size_t bytes, std::size_t align) {
  if (!is_kept(bytes, align)) return system_memory().deallocate(at, bytes, align);
  const auto size = block_size::of(bytes);
  const std::size_t most = most_bytes_.load(std::memory_order_relaxed);
  // counted before it is kept, so that no two threads exceed the limit together
  if (kept_bytes_.fetch_add(size.bytes, std::memory_order_relaxed) + size.bytes > most) release();
  if (kept_bytes_.load(std::memory_order_relaxed) <= most) {
    for (auto& place : idle_[size.number]) {
      void* none = nullptr;
      if (place.load(std::memory_order_relaxed) == nullptr &&
          place.compare_exchange_strong(none, at, std::memory_order_release, std::memory_order_relaxed)) {
        return;
      }
    }
  }
  kept_bytes_.fetch_sub(size.bytes, std::memory_order_relaxed);
  system_memory().deallocate(at, size.bytes, alignment);
}

std::size_t kept_memory::release() noexcept {
  std::size_t released = 0;
  for (std::size_t number = 0; number < sizes; ++number) {
    const auto size = block_size::of_number(number).bytes;
    while (void* const found = take(idle_[number], size)) {
      system_memory().deallocate(found, size, alignment);
      released += size;
    }
  }
  return released;
}

void kept_memory::close() noexcept {
  most_bytes_ = 0;
  release();
}

namespace {

/// Objects that are destroyed after this one may still call: the resource stays, and keeps nothing any more.
kept_memory& kept_by_process() {
  struct closed_at_end {
    kept_memory& resource;
    ~closed_at_end() { resource.close(); }
  };
  alignas(kept_memory) static std::byte place[sizeof(kept_memory)];
  static const closed_at_end kept{*new (place) kept_memory(most_kept_scratch)};
  return kept.resource;
}

}  // namespace

std::pmr::memory_resource& usual_scratch_resource() {
  std::pmr::memory_resource& usual = *std::pmr::get_default_resource();
  if (keeps_scratch && &usual == std::pmr::new_delete_resource()) return kept_by_process();
  return usual;
}

}  // namespace zenith::cpu_backend

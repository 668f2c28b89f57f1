#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "fault.hpp"

/// \file
/// The device's memory: guarded allocations in an address range of their own, with a shadow for every word.

namespace zenith::simt_engine {

/// Who touched some bytes of a word: a thread, by its number in the process, and how far its own clock was.
struct access_record {
  std::uint32_t thread = 0;  ///< 0: nobody
  std::uint32_t clock = 0;
  site where;
  std::uint8_t bytes = 0;  ///< one bit for each byte of the word
  bool atomic = false;
  bool block_scope = false;  ///< atomic for its own block only
  bool streaming = false;    ///< a read that promised that nobody writes there
  bool unwritten = false;    ///< a read before anything was written
};

/// What is known of four bytes. All zero: never touched, never written.
struct shadow_word {
  access_record write;
  access_record read[2];     ///< the last two readers, of different threads
  std::uint8_t written = 0;  ///< one bit for each byte
  std::uint8_t pending = 0;  ///< bytes that an asynchronous copy has under way
};

inline constexpr std::size_t word_bytes = 4;

/// `count` bytes of a zeroed mapping whose pages cost nothing until they are touched.
class lazy_pages {
 public:
  lazy_pages() = default;
  lazy_pages(std::size_t bytes, bool accessible);
  lazy_pages(lazy_pages&& other) noexcept;
  lazy_pages& operator=(lazy_pages&& other) noexcept;
  lazy_pages(const lazy_pages&) = delete;
  lazy_pages& operator=(const lazy_pages&) = delete;
  ~lazy_pages();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  /// Makes all of it zero again, and gives the pages back.
  void clear() noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Bytes that a kernel may touch, and their shadow.
struct region {
  std::uintptr_t base = 0;  ///< aligned to a word
  std::size_t bytes = 0;
  shadow_word* shadow = nullptr;

  [[nodiscard]] bool holds(std::uintptr_t address, std::size_t size) const noexcept {
    return address >= base && address - base <= bytes && size <= bytes - (address - base);
  }
  /// Calls `function(word, bytes)` for every word that [address, address + size) touches, with the bytes of it.
  template <class Function>
  void for_each_word(std::uintptr_t address, std::size_t size, const Function& function) const {
    for (std::uintptr_t at = address; at < address + size;) {
      const std::size_t first = at % word_bytes;
      const std::size_t count = std::min(word_bytes - first, address + size - at);
      function(shadow[(at - base) / word_bytes], static_cast<std::uint8_t>(((1U << count) - 1U) << first));
      at += count;
    }
  }
};

/// Bytes that no program should mistake for a value: a NaN, a huge integer, a wild pointer.
inline constexpr int poison = 0xa5;

/// All memory of the emulated device. Addresses are never host addresses, so one handed over as the other is found, and
/// they are reused as late as possible, so that a stale pointer is. Thread-safe.
class device_memory {
 public:
  static constexpr std::size_t capacity = std::size_t{8} << 30;
  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t guard_bytes = 4096;

  [[nodiscard]] static device_memory& instance();

  /// nullptr when there is no memory left. The bytes are poisoned and count as not written.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Gives `pointer` back; throws a fault when it is not the start of a live allocation.
  void deallocate(void* pointer);

  /// Whether the address lies in the device's address range, live or not.
  [[nodiscard]] bool owns(std::uintptr_t address) const noexcept { return address - base_ < capacity; }
  /// The live allocation around `address`, nullptr when there is none.
  [[nodiscard]] const region* find(std::uintptr_t address) noexcept;
  /// Checks that these are bytes of one live allocation; throws a fault that says that `what` touches them.
  const region* require(const void* pointer, std::size_t bytes, const char* what);
  /// What cudaMemcpy and cudaMemset do: check the bytes that lie on the device, and note what was written.
  void copy(void* to, const void* from, std::size_t bytes);
  void fill(void* at, int byte, std::size_t bytes);
  /// One sentence part on where `address` lies: how far before, behind or inside which allocation.
  [[nodiscard]] std::string describe(std::uintptr_t address);

  [[nodiscard]] std::size_t live_bytes();
  [[nodiscard]] std::size_t live_allocations();

 private:
  struct allocation {
    region bytes;
    lazy_pages shadow;
  };

  device_memory();
  [[nodiscard]] std::uintptr_t place(std::size_t extent);
  [[nodiscard]] region* find_locked(std::uintptr_t address) noexcept;

  std::recursive_mutex guard_;
  lazy_pages pages_;
  std::uintptr_t base_ = 0;
  std::uintptr_t next_ = 0;  // where the search for free memory goes on
  std::map<std::uintptr_t, allocation> live_;
  std::map<std::uintptr_t, std::size_t> freed_;
  region* last_ = nullptr;
};

}  // namespace zenith::simt_engine

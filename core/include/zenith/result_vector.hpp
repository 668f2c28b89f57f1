#pragma once

/// \file
/// Vectors of results, whose memory is new at each call.

#include <cstddef>
#include <new>
#include <stdexcept>
#include <vector>

namespace zenith::detail {

/// Asks the system for pages of 2 MiB where whole ones are within `bytes` bytes from `at` on. A hint, for memory that
/// has not been written: 4 KiB at a time, the system takes several times as long to clear it.
void ask_for_large_pages(void* at, std::size_t bytes) noexcept;

/// Reserves memory for `count` elements, of large pages where they are many.
template <class T>
void reserve_results(std::vector<T>& of, std::size_t count) {
  constexpr std::size_t many_bytes = std::size_t{4} << 20;
  of.reserve(count);
  if (count * sizeof(T) >= many_bytes) ask_for_large_pages(of.data(), count * sizeof(T));
}

/// The same, and makes it `count` elements long.
template <class T>
void resize_results(std::vector<T>& of, std::size_t count) {
  reserve_results(of, count);
  of.resize(count);
}

/// Throws `out_of_memory`.
[[noreturn]] void reject_results(std::size_t count, std::size_t value_bytes);

/// A vector of so many results. Throws `out_of_memory`.
template <class T>
[[nodiscard]] std::vector<T> make_results(std::size_t count) {
  std::vector<T> made;
  try {
    resize_results(made, count);
    return made;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  reject_results(count, sizeof(T));
}

}  // namespace zenith::detail

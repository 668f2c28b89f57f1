/// \file
/// What the CUDA backend asks of CUDA's library (backends/cuda/primitives/library.hpp), by the standard library. The
/// data goes through the host, so that what nobody wrote is found, and what is written counts as written.

#include <backends/cuda/primitives/library.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {
namespace {

template <class T>
std::vector<T> fetch(const execution& on, const T* at, std::uint64_t n) {
  std::vector<T> values(n);
  simt::copy(values.data(), at, n * sizeof(T), stream_of(on));
  return values;
}

template <class T>
void deliver(const execution& on, T* to, const std::vector<T>& values) {
  simt::copy(to, values.data(), values.size() * sizeof(T), stream_of(on));
}

template <class Key, class Value>
void sort_stably(const execution& on, Key* keys, Value* values, std::uint64_t n, int ignored = 0) {
  auto sorted_keys = fetch(on, keys, n);
  auto sorted_values = fetch(on, values, n);
  std::vector<std::pair<Key, Value>> pairs(n);
  for (std::size_t i = 0; i < n; ++i) pairs[i] = {sorted_keys[i], sorted_values[i]};
  std::ranges::stable_sort(pairs, {}, [ignored](const auto& pair) { return pair.first >> ignored; });
  for (std::size_t i = 0; i < n; ++i) {
    sorted_keys[i] = pairs[i].first;
    sorted_values[i] = pairs[i].second;
  }
  deliver(on, keys, sorted_keys);
  deliver(on, values, sorted_values);
}

}  // namespace

template <class Key, class Value>
void sort_pairs(call_memory& memory, Key* keys, Value* values, std::uint64_t n, int bits, int ignored) {
  for (const Key key : fetch(memory.on(), keys, n)) {
    if (bits < 8 * static_cast<int>(sizeof(Key)) && key >> bits != 0)
      throw std::logic_error("sort_pairs: a longer key");
  }
  sort_stably(memory.on(), keys, values, n, ignored);
}

template <class Key, class Value>
void sort_short_segments(call_memory& memory, Key* keys, Value* values, const std::uint32_t* offsets,
                         std::uint64_t segments, std::uint64_t longest) {
  const auto begins = fetch(memory.on(), offsets, segments + 1);
  for (std::size_t s = 0; s < segments; ++s) {
    const auto begin = begins[s];
    const auto length = begins[s + 1] - begin;
    if (length > longest) throw std::logic_error("sort_segments: a longer segment");
    sort_stably(memory.on(), keys + begin, values + begin, length);
  }
}

void sort_falling(call_memory& memory, std::uint64_t* keys, std::uint64_t n) {
  auto sorted = fetch(memory.on(), keys, n);
  std::ranges::sort(sorted, std::greater<>{});
  deliver(memory.on(), keys, sorted);
}

template <class T>
void exclusive_scan(call_memory& memory, const T* from, std::uint64_t n, T* to) {
  auto sums = fetch(memory.on(), from, n);
  T sum = 0;
  for (T& one : sums) sum += std::exchange(one, sum);
  sums.push_back(sum);
  deliver(memory.on(), to, sums);
}

#define ZENITH_INSTANCE(Key, Value)                                                                              \
  template void sort_pairs<Key, Value>(call_memory&, Key*, Value*, std::uint64_t, int, int);                     \
  template void sort_short_segments<Key, Value>(call_memory&, Key*, Value*, const std::uint32_t*, std::uint64_t, \
                                                std::uint64_t);
ZENITH_LIBRARY_PAIRS(ZENITH_INSTANCE)
#undef ZENITH_INSTANCE

template void exclusive_scan<std::uint32_t>(call_memory&, const std::uint32_t*, std::uint64_t, std::uint32_t*);
template void exclusive_scan<std::uint64_t>(call_memory&, const std::uint64_t*, std::uint64_t, std::uint64_t*);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library

/// \file
/// What the CUDA backend asks of CUDA's library (backends/cuda/primitives/library.hpp), by the standard library. The
/// data goes through the host, so that what nobody wrote is found, and what is written counts as written.

#include <backends/cuda/primitives/library.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
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

}  // namespace

template <class Key, class Value>
void sort_pairs(const execution& on, Key* keys, Value* values, std::uint64_t n) {
  auto sorted_keys = fetch(on, keys, n);
  auto sorted_values = fetch(on, values, n);
  std::vector<std::pair<Key, Value>> pairs(n);
  for (std::size_t i = 0; i < n; ++i) pairs[i] = {sorted_keys[i], sorted_values[i]};
  std::ranges::stable_sort(pairs, {}, &std::pair<Key, Value>::first);
  for (std::size_t i = 0; i < n; ++i) {
    sorted_keys[i] = pairs[i].first;
    sorted_values[i] = pairs[i].second;
  }
  deliver(on, keys, sorted_keys);
  deliver(on, values, sorted_values);
}

void sort_falling(const execution& on, std::uint64_t* keys, std::uint64_t n) {
  auto sorted = fetch(on, keys, n);
  std::ranges::sort(sorted, std::greater<>{});
  deliver(on, keys, sorted);
}

template <class T>
void exclusive_scan(const execution& on, const T* from, std::uint64_t n, T* to) {
  auto sums = fetch(on, from, n);
  T sum = 0;
  for (T& one : sums) sum += std::exchange(one, sum);
  sums.push_back(sum);
  deliver(on, to, sums);
}

#define ZENITH_INSTANCE(Key, Value) template void sort_pairs<Key, Value>(const execution&, Key*, Value*, std::uint64_t);
ZENITH_LIBRARY_PAIRS(ZENITH_INSTANCE)
#undef ZENITH_INSTANCE

template void exclusive_scan<std::uint32_t>(const execution&, const std::uint32_t*, std::uint64_t, std::uint32_t*);
template void exclusive_scan<std::uint64_t>(const execution&, const std::uint64_t*, std::uint64_t, std::uint64_t*);

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library

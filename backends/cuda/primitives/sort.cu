#include <backends/cuda/primitives/library.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <backends/cuda/primitives/temporary.cuh>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {

template <class Key, class Value>
void sort_pairs(const execution& on, Key* keys, Value* values, std::uint64_t n) {
  if (n < 2) return;
  call_memory memory(on);
  cub::DoubleBuffer<Key> sorted_keys(keys, memory.allocate<Key>(n));
  cub::DoubleBuffer<Value> sorted_values(values, memory.allocate<Value>(n));
  with_temporary(memory, "cub::DeviceRadixSort::SortPairs", [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, sorted_keys, sorted_values, n, 0, sizeof(Key) * 8,
                                           memory.stream());
  });
  if (sorted_keys.Current() == keys) return;
  simt::copy(keys, sorted_keys.Current(), n * sizeof(Key), memory.stream());
  simt::copy(values, sorted_values.Current(), n * sizeof(Value), memory.stream());
}

void sort_falling(const execution& on, std::uint64_t* keys, std::uint64_t n) {
  if (n < 2) return;
  call_memory memory(on);
  cub::DoubleBuffer<std::uint64_t> sorted(keys, memory.allocate<std::uint64_t>(n));
  with_temporary(memory, "cub::DeviceRadixSort::SortKeysDescending", [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(temporary, bytes, sorted, n, 0, 64, memory.stream());
  });
  if (sorted.Current() != keys) simt::copy(keys, sorted.Current(), n * sizeof(std::uint64_t), memory.stream());
}

#define ZENITH_INSTANCE(Key, Value) template void sort_pairs<Key, Value>(const execution&, Key*, Value*, std::uint64_t);
ZENITH_LIBRARY_PAIRS(ZENITH_INSTANCE)
#undef ZENITH_INSTANCE

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library

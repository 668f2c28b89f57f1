#include <backends/cuda/primitives/library.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <backends/cuda/primitives/block_sort.hpp>
#include <backends/cuda/primitives/temporary.cuh>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {

namespace {

/// Beyond the keys themselves a sort needs as much again: of a long one that is given back at once.
class sort_memory {
 public:
  sort_memory(call_memory& lasting, std::uint64_t bytes)
      : own_(lasting.on()), lasting_(lasting), is_long_(bytes > most) {}
  [[nodiscard]] call_memory& operator*() { return is_long_ ? own_ : lasting_; }

 private:
  static constexpr std::uint64_t most = std::uint64_t{1} << 20;
  call_memory own_;
  call_memory& lasting_;
  bool is_long_;
};

}  // namespace

template <class Key, class Value>
void sort_pairs(call_memory& memory, Key* keys, Value* values, std::uint64_t n, int bits, int ignored) {
  if (n < 2 || bits <= ignored) return;
  if (n <= tuning::most_sorted_in_block) return sort_in_block(memory, keys, values, n, bits);
  sort_memory extra(memory, n * (sizeof(Key) + sizeof(Value)));
  cub::DoubleBuffer<Key> sorted_keys(keys, (*extra).allocate<Key>(n));
  cub::DoubleBuffer<Value> sorted_values(values, (*extra).allocate<Value>(n));
  with_temporary(*extra, "cub::DeviceRadixSort::SortPairs", [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, sorted_keys, sorted_values, n, ignored, bits,
                                           memory.stream());
  });
  if (sorted_keys.Current() == keys) return;
  simt::copy(keys, sorted_keys.Current(), n * sizeof(Key), memory.stream());
  simt::copy(values, sorted_values.Current(), n * sizeof(Value), memory.stream());
}

void sort_falling(call_memory& memory, std::uint64_t* keys, std::uint64_t n) {
  if (n < 2) return;
  if (n <= tuning::most_sorted_in_block) return sort_falling_in_block(memory, keys, n);
  sort_memory extra(memory, n * sizeof(std::uint64_t));
  cub::DoubleBuffer<std::uint64_t> sorted(keys, (*extra).allocate<std::uint64_t>(n));
  with_temporary(*extra, "cub::DeviceRadixSort::SortKeysDescending", [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(temporary, bytes, sorted, n, 0, 64, memory.stream());
  });
  if (sorted.Current() != keys) simt::copy(keys, sorted.Current(), n * sizeof(std::uint64_t), memory.stream());
}

#define ZENITH_INSTANCE(Key, Value) \
  template void sort_pairs<Key, Value>(call_memory&, Key*, Value*, std::uint64_t, int, int);
ZENITH_LIBRARY_PAIRS(ZENITH_INSTANCE)
#undef ZENITH_INSTANCE

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library

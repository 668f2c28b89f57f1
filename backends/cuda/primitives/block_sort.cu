#include <backends/cuda/primitives/block_sort.hpp>

#include <cub/block/block_radix_sort.cuh>

#include <backends/cuda/primitives/library.hpp>
#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library {
namespace {

/// Segment b of the keys by block b, and their values with them.
template <class Key, unsigned Threads, unsigned Items>
struct sort_block {
  static constexpr unsigned block_size = Threads;
  using sort = cub::BlockRadixSort<Key, static_cast<int>(Threads), static_cast<int>(Items), std::uint32_t>;
  static constexpr std::size_t shared_bytes = sizeof(typename sort::TempStorage);

  Key* keys;
  void* values;  ///< or nullptr
  unsigned value_bytes;
  const std::uint32_t* offsets;  ///< nullptr: one segment of `length`
  std::uint32_t length;
  int bits;
  bool falls;

  __device__ void operator()() const {
    const std::uint32_t begin = offsets == nullptr ? 0 : offsets[blockIdx.x];
    const std::uint32_t n = offsets == nullptr ? length : offsets[blockIdx.x + 1] - begin;
    if (n < 2) return;
    // those behind the last come last: the sort is stable, and nothing is above them
    const Key turned = falls ? static_cast<Key>(~Key{0}) : Key{0};
    Key key[Items];
    std::uint32_t place[Items];
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      place[i] = threadIdx.x * Items + i;
      key[i] = place[i] < n ? keys[begin + place[i]] ^ turned : static_cast<Key>(~Key{0});
    }
    auto* const temporary = reinterpret_cast<typename sort::TempStorage*>(
        simt::dynamic_shared<unsigned char>(0, static_cast<unsigned>(shared_bytes)).pointer(0));
    sort(*temporary).SortBlockedToStriped(key, place, 0, bits);
    // nothing is written before all of it was read
    if (value_bytes == 4) {
      move(static_cast<std::uint32_t*>(values) + begin, n, place);
    } else if (value_bytes == 8) {
      move(static_cast<std::uint64_t*>(values) + begin, n, place);
    }
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      const unsigned at = i * Threads + threadIdx.x;
      if (at < n) keys[begin + at] = key[i] ^ turned;
    }
  }

 private:
  template <class Value>
  __device__ static void move(Value* all, std::uint32_t n, const std::uint32_t (&place)[Items]) {
    Value moved[Items];
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      if (i * Threads + threadIdx.x < n) moved[i] = all[place[i]];
    }
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < Items; ++i) {
      if (i * Threads + threadIdx.x < n) all[i * Threads + threadIdx.x] = moved[i];
    }
  }
};

template <class Key>
struct block_sorts {
  Key* keys;
  void* values;
  unsigned value_bytes;
  const std::uint32_t* offsets;
  std::uint64_t segments;
  std::uint64_t longest;
  int bits;
  bool falls;

  void launch(CUstream_st* stream) const {
    if (longest <= 1024) return launch_as<256, 4>(stream);
    if (longest <= 4096) return launch_as<512, 8>(stream);
    static_assert(tuning::most_sorted_in_block == 1024 * 8);
    return launch_as<1024, 8>(stream);
  }

 private:
  template <unsigned Threads, unsigned Items>
  void launch_as(CUstream_st* stream) const {
    using kernel = sort_block<Key, Threads, Items>;
    simt::launch(kernel{keys, values, value_bytes, offsets, static_cast<std::uint32_t>(longest), bits, falls},
                 {.grid = static_cast<unsigned>(segments), .shared_bytes = kernel::shared_bytes, .stream = stream});
  }
};

}  // namespace

template <class Key, class Value>
void sort_short_segments(call_memory& memory, Key* keys, Value* values, const std::uint32_t* offsets,
                         std::uint64_t segments, std::uint64_t longest) {
  if (segments == 0 || longest < 2) return;
  block_sorts<Key>{keys, values, sizeof(Value), offsets, segments, longest, 8 * sizeof(Key), false}.launch(
      memory.stream());
}

template <class Key, class Value>
void sort_in_block(call_memory& memory, Key* keys, Value* values, std::uint64_t n, int bits) {
  block_sorts<Key>{keys, values, sizeof(Value), nullptr, 1, n, bits, false}.launch(memory.stream());
}

void sort_falling_in_block(call_memory& memory, std::uint64_t* keys, std::uint64_t n) {
  block_sorts<std::uint64_t>{keys, nullptr, 0, nullptr, 1, n, 64, true}.launch(memory.stream());
}

#define ZENITH_INSTANCE(Key, Value)                                                                              \
  template void sort_short_segments<Key, Value>(call_memory&, Key*, Value*, const std::uint32_t*, std::uint64_t, \
                                                std::uint64_t);                                                  \
  template void sort_in_block<Key, Value>(call_memory&, Key*, Value*, std::uint64_t, int);
ZENITH_LIBRARY_PAIRS(ZENITH_INSTANCE)
#undef ZENITH_INSTANCE

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM::library

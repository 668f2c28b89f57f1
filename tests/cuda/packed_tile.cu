/// \file
/// A kernel of a user's own over packed columns, and the same loop on the CPU. The compiler is always asked; the
/// program runs where there is a GPU.

#include <zenith/packed_tile.cuh>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/cuda.hpp>
#include <zenith/error.hpp>
#include <zenith/packed_column.hpp>

namespace {

// What nobody offers ready-made: the sum of a[i] * b[i] over the rows whose a lies in a range, decoded in registers.
template <class T>
__global__ void weigh(zenith::packed_layout a, zenith::packed_layout b, T low, T high, unsigned long long* sum) {
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  unsigned long long own = 0;
  for (std::uint64_t block = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; block < a.blocks();
       block += warps) {
    const auto left = zenith::unpack_tile<T>(a, block);
    const auto right = zenith::unpack_tile<T>(b, block);
    for (unsigned i = 0; i < left.lane_items; ++i) {
      if (!left.holds(i) || left.item[i] < low || left.item[i] > high) continue;
      own += static_cast<unsigned long long>(left.item[i]) * static_cast<unsigned long long>(right.item[i]);
    }
  }
  if (own != 0) atomicAdd(sum, own);
}

template <class T>
unsigned long long weigh_on_cpu(const zenith::packed_layout& a, const zenith::packed_layout& b, T low, T high) {
  using word = std::make_unsigned_t<T>;
  unsigned long long sum = 0;
  word left[zenith::packed_block_items];
  word right[zenith::packed_block_items];
  for (std::uint64_t block = 0; block < a.blocks(); ++block) {
    const unsigned items = zenith::packed::unpack_block(a, block, left);
    static_cast<void>(zenith::packed::unpack_block(b, block, right));
    for (unsigned i = 0; i < items; ++i) {
      const auto key = static_cast<T>(left[i]);
      if (key < low || key > high) continue;
      sum += static_cast<unsigned long long>(key) * static_cast<unsigned long long>(static_cast<T>(right[i]));
    }
  }
  return sum;
}

// Every encoding takes part, at every kind of width.
template <class T>
std::vector<T> make_values(std::size_t count, unsigned shape, std::mt19937_64& random) {
  std::vector<T> values(count);
  unsigned width = 0;
  T value = static_cast<T>(random());
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 32 == 0) width = static_cast<unsigned>(random() % (sizeof(T) * 8));
    const auto bits = static_cast<T>(random() & ((std::uint64_t{1} << width) - 1));
    switch (shape) {
      case 0: values[i] = bits; break;
      case 1: values[i] = value = static_cast<T>(value + bits % 100); break;
      case 2: values[i] = value = random() % 20 == 0 ? bits : value; break;
      default: values[i] = random() % 30 == 0 ? static_cast<T>(random()) : static_cast<T>(bits % 8); break;
    }
  }
  return values;
}

template <class T>
int count_wrong() {
  using zenith::encoding;
  const auto on = zenith::cuda();
  std::mt19937_64 random(sizeof(T));
  int wrong = 0;
  for (int kind = 0; kind < static_cast<int>(encoding::automatic); ++kind) {
    for (unsigned shape = 0; shape < 4; ++shape) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{130}, std::size_t{2048}, 5000 + random() % 5000}) {
        const auto a = zenith::pack(zenith::reference(), make_values<T>(count, shape, random), encoding{kind});
        const auto b = zenith::pack(zenith::reference(), make_values<T>(count, 0, random));
        const zenith::packed_device_column<T> device_a(on, a);
        const zenith::packed_device_column<T> device_b(on, b);
        zenith::array<std::uint64_t> sum(on, std::vector<std::uint64_t>(1));
        const T low = a.get(random() % count);
        const T high = std::numeric_limits<T>::max();
        weigh<<<3, 128>>>(device_a.layout(), device_b.layout(), low, high,
                          reinterpret_cast<unsigned long long*>(sum.device().data()));
        std::vector<std::uint64_t> found(1);
        sum.copy_to(found);
        if (found[0] == weigh_on_cpu(a.layout(), b.layout(), low, high)) continue;
        ++wrong;
        std::printf("wrong: %zu bytes a value, %zu values of shape %u as %.*s\n", sizeof(T), count, shape,
                    static_cast<int>(zenith::to_string(encoding{kind}).size()),
                    zenith::to_string(encoding{kind}).data());
      }
    }
  }
  return wrong;
}

}  // namespace

int main() {
  try {
    static_cast<void>(zenith::cuda());
  } catch (const zenith::error& why) {
    std::printf("zenith: skipped: %s\n", why.what());
    return 0;
  }
  return count_wrong<std::int32_t>() + count_wrong<std::uint32_t>() + count_wrong<std::int64_t>() +
                     count_wrong<std::uint64_t>() ==
                 0
             ? 0
             : 1;
}

#include <perf/bench/device_clock.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace zenith_bench {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(std::string{"CUDA: "} + cudaGetErrorString(code));
}

constexpr unsigned block = 512;

unsigned resident_grid() {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<unsigned>(multiprocessors) * (2048 / block);
}

__global__ void __launch_bounds__(block) read_all(const uint4* from, std::size_t vectors, unsigned* sink) {
  const std::size_t stride = std::size_t{gridDim.x} * block;
  unsigned all = 0;
  std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x;
  for (; i + 3 * stride < vectors; i += 4 * stride) {
    uint4 loaded[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) loaded[j] = __ldcs(from + i + j * stride);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) all |= loaded[j].x | loaded[j].y | loaded[j].z | loaded[j].w;
  }
  for (; i < vectors; i += stride) all |= from[i].x;
  if (all == 0xabcdef01U) *sink = all;
}

__global__ void __launch_bounds__(block) copy_all(const uint4* from, uint4* to, std::size_t vectors) {
  const std::size_t stride = std::size_t{gridDim.x} * block;
  std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x;
  for (; i + 3 * stride < vectors; i += 4 * stride) {
    uint4 loaded[4];
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) loaded[j] = __ldcs(from + i + j * stride);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) to[i + j * stride] = loaded[j];
  }
  for (; i < vectors; i += stride) to[i] = from[i];
}

__device__ unsigned hash(std::size_t i) {
  unsigned long long h = (i + 1) * 0x9e3779b97f4a7c15ULL;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  return static_cast<unsigned>(h >> 32);
}

__global__ void fill(std::uint32_t* out, std::size_t count, unsigned mask, bool rising) {
  constexpr unsigned run = 2048;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x * run;
  for (std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * run; first < count; first += stride) {
    std::uint32_t sum = 0;
    for (std::size_t i = first; i < first + run && i < count; ++i) {
      const unsigned bits = hash(i) & mask;
      sum = rising ? sum + bits : bits;
      out[i] = sum;
    }
  }
}

class buffer {
 public:
  explicit buffer(std::size_t bytes) {
    check(cudaMalloc(&data_, bytes));
    // not zeros: reading those can be faster than reading data
    check(cudaMemset(data_, 0x5a, bytes));
  }
  ~buffer() { (void)cudaFree(data_); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  [[nodiscard]] uint4* data() const { return static_cast<uint4*>(data_); }

 private:
  void* data_ = nullptr;
};

double fastest(const std::function<void()>& work) {
  work();
  double best = device_seconds(work);
  for (int run = 0; run < 20; ++run) best = std::min(best, device_seconds(work));
  return best;
}

}  // namespace

double device_seconds(const std::function<void()>& work) {
  static cudaEvent_t begin = nullptr;
  static cudaEvent_t end = nullptr;
  if (begin == nullptr) {
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
  }
  check(cudaEventRecord(begin));
  work();
  check(cudaEventRecord(end));
  check(cudaEventSynchronize(end));
  check(cudaGetLastError());
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  return 1e-3 * static_cast<double>(milliseconds);
}

double read_bandwidth(std::size_t bytes) {
  const buffer from(bytes);
  const buffer sink(16);
  return static_cast<double>(bytes) / fastest([&] {
           read_all<<<resident_grid(), block>>>(from.data(), bytes / 16, reinterpret_cast<unsigned*>(sink.data()));
         });
}

double copy_bandwidth(std::size_t bytes) {
  const buffer from(bytes);
  const buffer to(bytes);
  return 2 * static_cast<double>(bytes) /
         fastest([&] { copy_all<<<resident_grid(), block>>>(from.data(), to.data(), bytes / 16); });
}

void fill_with_bits(std::uint32_t* out, std::size_t count, unsigned width, bool rising) {
  const unsigned mask = width == 0 ? 0U : ~0U >> (32 - width);
  fill<<<resident_grid(), 256>>>(out, count, mask, rising);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

}  // namespace zenith_bench

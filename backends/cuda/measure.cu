#include <backends/cuda/profile.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include <backends/cuda/scratch.hpp>
#include <backends/cuda/simt/check.hpp>

namespace zenith::cuda_backend {
namespace {

struct read_all {
  static constexpr unsigned block_size = 512;
  const std::uint32_t* from;
  std::uint32_t* sink;
  std::uint64_t vectors;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    std::uint32_t sum = 0;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < vectors;
         i += 4 * stride) {
      // four loads in flight; a sum that depends on all of them
      ZENITH_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        if (i + j * stride < vectors) {
          const auto loaded = simt::load_vector_streaming<4>(from + (i + j * stride) * 4);
          sum |= loaded.value[0] | loaded.value[1] | loaded.value[2] | loaded.value[3];
        }
      }
    }
    // the buffer holds zeros
    if (sum != 0) simt::store(sink, sum);
  }
};

struct write_all {
  static constexpr unsigned block_size = 512;
  std::uint32_t* to;
  std::uint64_t vectors;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < vectors;
         i += stride) {
      simt::store_vector(to + i * 4, simt::vector<std::uint32_t, 4>{});
    }
  }
};

struct copy_all {
  static constexpr unsigned block_size = 512;
  const std::uint32_t* from;
  std::uint32_t* to;
  std::uint64_t vectors;

  ZENITH_DEVICE void operator()() const {
    const std::uint64_t stride = std::uint64_t{simt::grid_size()} * block_size;
    for (std::uint64_t i = std::uint64_t{simt::block_index()} * block_size + simt::thread_index(); i < vectors;
         i += stride) {
      simt::store_vector(to + i * 4, simt::load_vector_streaming<4>(from + i * 4));
    }
  }
};

struct do_nothing {
  static constexpr unsigned block_size = 32;
  ZENITH_DEVICE void operator()() const {}
};

class timer {
 public:
  timer() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    if (const auto code = cudaEventCreate(&end_); code != cudaSuccess) {
      (void)cudaEventDestroy(begin_);
      fail(code, "cudaEventCreate");
    }
  }
  ~timer() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // Seconds of the fastest of a few runs, the first of which only warms up.
  double fastest(CUstream_st* stream, const std::function<void()>& work) {
    constexpr int runs = 6;
    double best = 0;
    for (int run = 0; run < runs; ++run) {
      check(cudaEventRecord(begin_, stream), "cudaEventRecord");
      work();
      check(cudaEventRecord(end_, stream), "cudaEventRecord");
      check(cudaEventSynchronize(end_), "cudaEventSynchronize");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
      const double seconds = 1e-3 * static_cast<double>(milliseconds);
      if (run == 1 || (run > 1 && seconds < best)) best = seconds;
    }
    return best;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// Of a copy that is waited for, seen from the host.
double copy_time(void* to, const void* from, std::size_t bytes, CUstream_st* stream) {
  using clock = std::chrono::steady_clock;
  double best = 1;
  for (int run = 0; run < 20; ++run) {
    const auto begin = clock::now();
    simt::copy(to, from, bytes, stream);
    simt::synchronize(stream);
    best = std::min(best, std::chrono::duration<double>(clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int probe_kernel_image(int device) {
  int before = 0;
  if (const auto code = cudaGetDevice(&before); code != cudaSuccess) return code;
  auto code = cudaSetDevice(device);
  cudaFuncAttributes found{};
  if (code == cudaSuccess) {
    code = cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(&simt::detail::run<do_nothing>));
  }
  (void)cudaSetDevice(before);
  return code;
}

device_profile measure(const execution& on, const progress_function& progress) {
  const simt::device_guard current(on.device);
  CUstream_st* const stream = stream_of(on);
  const auto tell = [&](double share, std::string_view what) {
    if (progress) progress(share, what);
  };
  auto profile = default_profile(on);
  profile.origin = "calibrated";

  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  // far beyond any L2, and well within what is free
  const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << 30, free_bytes / 4) / 4096 * 4096;
  const std::uint64_t vectors = bytes / 16;
  // enough for all threads of the host that stage a copy to be at work most of the time
  constexpr std::size_t link_bytes = std::size_t{512} << 20;

  std::uint32_t* from = nullptr;
  std::uint32_t* to = nullptr;
  scratch workspace(on, stream);
  workspace.request(from, bytes / 4);
  workspace.request(to, bytes / 4);
  workspace.allocate();
  simt::fill_zero(from, bytes, stream);
  const auto grid = static_cast<unsigned>(simt::limits().multiprocessors * simt::resident_blocks<read_all>());
  const auto moved = static_cast<double>(bytes);
  timer clock;
  auto& memory = profile.levels.back();

  tell(0.0, "device memory, read");
  memory.read = moved / clock.fastest(stream, [&] {
    simt::launch(read_all{from, to, vectors}, {.grid = grid, .stream = stream});
  });
  tell(0.2, "device memory, write");
  memory.write = moved / clock.fastest(stream, [&] {
    simt::launch(write_all{to, vectors}, {.grid = grid, .stream = stream});
  });
  tell(0.4, "device memory, copy");
  memory.copy = 2 * moved / clock.fastest(stream, [&] {
    simt::launch(copy_all{from, to, vectors}, {.grid = grid, .stream = stream});
  });
  tell(0.6, "launch overhead");
  constexpr int launches = 500;
  profile.launch_overhead = clock.fastest(stream, [&] {
    for (int i = 0; i < launches; ++i) simt::launch(do_nothing{}, {.stream = stream});
  }) / launches;

  tell(0.7, "host to device");
  const std::size_t linked = std::min(link_bytes, bytes);
  // Pageable memory, as most callers' spans are.
  std::vector<std::byte> host(linked);
  profile.host_to_device =
      static_cast<double>(linked) / clock.fastest(stream, [&] { simt::copy(to, host.data(), linked, stream); });
  // Short copies have one thread of the host at work.
  constexpr std::size_t least = std::size_t{64} << 10;
  constexpr std::size_t most = std::size_t{3} << 20;
  const double of_least = copy_time(to, host.data(), least, stream);
  const double of_byte = std::max(0.0, copy_time(to, host.data(), most, stream) - of_least) / (most - least);
  const double there_and_back = of_least - of_byte * least + copy_time(host.data(), to, 4, stream);
  profile.rates["link.short_copy"] = of_byte;
  profile.link_latency = std::max(0.0, there_and_back) / 2;
  tell(0.85, "device to host");
  profile.device_to_host =
      static_cast<double>(linked) / clock.fastest(stream, [&] { simt::copy(host.data(), to, linked, stream); });
  tell(1.0, "done");
  return profile;
}

}  // namespace zenith::cuda_backend

#include <backends/cuda/simt/host.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <backends/cuda/simt/check.hpp>
#include <backends/cuda/simt/kept_scratch.hpp>
#include <backends/cuda/simt/staging.hpp>
#include <zenith/error.hpp>

namespace zenith::cuda_backend {

void fail(cudaError_t code, std::string_view what, source_location where) {
  // A failure that is not sticky must not be found again by a later call.
  (void)cudaGetLastError();
  const auto kind = code == cudaErrorMemoryAllocation ? error_code::out_of_memory : error_code::device_failure;
  throw error(kind, std::string{what} + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")", "cuda",
              static_cast<int>(code), where);
}

}  // namespace zenith::cuda_backend

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

using cuda_backend::check;

device_guard::device_guard(int device) {
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  // also where it is current already: the first call of a process makes the device's context here
  check(cudaSetDevice(device), "cudaSetDevice");
  before_ = current;
}

device_guard::~device_guard() { (void)cudaSetDevice(before_); }

quiet_device_guard::quiet_device_guard(int device) noexcept {
  if (cudaGetDevice(&before_) != cudaSuccess) before_ = -1;
  (void)cudaSetDevice(device);
}

quiet_device_guard::~quiet_device_guard() {
  if (before_ >= 0) (void)cudaSetDevice(before_);
}

own_stream::own_stream() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

own_stream::~own_stream() { (void)cudaStreamDestroy(stream_); }

event::event() {
  cudaEvent_t made = nullptr;
  check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  event_ = made;
}

event::~event() { (void)cudaEventDestroy(static_cast<cudaEvent_t>(event_)); }

void event::record(CUstream_st* stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(event_), stream), "cudaEventRecord");
}

void event::hold(CUstream_st* stream) const {
  check(cudaStreamWaitEvent(stream, static_cast<cudaEvent_t>(event_), 0), "cudaStreamWaitEvent");
}

void event::wait() const { check(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)), "cudaEventSynchronize"); }

device_limits limits() {
  int device = 0;
  int multiprocessors = 0;
  int shared = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  static std::mutex mutex;
  static std::map<int, device_limits> known;
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(device); found != known.end()) return found->second;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  return known[device] = {multiprocessors, static_cast<std::size_t>(shared)};
}

namespace {

// Two pools a device, of the library's own: the device's default pool gives everything back at each synchronisation
// unless its owner, who is not us, says otherwise, and then each call would wait for the operating system. For the same
// reason what lasts has a pool apart: columns of gigabytes are more than a pool keeps, and one that holds more gives
// back all that is free, so that each call's scratch was mapped anew: 60 us of a short call. Kept until
// the process ends, as loaded kernels are, or until there is no other memory.
enum class lifetime : std::uint8_t { call, lasting };

/// Bytes that a pool keeps: of the current device's memory a sixteenth.
std::uint64_t kept_bytes() {
  constexpr std::uint64_t least = std::uint64_t{256} << 20;
  std::size_t available = 0;
  std::size_t all = 0;
  check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  return std::max<std::uint64_t>(least, all / 16);
}

class device_pools {
 public:
  cudaMemPool_t of_current_device(lifetime of) {
    const int device = current_device();
    const std::scoped_lock lock(mutex_);
    if (const auto found = pools_.find({device, of}); found != pools_.end()) return found->second;
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = device;
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &wanted), "cudaMemPoolCreate");
    std::uint64_t kept = kept_bytes();
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
    pools_.emplace(std::pair{device, of}, pool);
    return pool;
  }
  /// Gives back what is free in the current device's pools.
  void trim() {
    const int device = current_device();
    const std::scoped_lock lock(mutex_);
    for (const auto& [where, pool] : pools_) {
      if (where.first == device) (void)cudaMemPoolTrimTo(pool, 0);
    }
  }

 private:
  static int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
  }

  std::mutex mutex_;
  std::map<std::pair<int, lifetime>, cudaMemPool_t> pools_;
};

void* allocate_from(lifetime of, std::size_t bytes, CUstream_st* stream) {
  static device_pools pools;
  const auto pool = pools.of_current_device(of);
  void* pointer = nullptr;
  auto code = cudaMallocFromPoolAsync(&pointer, bytes, pool, stream);
  if (code == cudaErrorMemoryAllocation) {
    // the other pool may hold what is free
    (void)cudaGetLastError();
    (void)cudaStreamSynchronize(stream);
    pools.trim();
    code = cudaMallocFromPoolAsync(&pointer, bytes, pool, stream);
  }
  check(code, "cudaMallocFromPoolAsync of " + std::to_string(bytes) + " bytes");
  return pointer;
}

cuda_backend::kept_scratch& kept() {
  static cuda_backend::kept_scratch all;
  return all;
}

cuda_backend::kept_scratch& words() {
  static cuda_backend::kept_scratch all;
  return all;
}

// Whose scratch may be kept; nobody's while a graph is captured, which may run beside later calls on the stream, and
// not where one handle means another stream in each thread.
std::optional<cuda_backend::kept_scratch::owner> owner_of(CUstream_st* stream) {
#if CUDART_VERSION >= 12000
  if (stream == cudaStreamPerThread) return std::nullopt;
  auto capture = cudaStreamCaptureStatusNone;
  cuda_backend::kept_scratch::owner by;
  if (cudaStreamIsCapturing(stream, &capture) == cudaSuccess && capture == cudaStreamCaptureStatusNone &&
      cudaGetDevice(&by.device) == cudaSuccess && cudaStreamGetId(stream, &by.stream) == cudaSuccess) {
    return by;
  }
  (void)cudaGetLastError();
#endif
  return std::nullopt;
}

}  // namespace

void* allocate(std::size_t bytes, CUstream_st* stream) {
  constexpr std::size_t block = cuda_backend::kept_scratch::block_bytes;
  const auto by = bytes <= block ? owner_of(stream) : std::nullopt;
  if (by) {
    if (void* const idle = kept().take(*by)) return idle;
  }
  const bool is_to_keep = by && !kept().is_full();
  void* const made = allocate_from(lifetime::call, is_to_keep ? block : bytes, stream);
  if (is_to_keep) kept().add(made, *by);
  return made;
}

void* allocate_lasting(std::size_t bytes, CUstream_st* stream) {
  return allocate_from(lifetime::lasting, bytes, stream);
}

void deallocate(void* pointer, std::size_t bytes, CUstream_st* stream) noexcept {
  if (bytes <= cuda_backend::kept_scratch::block_bytes && kept().give(pointer)) return;
  (void)cudaFreeAsync(pointer, stream);
}

void* take_words(CUstream_st* stream) {
  const auto by = owner_of(stream);
  if (!by) return nullptr;
  if (void* const idle = words().take(*by)) return idle;
  if (words().is_full()) return nullptr;
  void* const made = allocate_from(lifetime::call, kept_words_bytes, stream);
  if (const auto code = cudaMemsetAsync(made, 0, kept_words_bytes, stream); code != cudaSuccess) {
    (void)cudaFreeAsync(made, stream);
    check(code, "cudaMemsetAsync");
  }
  words().add(made, *by);
  return made;
}

void give_words(void* at) noexcept { (void)words().give(at); }

void copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream) {
  if (cuda_backend::gains_from_staging(to, from, bytes)) return cuda_backend::copy_staged(to, from, bytes, stream);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void copy_pieces(std::span<const device::fetched_array> arrays, std::span<const std::uint32_t> begins,
                 std::uint64_t length, CUstream_st* stream) {
  cuda_backend::copy_pieces_staged(arrays, begins, length, stream);
}

void fill_zero(void* at, std::size_t bytes, CUstream_st* stream) {
  check(cudaMemsetAsync(at, 0, bytes, stream), "cudaMemsetAsync");
}

void synchronize(CUstream_st* stream) { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

void settle(CUstream_st* stream) noexcept { (void)cudaStreamSynchronize(stream); }

namespace {

// Pages that no call holds. To pin one takes longer than a launch, so they go from call to call, as many as there ever
// were calls at once, and are kept until the process ends.
class idle_pages {
 public:
  struct page {
    void* at;
    std::size_t bytes;
  };

  page take(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const page& one) { return one.bytes >= bytes; });
      if (found != idle_.end()) {
        const page taken = *found;
        *found = idle_.back();
        idle_.pop_back();
        return taken;
      }
      // so that giving back never has to ask for memory
      idle_.reserve(++asked_for_);
    }
    constexpr std::size_t unit = std::size_t{64} << 10;
    page made{nullptr, (bytes + unit - 1) / unit * unit};
    check(cudaHostAlloc(&made.at, made.bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    return made;
  }

  void give(const page& back) noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(back);
  }

 private:
  std::mutex mutex_;
  std::vector<page> idle_;
  std::size_t asked_for_ = 0;
};

idle_pages& pages() {
  static idle_pages all;
  return all;
}

}  // namespace

host_page::host_page(std::size_t bytes) {
  const auto taken = pages().take(bytes);
  at_ = taken.at;
  bytes_ = taken.bytes;
}

host_page::~host_page() { pages().give({at_, bytes_}); }

namespace detail {
namespace {

// What a kernel gets without asking: 48 KiB, of which up to 8 may be its static shared memory.
constexpr std::size_t shared_bytes_unasked = 40 * 1024;

// What is asked of the driver once for each kernel and device, because the answer takes as long as a launch.
struct kernel_facts {
  bool waits = false;               ///< for the kernel before it, so that it may be brought to the device early
  std::size_t shared_bytes = 0;     ///< dynamic shared memory that it was allowed to have
  int resident_blocks = 0;          ///< 0: not asked yet
  std::size_t resident_shared = 0;  ///< the dynamic shared memory of those
};

template <class Ask>
kernel_facts facts_of(const void* function, const Ask& ask) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, kernel_facts> known;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  const std::scoped_lock lock(mutex);
  const auto [at, is_new] = known.try_emplace({device, function});
  if (is_new) {
    cudaFuncAttributes found{};
    const auto code = cudaFuncGetAttributes(&found, function);
    if (code != cudaSuccess) known.erase(at);
    check(code, "cudaFuncGetAttributes");
    // The machine code that this device runs must have been compiled with the wait in it: see `run`.
    at->second.waits = found.ptxVersion >= 90 && found.binaryVersion >= 90;
  }
  ask(at->second);
  return at->second;
}

void ask_for_shared(const void* function, std::size_t bytes) {
  if (bytes <= shared_bytes_unasked) return;
  static_cast<void>(facts_of(function, [&](kernel_facts& facts) {
    if (bytes <= facts.shared_bytes) return;
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "cudaFuncSetAttribute(MaxDynamicSharedMemorySize)");
    facts.shared_bytes = bytes;
  }));
}

int count_resident_blocks(const void* function, unsigned block, std::size_t shared_bytes) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, static_cast<int>(block), shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks > 0 ? blocks : 1;
}

}  // namespace

void launch(const void* function, unsigned block, const launch_shape& shape, void** arguments) {
  ask_for_shared(function, shape.shared_bytes);
  // The two do not go together.
  cudaLaunchAttribute with{};
  if (shape.waits_within) {
    with.id = cudaLaunchAttributeCooperative;
    with.val.cooperative = 1;
  } else {
    with.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    with.val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.grid);
  config.blockDim = dim3(block);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  config.attrs = &with;
  config.numAttrs = shape.waits_within || facts_of(function, [](kernel_facts&) {}).waits ? 1 : 0;
  check(cudaLaunchKernelExC(&config, function, arguments), "cudaLaunchKernelExC");
}

int resident_blocks(const void* function, unsigned block, std::size_t shared_bytes) {
  ask_for_shared(function, shared_bytes);
  return facts_of(function,
                  [&](kernel_facts& facts) {
                    if (facts.resident_blocks != 0 && facts.resident_shared == shared_bytes) return;
                    facts.resident_blocks = count_resident_blocks(function, block, shared_bytes);
                    facts.resident_shared = shared_bytes;
                  })
      .resident_blocks;
}

}  // namespace detail

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM

#include <tests/simt/backend/emulated_cuda.hpp>

#include <zenith/backend.hpp>

#include <mutex>

#include <backends/cuda/kernel_table.hpp>
#include <backends/cuda/scratch.hpp>
#include <tests/simt/engine/memory.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {
namespace {

constexpr std::string_view options[] = {"device"};

std::vector<device_info> emulated_devices() {
  return {{0, "emulated GPU", "lanes are fibers of the host", simt_engine::device_memory::capacity}};
}

void configure_emulated(execution& settings) {
  const simt::device_guard exists(settings.device);
  settings.threads = 1;
}

void* allocate_emulated(const execution& on, std::size_t bytes) { return allocate_lasting(on, bytes, stream_of(on)); }

void deallocate_emulated(const execution& on, void* pointer, std::size_t bytes) noexcept {
  deallocate(on, pointer, bytes, stream_of(on));
}

// The copy finds out by itself where the bytes lie; what the caller says must agree.
void copy_emulated(const execution& on, void* to, memory_space to_space, const void* from, memory_space from_space,
                   std::size_t bytes) {
  auto& memory = simt_engine::device_memory::instance();
  if (to_space == memory_space::device) static_cast<void>(memory.require(to, bytes, "a copy to the device"));
  if (from_space == memory_space::device) static_cast<void>(memory.require(from, bytes, "a copy from the device"));
  simt::copy(to, from, bytes, stream_of(on));
}

void synchronize_emulated(const execution& on) { simt::synchronize(stream_of(on)); }

constinit const backend descriptor{
    .name = "cuda-emulated",
    .description = "the CUDA backend's kernels, lane by lane on the host",
    .needs = "nothing: it is for tests",
    .memory = memory_space::device,
    .options = options,
    .kernels = kernel_table,
    .devices = emulated_devices,
    .configure = configure_emulated,
    .allocate = allocate_emulated,
    .deallocate = deallocate_emulated,
    .copy = copy_emulated,
    .synchronize = synchronize_emulated,
};

}  // namespace
}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

namespace zenith_test {

void register_emulated_cuda() {
  static std::once_flag once;
  std::call_once(once, [] {
    zenith::register_backend(zenith::cuda_backend::descriptor);
    // made before a test counts what it leaves allocated
    zenith::simt::give_words(zenith::simt::take_words(nullptr));
  });
}

}  // namespace zenith_test

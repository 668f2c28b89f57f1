#include <pretend_device.hpp>

#include <cstring>
#include <map>
#include <new>

#include <zenith/array.hpp>
#include <zenith/error.hpp>
#include <zenith/top_k_call.hpp>

namespace unit {
namespace {

std::map<const char*, std::size_t>& blocks() {
  static std::map<const char*, std::size_t> all;
  return all;
}

void note(const char* fault) {
  if (the_device_log().fault.empty()) the_device_log().fault = fault;
}

bool is_device_memory(const void* pointer, std::size_t bytes) {
  const auto* at = static_cast<const char*>(pointer);
  auto after = blocks().upper_bound(at);
  if (after == blocks().begin()) return false;
  --after;
  return at + bytes <= after->first + after->second;
}

void* allocate(const zenith::execution& on, std::size_t bytes) {
  if (on.target != &pretend_device()) note("allocate was called for another backend");
  if (bytes > (std::size_t{1} << 40)) {
    throw zenith::error(zenith::error_code::out_of_memory, "the pretended device is full", "pretend");
  }
  auto* pointer = static_cast<char*>(::operator new(bytes));
  blocks()[pointer] = bytes;
  auto& log = the_device_log();
  ++log.allocations;
  ++log.live_allocations;
  log.live_bytes += bytes;
  return pointer;
}

void deallocate(const zenith::execution&, void* pointer, std::size_t bytes) noexcept {
  const auto found = blocks().find(static_cast<const char*>(pointer));
  if (found == blocks().end() || found->second != bytes) return note("deallocate got what allocate did not give");
  blocks().erase(found);
  --the_device_log().live_allocations;
  the_device_log().live_bytes -= bytes;
  ::operator delete(pointer);
}

void copy(const zenith::execution&, void* to, zenith::memory_space to_space, const void* from,
          zenith::memory_space from_space, std::size_t bytes) {
  ++the_device_log().copies;
  if (is_device_memory(to, bytes) != (to_space == zenith::memory_space::device)) note("copy to the wrong memory");
  if (is_device_memory(from, bytes) != (from_space == zenith::memory_space::device)) note("copy from the wrong memory");
  std::memcpy(to, from, bytes);
}

void synchronize(const zenith::execution&) { ++the_device_log().synchronisations; }

void top_k(const zenith::execution&, const zenith::top_k_call& call) {
  const bool is_device = call.space == zenith::memory_space::device;
  const auto width = static_cast<std::size_t>(call.index_bytes);
  if (is_device_memory(call.keys, call.count * zenith::size_of(call.type)) != is_device) note("keys lie elsewhere");
  if (is_device_memory(call.out_keys, call.k * zenith::size_of(call.type)) != is_device)
    note("out_keys lies elsewhere");
  if (is_device_memory(call.out_indices, call.k * width) != is_device) note("out_indices lies elsewhere");
  const auto& reference = zenith::find_backend("reference");
  zenith::find_kernel(reference, "top_k", "sort")->run({}, &call);
}

std::vector<zenith::device_info> devices() { return {{0, "nothing", "host memory under another name", 0}}; }

constexpr zenith::kernel kernels[] = {zenith::make_kernel<zenith::top_k_call, top_k>("pretended")};
constexpr zenith::backend descriptor{
    .name = "pretend",
    .description = "a device that is none",
    .needs = "nothing",
    .memory = zenith::memory_space::device,
    .kernels = kernels,
    .devices = devices,
    .allocate = allocate,
    .deallocate = deallocate,
    .copy = copy,
    .synchronize = synchronize,
};

}  // namespace

device_log& the_device_log() {
  static device_log log;
  return log;
}

const zenith::backend& pretend_device() {
  static const bool registered = (zenith::register_backend(descriptor), true);
  (void)registered;
  return descriptor;
}

}  // namespace unit

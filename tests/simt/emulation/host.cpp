#include <backends/cuda/simt/vocabulary.hpp>
#include <zenith/error.hpp>

#include <cstdio>
#include <exception>
#include <vector>

#include <tests/simt/engine/memory.hpp>

namespace zenith::simt::inline ZENITH_SIMT_PLATFORM {

device_guard::device_guard(int device) {
  if (device != 0) {
    throw error(error_code::backend_unavailable, "the emulation has one device, number 0", "cuda-emulated", 101);
  }
}

CUstream_st* own_stream::get() const noexcept { return reinterpret_cast<CUstream_st*>(const_cast<own_stream*>(this)); }

device_limits limits() {
  return {.multiprocessors = engine::device_multiprocessors, .shared_bytes_per_block = engine::device_shared_bytes};
}

void* allocate(std::size_t bytes, CUstream_st* /*stream*/) {
  void* const at = engine::device_memory::instance().allocate(bytes);
  if (at == nullptr) {
    throw error(error_code::out_of_memory, "the emulated device has no memory for " + std::to_string(bytes) + " bytes",
                "cuda-emulated", 2);
  }
  return at;
}

void* allocate_lasting(std::size_t bytes, CUstream_st* stream) { return allocate(bytes, stream); }

void deallocate(void* pointer, std::size_t /*bytes*/, CUstream_st* /*stream*/) noexcept {
  try {
    engine::device_memory::instance().deallocate(pointer);
  } catch (const std::exception& wrong) {
    // there is nobody to tell but the person at the terminal
    std::fprintf(stderr, "%s\n", wrong.what());
    std::terminate();
  }
}

namespace {

void* kept_words() {
  static void* const at = [] {
    void* const made = allocate(kept_words_bytes, nullptr);
    fill_zero(made, kept_words_bytes, nullptr);
    return made;
  }();
  return at;
}

}  // namespace

void* take_words(CUstream_st* /*stream*/) { return kept_words(); }

// A launch that ended in a fault left them as they were in its midst.
void give_words(void* at) noexcept {
  if (std::uncaught_exceptions() > 0) fill_zero(at, kept_words_bytes, nullptr);
}

void copy(void* to, const void* from, std::size_t bytes, CUstream_st* /*stream*/) {
  engine::device_memory::instance().copy(to, from, bytes);
}

void copy_pieces(std::span<const device::fetched_array> arrays, std::span<const std::uint32_t> begins,
                 std::uint64_t length, CUstream_st* stream) {
  for (const auto& one : arrays) {
    std::vector<std::byte> pieces(begins.size() * length * one.item_bytes);
    device::copy_pieces(pieces.data(), one, begins.data(), begins.size(), length);
    copy(one.to, pieces.data(), pieces.size(), stream);
  }
}

void fill_zero(void* at, std::size_t bytes, CUstream_st* /*stream*/) {
  engine::device_memory::instance().fill(at, 0, bytes);
}

// A fault was thrown by the launch that made it.
void synchronize(CUstream_st* /*stream*/) {}
void settle(CUstream_st* /*stream*/) noexcept {}

}  // namespace zenith::simt::inline ZENITH_SIMT_PLATFORM

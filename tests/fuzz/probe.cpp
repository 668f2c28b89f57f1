// Whether clang can build a fuzzing target here.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return static_cast<int>(std::span(data, size).size_bytes() & 0);
}

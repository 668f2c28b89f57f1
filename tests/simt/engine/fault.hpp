#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

/// \file
/// What the emulation found wrong with a kernel, and where.

namespace zenith::simt_engine {

struct index3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const index3&, const index3&) = default;
};

/// The position of number `i` in an extent, x fastest, as CUDA numbers threads and blocks.
[[nodiscard]] constexpr index3 position(std::uint64_t i, index3 extent) {
  return {static_cast<unsigned>(i % extent.x), static_cast<unsigned>(i / extent.x % extent.y),
          static_cast<unsigned>(i / extent.x / extent.y)};
}

enum class fault_kind : std::uint8_t {
  barrier,             ///< a barrier that not all threads of the block (or grid) reach
  warp_mask,           ///< a mask that names a lane that never arrives, or leaves out one that calls
  uninitialised_read,  ///< a read of memory that nothing wrote
  race,                ///< two threads touch the same bytes with nothing between, at least one writes, not both atomic
  out_of_bounds,       ///< an access outside every live allocation of the device
  misaligned,          ///< an access that is not aligned to its size
  host_memory,         ///< a kernel touches host memory, or the host hands it over as device memory
  launch,              ///< a launch configuration that no device takes
  endless,             ///< a thread that goes on without end
};

[[nodiscard]] std::string_view to_string(fault_kind kind) noexcept;

/// A line of source.
struct code_location {
  std::string file = {};  ///< empty when it is not known
  unsigned line = 0;
  std::string function = {};
};

/// Where something happened, small enough to keep one for every byte of memory: a machine address in instrumented
/// code, or a call of the vocabulary.
class site {
 public:
  constexpr site() = default;
  [[nodiscard]] static site of_code(const void* return_address) noexcept;
  [[nodiscard]] static site of_call(const std::source_location& where);

  [[nodiscard]] code_location resolve() const;
  /// "file:line", or what is known.
  [[nodiscard]] std::string text() const;
  friend bool operator==(site, site) = default;

 private:
  constexpr explicit site(std::uint32_t id) : id_(id) {}
  std::uint32_t id_ = 0;
};

/// The one exception of the emulation. what() is the whole report.
class fault : public std::runtime_error {
 public:
  struct details {
    fault_kind kind{};
    code_location where = {};
    index3 block{0, 0, 0};
    index3 thread{0, 0, 0};
    bool in_kernel = true;
    std::string sentence = {};
    std::string kernel = {};
    std::uint64_t seed = 0;
  };

  explicit fault(details what);

  [[nodiscard]] fault_kind kind() const noexcept { return details_.kind; }
  [[nodiscard]] const code_location& where() const noexcept { return details_.where; }
  [[nodiscard]] index3 block() const noexcept { return details_.block; }
  [[nodiscard]] index3 thread() const noexcept { return details_.thread; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return details_.seed; }

 private:
  details details_;
};

}  // namespace zenith::simt_engine

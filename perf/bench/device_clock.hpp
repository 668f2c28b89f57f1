#pragma once

/// \file
/// Times of work on a GPU, the floors that they are compared with, and inputs made there. No CUDA header is needed.

#include <cstddef>
#include <cstdint>
#include <functional>

namespace zenith_bench {

/// Seconds between two events around `work`, which uses the default stream.
[[nodiscard]] double device_seconds(const std::function<void()>& work);

/// The fastest of a few reads of `bytes` bytes of device memory, in bytes a second.
[[nodiscard]] double read_bandwidth(std::size_t bytes);
/// The same of a copy, bytes read and written counted both.
[[nodiscard]] double copy_bandwidth(std::size_t bytes);

/// out[i] = a hash of i in `width` bits, or for `rising` the running sum of such hashes within 2^11 values.
void fill_with_bits(std::uint32_t* out, std::size_t count, unsigned width, bool rising);

}  // namespace zenith_bench

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace zenith_study {

/// How fast this machine reads an array once: what no selection can beat.
struct read_floor {
  std::vector<double> seconds;  ///< one entry a repetition
  std::string how;              ///< the instruction set and number of threads that were fastest
  std::size_t reader = 0;       ///< the loop that was fastest
  int threads = 1;
};

/// Times a sum of the words of `data`, the least work that looks at every item, with every instruction set that this
/// CPU has, one stream and four, with and without prefetching, on one thread and on `threads`; the fastest combination
/// counts. Throws std::logic_error when two of them find different sums.
[[nodiscard]] read_floor measure_read_floor(std::span<const std::byte> data, int threads, int repeat);

/// Times the fastest combination again: a floor is fair only when it saw the same moments as what stands on it.
void measure_again(read_floor& floor, std::span<const std::byte> data, int repeat);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <string_view>

namespace conformance {

/// What top_k.hpp promises of strategy "filter": how often it reads the data at most, whatever the input. One read with
/// the sample's threshold, one a digit to find the exact one, and one with that; on CUDA, whose digits are narrower,
/// one more for items that equal the k-th best. The text over the device context, which Kokkos runs, may have to go on
/// with the digits of the index.
template <class T>
std::uint64_t most_reads(std::string_view backend) {
  constexpr std::uint64_t bits = sizeof(T) * 8;
  if (backend == "kokkos") return 2 + (bits + 10) / 11 + 3;
  return backend == "cuda" || backend == "cuda-emulated" ? 3 + (bits + 10) / 11 : 2 + bits / 16;
}

}  // namespace conformance

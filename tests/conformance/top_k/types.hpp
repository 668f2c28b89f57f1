#pragma once

#include <cstdint>

// The key types under the names that the library gives them: Catch2 puts them at the end of the names of test cases,
// where CTest picks them out.
namespace conformance {
using float32 = float;
using float64 = double;
using int32 = std::int32_t;
using uint32 = std::uint32_t;
using int64 = std::int64_t;
using uint64 = std::uint64_t;
}  // namespace conformance

#define ZENITH_EVERY_KEY_TYPE float32, float64, int32, uint32, int64, uint64

#pragma once

#include <cstdint>
#include <string_view>

#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_detail {

/// The most items that one kernel call gets: indices inside a kernel are 32 bit, and 2^32 - 1 means "none".
inline constexpr std::uint64_t segment_limit = 0xffffffffULL;

/// Runs a checked call: splits more than `segment` items into segments and merges their results; under the rejecting
/// policy (`call.nan_first` is set) it writes nothing and throws invalid_argument when the best key is a NaN.
void run(const execution& on, std::string_view strategy, const top_k_call& call, bool reject_nan,
         std::uint64_t segment = segment_limit);

}  // namespace zenith::top_k_detail

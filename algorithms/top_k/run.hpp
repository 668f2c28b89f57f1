#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <zenith/backend.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_detail {

/// The most items that one kernel call gets: indices inside a kernel are 32 bit, and 2^32 - 1 means "none".
inline constexpr std::uint64_t segment_limit = 0xffffffffULL;

/// Runs a call over the `part.count` items from `first` on; `part.keys` is as it was for the whole.
using part_function = std::function<void(const top_k_call& part, std::uint64_t first)>;
/// The k best of each segment of at most `segment` items, then, on the host, the k best of those. Of one segment, the
/// call itself.
void run_segments(const execution& on, const top_k_call& call, std::uint64_t segment, const part_function& run_part);

/// Whether a NaN among the results is an error, and how its message begins: "keys holds NaN".
struct rejection {
  bool is_asked = false;
  std::string_view what;
};

/// The same; when NaN is rejected (`call.nan_first` is set) it writes nothing and throws invalid_argument if the best
/// key is a NaN.
void run_parts(const execution& on, const top_k_call& call, const rejection& reject, std::uint64_t segment,
               const part_function& run_part);

/// The same by a kernel of operation "top_k", for a call that is more than one call of it.
void run_in_parts(const execution& on, const kernel& by, const top_k_call& call, bool reject_nan,
                  std::uint64_t segment = segment_limit);

}  // namespace zenith::top_k_detail

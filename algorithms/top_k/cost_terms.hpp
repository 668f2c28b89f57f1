#pragma once

/// \file
/// What the cost models of top-k have in common.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <zenith/cost.hpp>
#include <zenith/top_k.hpp>

namespace zenith::top_k_detail {

/// A named work's rate for keys of four and of eight bytes: twice the width is not twice the time.
struct rate_names {
  std::string_view four;
  std::string_view eight;

  [[nodiscard]] std::string_view operator()(key_type type) const { return size_of(type) == 4 ? four : eight; }
};

/// Bytes of an entry (entry.hpp): the key's image and the index.
[[nodiscard]] inline double entry_bytes(key_type type) { return 2.0 * static_cast<double>(size_of(type)); }

/// Comparisons of a sort of `count` items.
[[nodiscard]] inline double sort_comparisons(double count) { return count * std::log2(std::max(count, 2.0)); }

/// Whether the keys must travel to the device, and whether they lie in memory of a device of its own.
[[nodiscard]] inline bool is_discrete(const device_profile& on) { return on.host_to_device > 0; }

/// The keys to the device and the results back, where the data lies elsewhere; in pieces of `piece_bytes`.
inline void add_transfers(cost& to, const top_k_problem& problem, const device_profile& on) {
  if (problem.space == memory_space::device || !is_discrete(on)) return;
  // what backends stream host memory in: large enough to reach the link's bandwidth
  constexpr double piece_bytes = 64 << 20;
  const auto key_bytes = static_cast<double>(size_of(problem.type));
  constexpr double index_bytes = 8;
  to.to_device_bytes = static_cast<double>(problem.count) * key_bytes;
  to.pieces = std::max(1.0, std::ceil(to.to_device_bytes / piece_bytes));
  to.to_host_bytes = static_cast<double>(problem.k) * (key_bytes + index_bytes);
}

}  // namespace zenith::top_k_detail

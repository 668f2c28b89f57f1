#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <perf/study/clock.hpp>
#include <zenith/packed_column.hpp>

/// \file
/// The clock of the study of packed columns.

namespace zenith_study {

/// One column in one encoding on one executor. Times are the lower quartile of several, after one to warm up.
struct packed_measurement {
  std::string executor;
  zenith::encoding kind{};
  double bits_per_value = 0;
  double sum_seconds = 0;     ///< aggregation: nothing is written
  double unpack_seconds = 0;  ///< decompression into memory beside the column
  bool is_smallest = false;   ///< what `automatic` takes
};

/// Packs `values` in every encoding and times every executor on each; columns for a device's executor are copied there
/// first, outside the clock. `limits` are of each time. Throws `device_failure` when a result
/// is not what the values say.
template <zenith::packable T>
[[nodiscard]] std::vector<packed_measurement> measure_packed(std::span<const T> values,
                                                             std::span<const std::string> executors,
                                                             const time_limits& limits);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <perf/study/clock.hpp>
#include <zenith/executor.hpp>
#include <zenith/top_k.hpp>

/// \file
/// The clock that calibration and the check of the decisions share: one call of top_k on uniform random keys.

namespace zenith_study {

/// Uniform random keys of one type, from a seed, on the host: a problem of any smaller count is a prefix of them.
class random_keys {
 public:
  random_keys(zenith::key_type type, std::uint64_t count, std::uint64_t seed);

  [[nodiscard]] zenith::key_type type() const noexcept { return type_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const void* data() const noexcept { return bytes_.get(); }

 private:
  zenith::key_type type_;
  std::uint64_t count_;
  std::unique_ptr<std::uint64_t[]> bytes_;
};

/// Seconds of a call for the `k` largest of the first `count` keys: the lower quartile of several, after one to warm
/// up. Keys that the executor's device can hold as its own are copied there first, outside the clock.
[[nodiscard]] double measure_top_k(const zenith::executor& on, std::string_view strategy, const random_keys& keys,
                                   std::uint64_t count, std::uint64_t k, zenith::memory_space space,
                                   const time_limits& limits);

}  // namespace zenith_study

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// The inputs of the study. Each value follows from the seed and its position alone, so that the data does not depend
/// on the number of threads that write it.

namespace zenith_study {

enum class distribution : std::uint8_t {
  uniform,       ///< floating: [0, 1); integers: the whole range
  normal,        ///< floating: mean 0, deviation 1; integers: the same, an eighth of the range wide
  ascending,     ///< strictly rising: each item beats all before it
  descending,    ///< the same backwards
  all_equal,     ///< all ties
  bucket_killer  ///< all one value but for a few that differ in one byte each (Shanbhag et al. 2018, section 6.4)
};

[[nodiscard]] std::span<const std::string_view> distribution_names() noexcept;
[[nodiscard]] std::string_view to_string(distribution of) noexcept;

/// `count` values of type T: float, double or a 32- or 64-bit integer. `count` is at most 2^32.
template <class T>
[[nodiscard]] std::vector<T> generate(distribution of, std::uint64_t count, std::uint64_t seed, int threads);

}  // namespace zenith_study

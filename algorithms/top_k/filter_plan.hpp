#pragma once

/// \file
/// How strategy "filter" samples: how many items, and which of them is the threshold.

#include <cmath>
#include <cstdint>

#include <zenith/function.hpp>

namespace zenith::top_k_detail {

/// How phase 1 samples: `samples` positions, one in each of as many equal strata, and the threshold is the
/// `rank`-th best of the sample (from 1). samples = 0: too small to sample, let everything through.
struct filter_plan {
  std::uint32_t samples = 0;
  std::uint32_t rank = 0;
  double expected_survivors = 0;  ///< when the order of the input is not adversarial
};

/// A sample of more items costs more than the survivors that it saves: on a CPU each is a cache miss.
inline constexpr std::uint32_t most_samples = 16384;

/// How large a sample: what it costs is a cache miss an item, what it saves is survivors, n / samples for each rank. On
/// data in random order the rising threshold soon takes over, so the sample only has to be good enough for sorted data.
[[nodiscard]] inline double sample_size(double count, double k) {
  const double root = std::sqrt(count);
  return std::floor(root / 2 + std::fmin(root, 1024) + k / 4);
}

/// The plan for a sample of a given size. Sampled ranks spread like a Poisson variable of mean
/// r = k * samples / count; five standard deviations above keep the chance of a second read near one in a million.
[[nodiscard]] inline filter_plan plan_sample(std::uint64_t count, std::uint64_t k, double samples) {
  filter_plan plan;
  const auto n = static_cast<double>(count);
  samples = std::floor(std::fmin(samples, n));
  const double mean = static_cast<double>(k) * samples / n;
  const double rank = std::ceil(mean + 5 * std::sqrt(mean) + 7);
  // a threshold that lets a quarter of the data through is not worth its sample
  if (samples < 64 || rank * 4 > samples) {
    plan.expected_survivors = n;
    return plan;
  }
  plan.samples = static_cast<std::uint32_t>(samples);
  plan.rank = static_cast<std::uint32_t>(rank);
  plan.expected_survivors = rank * n / samples;
  return plan;
}

/// The plan of a backend whose threshold rises as it goes.
[[nodiscard]] inline filter_plan plan_filter(std::uint64_t count, std::uint64_t k, std::uint32_t most = most_samples) {
  const double samples = sample_size(static_cast<double>(count), static_cast<double>(k));
  return plan_sample(count, k, std::fmin(most, samples));
}

/// The limit of a device that gathers a sample as it reads: by what its teams hold together.
inline constexpr std::uint32_t most_broad_samples = 1U << 20;

/// The plan of a backend that gathers thousands of samples at once and keeps the sample's threshold to the end of the
/// scan: about ten thousand survivors for small k, however many the items are.
[[nodiscard]] inline filter_plan plan_broad_filter(std::uint64_t count, std::uint64_t k,
                                                   std::uint32_t most = most_broad_samples) {
  const double samples = std::fmax(1024, static_cast<double>(count) / 1024 + static_cast<double>(k) / 4);
  return plan_sample(count, k, std::fmin(most, samples));
}

/// The filter in one launch of a GPU, whose blocks find thresholds of their own: for small inputs and k.
struct block_filter_plan {
  static constexpr std::uint64_t most_bytes = std::uint64_t{32} << 20;  ///< of keys
  static constexpr std::uint64_t most_k = 256;
  static constexpr std::uint64_t tile_bytes = 64 * 1024;    ///< of keys, of a block
  static constexpr std::uint64_t most_held_bytes = 131072;  ///< of entries, that the last block selects from

  std::uint32_t blocks = 0;  ///< 0: it is not offered
  std::uint32_t tiles = 0;   ///< of the busiest block

  [[nodiscard]] static block_filter_plan of(std::uint64_t count, std::uint64_t k, std::uint64_t key_bytes,
                                            std::uint64_t multiprocessors) {
    if (count == 0 || count > most_bytes / key_bytes || k > most_k) return {};
    const std::uint64_t tile = tile_bytes / key_bytes;
    const std::uint64_t all_tiles = (count + tile - 1) / tile;
    const std::uint64_t blocks = all_tiles < multiprocessors ? all_tiles : multiprocessors;
    // what a block keeps is hardly more than k
    if (blocks == 0 || blocks * (k + k / 4) * 2 * key_bytes > most_held_bytes) return {};
    return {static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>((all_tiles + blocks - 1) / blocks)};
  }
};

/// The position sampled in stratum i of `samples`: anywhere in it, by a hash, so that no stride of the data resonates.
/// The strata cover all of the input, which may be sorted: the first ones are an item wider where they must.
[[nodiscard]] ZENITH_FN std::uint64_t sample_position(std::uint64_t i, std::uint64_t count, std::uint32_t samples) {
  const std::uint64_t narrow = count / samples;
  const std::uint64_t wide = count % samples;
  const std::uint64_t first = i * narrow + (i < wide ? i : wide);
  const std::uint64_t width = narrow + (i < wide ? 1 : 0);
  std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ULL;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  h ^= h >> 32;
  return first + (((h >> 32) * width) >> 32);
}

}  // namespace zenith::top_k_detail

#pragma once

/// \file
/// How strategy "filter" samples: how many items, and which of them is the threshold.

#include <algorithm>
#include <bit>
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

/// How a GPU's filter in one launch finds its threshold: the k-th best of the best keys of `groups` groups of keys. At
/// least k keys reach it whatever the data are. Where the groups can be many enough they share all keys, read in tiles
/// whose maxima say which to read again. Of fewer keys, and of more than are read at once, a sample: a group is what
/// `lanes` lanes of a warp read in `rounds` chunks of 32 16-byte vectors.
struct group_plan {
  static constexpr std::uint64_t most_k = 2048;
  static constexpr std::uint32_t most_groups = 4096;
  static constexpr std::uint64_t most_unsampled = 1024;  ///< keys that are ranked as they are, however few rank them
  static constexpr std::uint64_t chunk_bytes = 512;
  static constexpr std::uint32_t tile_chunks = 7;   ///< of a warp's tile
  static constexpr std::uint32_t tile_groups = 64;  ///< that its keys go to
  /// Survivors that are ranked as they are; more are narrowed down first.
  [[nodiscard]] ZENITH_FN static std::uint32_t most_ranked(std::uint64_t key_bytes) {
    return key_bytes == 4 ? 5120 : 4096;
  }

  std::uint32_t groups = 0;
  bool ranks_all = false;  ///< without groups: the keys are few
  bool reads_all = false;  ///< the groups share all keys
  std::uint32_t lanes = 32;
  std::uint32_t rounds = 0;
  double expected_survivors = 0;  ///< when the order of the input is not adversarial

  /// The threshold is one that so many groups' best reach, or fewer: its last bits are not worth their steps.
  [[nodiscard]] ZENITH_FN static std::uint32_t most_reached(std::uint64_t k) {
    return static_cast<std::uint32_t>(k + k / 8 + 32);
  }
  /// Whether one launch serves so many keys: few, or enough for groups.
  [[nodiscard]] bool is_suitable() const { return groups > 0 || ranks_all; }
  /// Warps' shares of the sample.
  [[nodiscard]] ZENITH_FN std::uint32_t shares() const { return groups * lanes / 32; }
  [[nodiscard]] ZENITH_FN std::uint32_t chunks() const { return shares() * rounds; }

  /// Of sorted keys, how many stand between one group's best and the next.
  [[nodiscard]] double keys_of_group(std::uint64_t count) const {
    return static_cast<double>(count) / (static_cast<double>(groups) * rounds);
  }

  /// Four groups at least for each of the k best, where the data are long enough.
  [[nodiscard]] static std::uint32_t groups_for(std::uint64_t k) {
    return std::clamp(std::bit_ceil(static_cast<std::uint32_t>(4 * k)), 128U, most_groups);
  }

  /// The plan whose groups share all keys, `most` groups at most; 0 groups where they are too few.
  [[nodiscard]] static group_plan of_all(std::uint64_t count, std::uint64_t k, std::uint64_t key_bytes,
                                         std::uint32_t most = most_groups) {
    group_plan plan;
    plan.expected_survivors = static_cast<double>(count);
    if (count <= most_unsampled || k > most_k) return plan;
    // of tiles that are whole each group has a key
    const std::uint64_t tiles = chunks_in(count, key_bytes) / tile_chunks;
    const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles * tile_groups, most));
    if (groups < 2 * k || 3 * std::uint64_t{groups} < 4 * std::uint64_t{most_reached(k)}) return plan;
    plan.groups = groups;
    plan.reads_all = true;
    plan.expected_survivors = expected_in_sample(groups, most_reached(k));
    return plan;
  }

  /// The plan with a sample.
  [[nodiscard]] static group_plan of_sample(std::uint64_t count, std::uint64_t k, std::uint64_t key_bytes) {
    const auto n = static_cast<double>(count);
    group_plan plan;
    plan.expected_survivors = n;
    const std::uint64_t per_chunk = chunk_bytes / key_bytes;
    const std::uint64_t all_chunks = chunks_in(count, key_bytes);
    if (count <= most_unsampled || k > most_k || all_chunks * 64 < 3 * k) return plan;
    plan.groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(groups_for(k), all_chunks * 32));
    const double wanted = expected_in_sample(plan.groups, k) * n / survivors_for(n, k, key_bytes, plan.groups);
    const auto chunks = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted) / per_chunk + 1,
                                                  (plan.groups + 31) / 32, all_chunks);
    // a long sample is shared by many warps
    if (chunks / 4 > plan.groups)
      plan.groups = std::min(most_groups, static_cast<std::uint32_t>(std::bit_floor(chunks / 4)));
    while (plan.lanes > 1 && plan.shares() > chunks) plan.lanes /= 2;
    // whole shares
    plan.groups = plan.shares() * (32 / plan.lanes);
    plan.rounds = static_cast<std::uint32_t>((chunks + plan.shares() - 1) / plan.shares());
    if (plan.chunks() > all_chunks) --plan.rounds;
    plan.expected_survivors = expected_in_sample(plan.groups, most_reached(k)) * n /
                              static_cast<double>(std::uint64_t{plan.chunks()} * per_chunk);
    return plan;
  }

  /// The plan without groups where the keys are so few that a GPU of so many multiprocessors compares each with all
  /// others sooner: 4096 of 4 bytes on 128 of them.
  [[nodiscard]] static group_plan of_few(std::uint64_t count, std::uint64_t key_bytes, int multiprocessors) {
    constexpr double bytes_squared = 1U << 21;  // for each multiprocessor
    const double bytes = static_cast<double>(count) * static_cast<double>(key_bytes);
    group_plan plan;
    plan.expected_survivors = static_cast<double>(count);
    plan.ranks_all = count <= most_unsampled || bytes * bytes <= bytes_squared * multiprocessors;
    return plan;
  }

  [[nodiscard]] static group_plan of(std::uint64_t count, std::uint64_t k, std::uint64_t key_bytes,
                                     int multiprocessors) {
    auto plan = of_few(count, key_bytes, multiprocessors);
    if (!plan.ranks_all) plan = of_all(count, k, key_bytes);
    return plan.is_suitable() ? plan : of_sample(count, k, key_bytes);
  }

 private:
  // The keys before the first boundary of 16 bytes belong to none.
  [[nodiscard]] static std::uint64_t chunks_in(std::uint64_t count, std::uint64_t key_bytes) {
    return (count - std::min(count, 16 / key_bytes)) / (chunk_bytes / key_bytes);
  }

  // A share of 1 - k / groups of the groups has no key among so many: as few as the k-th best of the groups' best.
  [[nodiscard]] static double expected_in_sample(std::uint32_t groups, std::uint64_t k) {
    return -std::log1p(-static_cast<double>(k) / groups) * groups;
  }

  // How many are to survive: the sample costs the time of its bytes, a survivor some of the scan's, and many of them
  // that of narrowing them down; on an H200.
  [[nodiscard]] static double survivors_for(double n, std::uint64_t k, std::uint64_t key_bytes, std::uint32_t groups) {
    constexpr double bytes_a_second = 3.5e12;
    constexpr double survivor_time = 0.45e-9;
    constexpr double narrowing_time = 7e-6;
    const double sample_time = expected_in_sample(groups, k) * n * static_cast<double>(key_bytes) / bytes_a_second;
    const double best = std::clamp(std::sqrt(sample_time / survivor_time), 1024.0, 32768.0);
    const auto time = [&](double survivors) {
      return sample_time / survivors + survivors * survivor_time +
             (survivors > most_ranked(key_bytes) ? narrowing_time : 0);
    };
    // not too near to the limit
    const double unnarrowed = std::min(best, 0.75 * most_ranked(key_bytes));
    return time(best) < time(unnarrowed) ? best : unnarrowed;
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

#pragma once

/// \file
/// Strategy "filter": one read of the data against a threshold, as a skeleton over the tile.
///
/// Host-level order of its phases, on every backend:
///   1. sample    a strided, jittered sample of the whole input; the threshold is an order statistic of it that lets at
///                least k items through but for bad luck, and few more (`filter_plan`);
///   2. scan      every tile: keep the items that reach the threshold, append them with their indices; a worker whose
///                buffer is full selects its k best, and their worst raises the threshold;
///   3. finish    select k among the survivors, and sort them;
///   4. refine    only when the sample misled: fewer than k survived, or they flooded the buffers. 16-bit histograms of
///                the images find the exact threshold, one read a digit, and 2 and 3 run once more. This bounds the
///                worst case.
///
/// Ties: within one worker items come by rising index, so once k items are held, an equal one that comes later has
/// lost; the threshold becomes strict. That is why data that is all equal costs one read too.

#include <cmath>
#include <cstdint>

#include <core/tile.hpp>

namespace zenith::top_k_detail {

/// Appends those of a tile's items that `keep` flags; they are loaded from whatever the tile takes.
/// `Sink::reserve(count)` gives room for count entries.
template <class Tile, class From, class Keep, class Sink>
ZENITH_FN void filter_tile(Tile& tile, const From& from, tile_index count, const Keep& keep, Sink& sink) {
  const auto items = tile.load(from, count);
  const auto flags = tile.flag(items, keep);
  if (!tile.any(flags)) return;
  const auto ranks = tile.scan(flags);
  tile.store_compacted(items, flags, ranks, sink.reserve(ranks.count));
}

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

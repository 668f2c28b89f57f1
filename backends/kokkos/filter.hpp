#pragma once

/// \file
/// Strategy "filter" on Kokkos: the phases of algorithms/top_k/filter.hpp. A thousand teams run at once and none sees
/// the items in order, so the threshold does not rise: it is an entry of the sample, key and index, which lets no more
/// of equal keys through than of different ones.

#include <algorithm>
#include <cstdint>

#include <backends/kokkos/filter_tile.hpp>
#include <backends/kokkos/runs.hpp>
#include <backends/kokkos/top_k.hpp>
#include <backends/kokkos/top_k_keys.hpp>

namespace zenith::kokkos_backend {

/// What a sampled entry lets through: itself and everything better.
template <class Entry>
struct reaches_entry {
  typename Entry::image_t image;
  std::uint32_t index;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool may(typename Entry::image_t other) const { return other >= image; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool operator()(typename Entry::image_t other, std::uint32_t at) const {
    return other > image || (other == image && at <= index);
  }
};

/// Images whose leading digits are larger than `prefix`.
template <class Image>
struct above_prefix {
  Image prefix;
  int shift;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool may(Image image) const { return (image >> shift) > prefix; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool operator()(Image image, std::uint32_t) const { return may(image); }
};

/// Images whose leading digits are `prefix`.
template <class Image>
struct at_prefix {
  Image prefix;
  int shift;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool may(Image image) const { return (image >> shift) == prefix; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool operator()(Image image, std::uint32_t) const { return may(image); }
};

/// The items [first, last) of the input, shared out to teams in chunks.
struct team_chunks {
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t length;

  /// Enough chunks to occupy a device, each long enough to be worth a team, and whole blocks of a packed column.
  [[nodiscard]] static team_chunks of(std::uint64_t first, std::uint64_t last) {
    return {first, last, std::clamp<std::uint64_t>((last - first) / 4096 / 1024 * 1024, 1024, 16384)};
  }
  [[nodiscard]] team_policy policy() const { return teams((last - first + length - 1) / length); }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t begin(const team& lanes) const {
    return first + static_cast<std::uint64_t>(lanes.league_rank()) * length;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t end(const team& lanes) const {
    const std::uint64_t at = begin(lanes) + length;
    return at < last ? at : last;
  }
};

/// Phase 1: the sampled items as entries.
template <class Keys>
struct take_sample {
  key_source<Keys> source;
  std::uint64_t count;
  std::uint32_t samples;
  buffer<entry_of<typename Keys::key>> sample;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    sample(static_cast<std::size_t>(i)) =
        source(top_k_detail::sample_position(static_cast<std::uint64_t>(i), count, samples));
  }
};

/// Phase 2: the items that reach the threshold. Teams that start after the buffer was flooded do nothing.
template <class Keys>
struct scan_input {
  using T = typename Keys::key;

  key_source<Keys> source;
  team_chunks chunks;
  buffer<entry_of<T>> sample;
  std::size_t rank;
  appender<entry_of<T>> out;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    int flooded = 0;
    Kokkos::single(
        Kokkos::PerTeam(lanes), [&](int& value) { value = out.is_flooded() ? 1 : 0; }, flooded);
    if (flooded != 0) return;
    const entry_of<T> threshold = sample(rank);
    const reaches_entry<entry_of<T>> keep{threshold.image(), threshold.index()};
    team_sink<entry_of<T>> sink{lanes, out};
    key_tile<T> tile(lanes, source.order);
    source.keys.each_tile(lanes, tile, chunks.begin(lanes), chunks.end(lanes), [&](const auto& part, tile_index count) {
      top_k_detail::filter_tile(tile, part, count, keep, sink);
    });
  }
};

/// Phase 4: how often each value of the 16-bit digit at `shift` stands behind `prefix`.
template <class Keys>
struct count_digits {
  key_source<Keys> source;
  team_chunks chunks;
  at_prefix<top_k_detail::bits_t<typename Keys::key>> among;
  bool is_first;
  int shift;
  buffer<unsigned> histogram;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    source.keys.each(lanes, chunks.begin(lanes), chunks.end(lanes), [&](typename Keys::key key) {
      const auto image = source.order.image(key);
      if (is_first || among.may(image))
        Kokkos::atomic_add(&histogram(static_cast<std::size_t>(image >> shift & 0xffff)), 1U);
    });
  }
};

/// Phase 4: the items above the threshold to one end of the buffer, those at it behind them.
template <class Keys>
struct collect_exact {
  using T = typename Keys::key;

  key_source<Keys> source;
  team_chunks chunks;
  at_prefix<top_k_detail::bits_t<T>> threshold;
  bool take_equal;
  appender<entry_of<T>> above;
  appender<entry_of<T>> equal;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    const above_prefix<top_k_detail::bits_t<T>> better{threshold.prefix, threshold.shift};
    team_sink<entry_of<T>> above_sink{lanes, above};
    team_sink<entry_of<T>> equal_sink{lanes, equal};
    key_tile<T> tile(lanes, source.order);
    source.keys.each_tile(lanes, tile, chunks.begin(lanes), chunks.end(lanes), [&](const auto& part, tile_index count) {
      top_k_detail::filter_tile(tile, part, count, better, above_sink);
      if (take_equal) top_k_detail::filter_tile(tile, part, count, threshold, equal_sink);
    });
  }
};

/// Leading digits of the k-th best image, as many as were needed.
template <class Image>
struct exact_threshold {
  at_prefix<Image> at{0, 0};
  std::uint64_t above = 0;  // items with larger digits, fewer than k
  std::uint64_t equal = 0;  // items with these digits; above + equal >= k
  unsigned reads = 0;
};

/// Finds digit after digit until no more than `enough` items reach the threshold, or all digits are known.
template <class Keys>
exact_threshold<top_k_detail::bits_t<typename Keys::key>> find_threshold(const key_source<Keys>& source,
                                                                         std::uint64_t count, std::uint64_t k,
                                                                         std::uint64_t enough) {
  using T = typename Keys::key;
  using image_t = top_k_detail::bits_t<T>;
  constexpr std::size_t digits = 65536;
  exact_threshold<image_t> found;
  const auto chunks = team_chunks::of(0, count);
  auto histogram = make_buffer<unsigned>("zenith::top_k::filter histogram", digits);
  for (int shift = static_cast<int>(sizeof(T) * 8) - 16; shift >= 0; shift -= 16) {
    Kokkos::deep_copy(space{}, histogram, 0U);
    Kokkos::parallel_for("zenith::top_k::filter histogram", chunks.policy(),
                         count_digits<Keys>{source, chunks, found.at, found.reads == 0, shift, histogram});
    ++found.reads;
    const auto counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, histogram);
    std::size_t digit = digits - 1;
    while (found.above + counts(digit) < k) found.above += counts(digit--);
    found.equal = counts(digit);
    found.at = {static_cast<image_t>(found.at.prefix << 16 | digit), shift};
    if (found.above + found.equal <= enough) break;
  }
  return found;
}

/// Phases 4, 2 and 3 once more. Where more items equal the threshold than the buffer holds, the input is taken in
/// segments, in order, so that those with the lowest indices are among the ones collected.
template <class Keys>
buffer<entry_of<typename Keys::key>> refine(const key_source<Keys>& source, const top_k_call& call,
                                            const buffer<entry_of<typename Keys::key>>& entries,
                                            top_k_statistics& statistics) {
  using T = typename Keys::key;
  const std::uint64_t capacity = entries.extent(0);
  const auto threshold = find_threshold(source, call.count, call.k, capacity);
  const std::uint64_t segment = threshold.above + threshold.equal <= capacity ? call.count : capacity - call.k;
  const appender<entry_of<T>> above{entries, counter("zenith::top_k::filter above"), 0};
  const appender<entry_of<T>> equal{entries, counter("zenith::top_k::filter equal"), threshold.above};
  std::uint64_t equals = 0;
  for (std::uint64_t first = 0; first < call.count; first += segment) {
    const auto chunks = team_chunks::of(first, std::min(call.count, first + segment));
    Kokkos::parallel_for(
        "zenith::top_k::filter collect", chunks.policy(),
        collect_exact<Keys>{source, chunks, threshold.at, threshold.above + equals < call.k, above, equal});
    equals = fetch(equal.count);
  }
  statistics.reads += threshold.reads + 1;
  statistics.survivors = threshold.above + equals;
  return best_of<entry_of<T>>(entry_source<entry_of<T>>{entries}, statistics.survivors, call.k);
}

template <class Keys>
buffer<entry_of<typename Keys::key>> select_filtered(const key_source<Keys>& source, const top_k_call& call,
                                                     top_k_statistics& statistics) {
  using entry = entry_of<typename Keys::key>;
  statistics.reads = 1;
  const auto plan = top_k_detail::plan_filter(call.count, call.k);
  if (plan.samples == 0) {
    statistics.survivors = call.count;
    return best_of<entry>(source, call.count, call.k);
  }

  auto sample = make_buffer<entry>("zenith::top_k::filter sample", plan.samples);
  Kokkos::parallel_for("zenith::top_k::filter sample", range(plan.samples),
                       take_sample<Keys>{source, call.count, plan.samples, sample});
  const auto sampled = best_of<entry>(entry_source<entry>{sample}, plan.samples, plan.rank);

  const std::uint64_t segment = std::max(std::uint64_t{1} << 20, call.count / 64);
  const auto twice_expected = static_cast<std::uint64_t>(2 * plan.expected_survivors);
  const auto entries = make_buffer<entry>("zenith::top_k::filter survivors",
                                          std::min(call.count, std::max(call.k + segment, twice_expected)));
  const appender<entry> out{entries, counter("zenith::top_k::filter count"), 0};
  const auto chunks = team_chunks::of(0, call.count);
  Kokkos::parallel_for("zenith::top_k::filter scan", chunks.policy(),
                       scan_input<Keys>{source, chunks, sampled, plan.rank - 1U, out});
  statistics.survivors = fetch(out.count);
  if (statistics.survivors < call.k || statistics.survivors > entries.extent(0)) {
    return refine(source, call, entries, statistics);
  }
  return best_of<entry>(entry_source<entry>{entries}, statistics.survivors, call.k);
}

template <class Keys>
void filter_keys(const Keys& keys, const top_k_call& call, top_k_statistics& statistics) {
  const key_source<Keys> source{keys, top_k_detail::order_of<typename Keys::key>(call)};
  write_results(call, keys, select_filtered(source, call, statistics));
}

template <class T>
void run_filter(const top_k_call& call, top_k_statistics& statistics) {
  const call_keys<T> keys(call);
  filter_keys(keys.view(), call, statistics);
}

}  // namespace zenith::kokkos_backend

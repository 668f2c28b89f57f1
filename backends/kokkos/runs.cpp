#include <backends/kokkos/runs.hpp>

#include <utility>

#include <algorithms/top_k/entry.hpp>

namespace zenith::kokkos_backend {

/// Sorts bitonic sequences of `run` items as far as a tile reaches; with `from_scratch`, sorts runs of a tile first.
template <class Entry>
struct sort_in_tiles {
  buffer<Entry> entries;
  run_places places;
  std::uint64_t run;
  bool from_scratch;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    constexpr std::uint64_t size = run_tile<Entry>::capacity;
    const std::uint64_t base = static_cast<std::uint64_t>(lanes.league_rank()) * size;
    const std::uint64_t at = places.at(base, run);
    run_tile<Entry> tile(lanes, base);
    tile.load([&](std::uint64_t i) { return entries(at + i); });
    if (from_scratch) {
      tile.sort_runs(size);
    } else {
      tile.sort_bitonic(run, size / 2);
    }
    tile.store(size, [&](std::uint64_t i, const Entry& entry) { entries(at + i) = entry; });
  }
};

/// One step of the network over device memory.
template <class Entry>
struct step {
  buffer<Entry> entries;
  run_places places;
  std::uint64_t run;
  std::uint64_t distance;

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    const std::uint64_t i = top_k_detail::pair_position(static_cast<std::uint64_t>(t), distance);
    const std::uint64_t at = places.at(i, run);
    compare_exchange(entries(at), entries(at + distance), top_k_detail::is_descending(i, run));
  }
};

template <class Entry>
struct merge_pairs {
  buffer<Entry> entries;
  run_places after;
  std::uint64_t k;
  std::uint64_t apart;

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    const std::uint64_t at = after.at(static_cast<std::uint64_t>(t), k);
    keep_better(entries(at), entries(at + apart));
  }
};

/// BitonicReducer: as many descending runs as a tile holds, to one.
template <class Entry>
struct reduce_tiles {
  buffer<Entry> in;
  std::uint64_t runs;
  std::uint64_t k;
  buffer<Entry> out;

  KOKKOS_FUNCTION void operator()(const team& lanes) const {
    const auto league = static_cast<std::uint64_t>(lanes.league_rank());
    const auto length = static_cast<tile_index>(k);
    const tile_index reduction = run_tile<Entry>::capacity / length;
    run_tile<Entry> tile(lanes, 0);
    tile.load([&](std::uint64_t i) {
      const std::uint64_t run = league * reduction + i / k;
      // the network wants neighbours in opposite directions: it sees every second run from its end
      const std::uint64_t j = (i / k) % 2 == 0 ? i % k : k - 1 - i % k;
      return run < runs ? in(run * k + j) : Entry::worst();
    });
    top_k_detail::bitonic_reduce_tile(tile, length, reduction);
    tile.store(length, [&](std::uint64_t i, const Entry& entry) { out(league * k + i) = entry; });
  }
};

/// The better of each pair of two descending runs, seen from opposite ends: a bitonic sequence.
template <class Entry>
struct merge_opposed {
  buffer<Entry> best;
  buffer<Entry> other;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    keep_better(best(static_cast<std::size_t>(i)), other(best.extent(0) - 1 - static_cast<std::size_t>(i)));
  }
};

template <class Entry>
void device_tile<Entry>::sort_bitonic(std::uint64_t run) {
  constexpr std::uint64_t size = run_tile<Entry>::capacity;
  for (std::uint64_t distance = run / 2; distance >= size; distance /= 2) {
    Kokkos::parallel_for("zenith::top_k::bitonic step", range(count_ / 2),
                         step<Entry>{entries_, places_, run, distance});
  }
  Kokkos::parallel_for("zenith::top_k::bitonic steps in tiles", run_tile<Entry>::policy(count_ / size),
                       sort_in_tiles<Entry>{entries_, places_, run, false});
}

template <class Entry>
void device_tile<Entry>::sort_runs(std::uint64_t k) {
  constexpr std::uint64_t size = run_tile<Entry>::capacity;
  Kokkos::parallel_for("zenith::top_k::bitonic sort tiles", run_tile<Entry>::policy(count_ / size),
                       sort_in_tiles<Entry>{entries_, places_, size, true});
  for (std::uint64_t run = 2 * size; run <= k; run *= 2) sort_bitonic(run);
}

template <class Entry>
void device_tile<Entry>::merge_runs(std::uint64_t k) {
  const run_places after{places_.spread + 1};
  count_ /= 2;
  Kokkos::parallel_for("zenith::top_k::bitonic merge", range(count_),
                       merge_pairs<Entry>{entries_, after, k, k << places_.spread});
  places_ = after;
}

template <class Entry>
void device_tile<Entry>::rebuild_runs(std::uint64_t k) {
  sort_bitonic(k);
}

template <class Entry>
buffer<Entry> reduce_runs(buffer<Entry> entries, std::uint64_t runs, std::uint64_t k) {
  const std::uint64_t reduction = run_tile<Entry>::capacity / k;
  while (runs > 1) {
    const std::uint64_t left = (runs + reduction - 1) / reduction;
    auto fewer = make_buffer<Entry>("zenith::top_k::bitonic runs", left * k);
    Kokkos::parallel_for("zenith::top_k::bitonic reduce", run_tile<Entry>::policy(left),
                         reduce_tiles<Entry>{entries, runs, k, fewer});
    entries = fewer;
    runs = left;
  }
  return entries;
}

template <class Entry>
void merge_into(const buffer<Entry>& best, const buffer<Entry>& other) {
  const std::uint64_t k = best.extent(0);
  Kokkos::parallel_for("zenith::top_k::bitonic merge chunk", range(k), merge_opposed<Entry>{best, other});
  device_tile<Entry>(best).rebuild_runs(k);
}

template class device_tile<top_k_detail::entry32>;
template class device_tile<top_k_detail::entry64>;
template buffer<top_k_detail::entry32> reduce_runs(buffer<top_k_detail::entry32>, std::uint64_t, std::uint64_t);
template buffer<top_k_detail::entry64> reduce_runs(buffer<top_k_detail::entry64>, std::uint64_t, std::uint64_t);
template void merge_into(const buffer<top_k_detail::entry32>&, const buffer<top_k_detail::entry32>&);
template void merge_into(const buffer<top_k_detail::entry64>&, const buffer<top_k_detail::entry64>&);

}  // namespace zenith::kokkos_backend

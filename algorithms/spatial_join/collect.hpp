#pragma once

/// \file
/// The pairs of two placed sides that a bound takes, in a pool, and the best of them.

#include <algorithm>
#include <string>

#include <algorithms/spatial_join/best_pairs.hpp>
#include <core/device/context.hpp>
#include <zenith/error.hpp>

namespace zenith::spatial_join_family::detail {

template <class T, class Context>
[[nodiscard]] pair_bound<T>* make_bound(Context& on, ordered::bits_t<T> image) {
  auto* const bound = on.template buffer<pair_bound<T>>(1);
  on.for_each(1, set_bound<T>{{image, ~u64{0}}, bound});
  return bound;
}

/// Pairs are counted, and then written in batches that a pool can hold. The bound rises to the k-th best so far.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> collect_in_batches(Context& on, const placed_sides<T, D>& sides,
                                                const pair_scorer<T>& scorer, pair_bound<T>* bound, u64 k) {
  constexpr u64 batch = u64{1} << 21;
  const u64 n = sides.left.count;
  u64* const counts = on.template buffer<u64>(n);
  u64* const offsets = on.template buffer<u64>(n + 1);
  u64* const most = on.template buffer<u64>(1);
  on.for_each(n, count_takers<T, D>{sides, scorer, bound, counts});
  on.exclusive_scan(static_cast<const u64*>(counts), n, offsets);
  on.template reduce<device::greatest>(static_cast<const u64*>(counts), n, most);
  const u64 total = on.read(static_cast<const u64*>(offsets + n));
  const u64 largest = on.read(static_cast<const u64*>(most));
  if (total == 0) return {{}, 0, 0, 0};
  k = std::min(k, total);
  const u64 capacity = std::min(total, k + 2 * batch + largest);
  if (capacity >= ~u32{0}) {
    throw error(error_code::unsupported,
                "top_k_spatial_join: k is " + std::to_string(k) + ", more pairs than 32 bits can count");
  }
  best_keeper<T, Context> keeper(on, capacity);
  if (total == capacity) {
    on.for_each(n, append_pairs<T, D>{sides, scorer, bound, 0, offsets, keeper.pool()});
    on.for_each(1, set_count{total, keeper.pool().count});
  } else {
    const u64 batches = (total + batch - 1) / batch;
    u64* const begins = on.template buffer<u64>(batches + 1);
    on.for_each(batches + 1, find_batch{offsets, n, batch, begins});
    u64 begin = 0;
    for (u64 b = 1; b <= batches; ++b) {
      const u64 end = b == batches ? n : on.read(static_cast<const u64*>(begins + b));
      on.for_each(end - begin, append_pairs<T, D>{sides, scorer, bound, begin, nullptr, keeper.pool()});
      begin = end;
      const u64 count = on.read(static_cast<const u64*>(keeper.pool().count));
      if (b < batches && count > k + batch) keeper.keep(count, k, bound);
    }
  }
  const u64 count = on.read(static_cast<const u64*>(keeper.pool().count));
  if (count > k) keeper.keep(count, k, bound);
  return {keeper.pool(), k, total, k};
}

/// The best of `total` pairs that a pool holds.
template <class T, class Context>
[[nodiscard]] found_pairs<T> keep_best(best_keeper<T, Context>& keeper, u64 total, pair_bound<T>* bound, u64 k) {
  // hardly more than are wanted are ranked with them: to leave them out takes longer
  constexpr u64 few = 4096;
  if (total <= 2 * k + few) return {keeper.pool(), std::min(total, k), total, total};
  keeper.keep(total, k, bound);
  return {keeper.pool(), k, total, k};
}

/// The same without counting first, if no more than `capacity` pairs are found.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> collect_best(Context& on, const placed_sides<T, D>& sides, const pair_scorer<T>& scorer,
                                          pair_bound<T>* bound, u64 k, u64 capacity) {
  best_keeper<T, Context> keeper(on, capacity);
  on.for_each(sides.left.count, append_pairs<T, D>{sides, scorer, bound, 0, nullptr, keeper.pool()});
  const u64 found = on.read(static_cast<const u64*>(keeper.pool().count));
  if (found > capacity) return collect_in_batches(on, sides, scorer, bound, k);
  return keep_best(keeper, found, bound, k);
}

}  // namespace zenith::spatial_join_family::detail

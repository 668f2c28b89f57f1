#pragma once

/// \file
/// The k best pairs of a pool, and the result in its order. Scores are the first rank and ids the second, wherever in
/// the pool a pair stands.

#include <algorithms/spatial_join/pairs.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>
#include <core/entry.hpp>

namespace zenith::spatial_join_family {

template <class T>
struct write_entries {
  using entry = ordered::entry_t<ordered::bits_t<T>>;

  const ordered::bits_t<T>* images;
  entry* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = entry::make(images[i], static_cast<u32>(i)); }
};

/// Pairs as images of entries, of which the smallest pair is the best. They differ, so the index says nothing.
struct write_tied {
  const u64* pairs;
  const u32* tied;
  ordered::entry64* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = {~pairs[tied[i]], ~u64{0}}; }
};

template <class Image>
struct equals_image {
  const Image* images;
  Image image;

  ZENITH_FN bool operator()(u64 i) const { return images[i] == image; }
};

template <class T>
struct is_taken {
  const ordered::bits_t<T>* images;
  const u64* pairs;
  pair_bound<T> bound;

  ZENITH_FN bool operator()(u64 i) const { return bound.takes(images[i], pairs[i]); }
};

template <class T>
struct gather_taken {
  pair_pool<T> from;
  const u32* taken;
  pair_pool<T> to;

  ZENITH_FN void operator()(u64 i) const {
    to.images[i] = from.images[taken[i]];
    to.pairs[i] = from.pairs[taken[i]];
  }
};

struct number_places {
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<u32>(i); }
};

/// Keys of the second sort: images, the best first.
template <class T>
struct write_ranks {
  const ordered::bits_t<T>* images;
  const u32* places;
  ordered::bits_t<T>* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = static_cast<ordered::bits_t<T>>(~images[places[i]]); }
};

template <class T, class Index>
struct write_result {
  const u64* pairs;
  const u32* places;
  const T* left_scores;
  const T* right_scores;
  T left_weight;
  T right_weight;
  pair_scorer<T> scorer;
  Index* left;
  Index* right;
  T* scores;

  ZENITH_FN void operator()(u64 i) const {
    const u64 pair = pairs[places[i]];
    const u64 a = pair >> 32;
    const u64 b = pair & 0xffffffffU;
    left[i] = static_cast<Index>(a);
    right[i] = static_cast<Index>(b);
    scores[i] = scorer.score(left_scores[a] * left_weight, right_scores[b] * right_weight);
  }
};

template <class T, class Context>
[[nodiscard]] pair_pool<T> make_pool(Context& on, u64 capacity) {
  pair_pool<T> pool{on.template buffer<ordered::bits_t<T>>(capacity), on.template buffer<u64>(capacity),
                    on.template buffer<u64>(1), capacity, on.threads() == 1};
  on.fill_zero(pool.count, 1);
  return pool;
}

/// Keeps the k best of the pool's `count` > k pairs, in no order, in its first places; *bound becomes the worst of
/// them.
template <class T, class Context>
void keep_best(Context& on, const pair_pool<T>& pool, u64 count, u64 k, pair_bound<T>* bound) {
  using image = ordered::bits_t<T>;
  using entry = ordered::entry_t<image>;
  entry* const entries = on.template buffer<entry>(count);
  entry* const kth = on.template buffer<entry>(1);
  on.for_each(count, write_entries<T>{pool.images, entries});
  on.kth_best(entries, count, k, kth);
  pair_bound<T> least{on.read(static_cast<const entry*>(kth)).image(), ~u64{0}};

  // of those with the k-th score, the smallest pairs fill up
  u32* const places = on.template buffer<u32>(count);
  u32* const found = on.template buffer<u32>(1);
  on.compact(count, is_taken<T>{pool.images, pool.pairs, least}, places, found);
  const u64 taken = on.read(static_cast<const u32*>(found));
  if (taken > k) {
    on.compact(count, equals_image<image>{pool.images, least.image}, places, found);
    const u64 tied = on.read(static_cast<const u32*>(found));
    auto* const ids = on.template buffer<ordered::entry64>(tied);
    auto* const last = on.template buffer<ordered::entry64>(1);
    on.for_each(tied, write_tied{pool.pairs, places, ids});
    on.kth_best(ids, tied, k - (taken - tied), last);
    least.pair = ~on.read(static_cast<const ordered::entry64*>(last)).high;
    on.compact(count, is_taken<T>{pool.images, pool.pairs, least}, places, found);
  }
  const auto kept = make_pool<T>(on, k);
  on.for_each(k, gather_taken<T>{pool, places, kept});
  on.copy(pool.images, static_cast<const image*>(kept.images), k);
  on.copy(pool.pairs, static_cast<const u64*>(kept.pairs), k);
  on.for_each(1, set_count{k, pool.count});
  on.for_each(1, set_bound<T>{least, bound});
}

/// Where the pool's first `count` pairs stand by their rank.
template <class T, class Context>
[[nodiscard]] const u32* rank_pairs(Context& on, const pair_pool<T>& pool, u64 count) {
  u64* const pairs = on.template buffer<u64>(count);
  u32* const places = on.template buffer<u32>(count);
  auto* const ranks = on.template buffer<ordered::bits_t<T>>(count);
  on.copy(pairs, static_cast<const u64*>(pool.pairs), count);
  on.for_each(count, number_places{places});
  on.sort_pairs(pairs, places, count);
  on.for_each(count, write_ranks<T>{pool.images, places, ranks});
  on.sort_pairs(ranks, places, count);
  return places;
}

template <class T>
using best_pairs_kernels = device::list<write_entries<T>, gather_taken<T>, write_ranks<T>,
                                        write_result<T, std::uint32_t>, write_result<T, std::uint64_t>, set_bound<T>>;
using best_pairs_common_kernels = device::list<write_tied, number_places, set_count, find_batch>;

}  // namespace zenith::spatial_join_family

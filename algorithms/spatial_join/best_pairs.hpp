#pragma once

/// \file
/// The k best pairs of a pool, and the result in its order. Scores are the first rank and ids the second, wherever in
/// the pool a pair stands.

#include <bit>
#include <type_traits>
#include <utility>

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

/// A pair with a 32-bit image as an entry: the score's image, the left id and the right one are one number.
[[nodiscard]] ZENITH_FN ordered::entry64 pair_entry(u32 image, u32 left, u32 right) {
  return ordered::entry64::make(u64{image} << 32 | static_cast<u32>(~left), right);
}
/// So many of these are selected; of more, or of pairs with wider images, all are sorted.
inline constexpr u64 most_selected = 1024;

struct write_pair_entries {
  const u32* images;
  const u64* pairs;
  ordered::entry64* to;

  ZENITH_FN void operator()(u64 i) const {
    to[i] = pair_entry(images[i], static_cast<u32>(pairs[i] >> 32), static_cast<u32>(pairs[i]));
  }
};

/// What some pairs with 32-bit images have: their images' range, and all bits of ids that any of them has.
struct pair_range {
  u32 least;
  u32 greatest;
  u64 ids;
};
struct find_pair_range {
  const u32* images;
  const u64* pairs;
  u64 count;
  pair_range* to;

  [[nodiscard]] u64 launch_cost(u64 /*n*/) const { return count * (sizeof(u32) + sizeof(u64)); }
  template <class Team>
  ZENITH_FN void operator()(Team& team, u64 /*i*/) const {
    const u32 least = team.reduce(
        count, ~u32{0}, [&](u64 i) ZENITH_BODY { return images[i]; },
        [](u32 a, u32 b) ZENITH_BODY { return b < a ? b : a; });
    const u32 greatest = team.reduce(
        count, u32{0}, [&](u64 i) ZENITH_BODY { return images[i]; },
        [](u32 a, u32 b) ZENITH_BODY { return a < b ? b : a; });
    const u64 ids = team.reduce(
        count, u64{0}, [&](u64 i) ZENITH_BODY { return pairs[i]; }, [](u64 a, u64 b) ZENITH_BODY { return a | b; });
    team.once([&]() ZENITH_BODY { *to = {least, greatest, ids}; });
  }
};

/// A pair as an entry of one word, where what tells pairs of a range apart has no more bits: score, left id, right id.
struct pair_words {
  u32 least;
  u32 left_bits;
  u32 right_bits;

  /// False: they have more bits.
  [[nodiscard]] bool fit(const pair_range& range) {
    least = range.least;
    left_bits = static_cast<u32>(std::bit_width(range.ids >> 32));
    right_bits = static_cast<u32>(std::bit_width(range.ids & 0xffffffffU));
    return left_bits + right_bits < 64 &&
           static_cast<u32>(std::bit_width(range.greatest - least)) + left_bits + right_bits <= 64;
  }
  [[nodiscard]] ZENITH_FN ordered::entry32 entry(u32 image, u64 pair) const {
    const u64 left = ~(pair >> 32) & mask(left_bits);
    const u64 right = ~pair & mask(right_bits);
    return {u64{image - least} << (left_bits + right_bits) | left << right_bits | right};
  }
  [[nodiscard]] ZENITH_FN u64 pair(const ordered::entry32& of) const {
    const u64 left = ~(of.packed >> right_bits) & mask(left_bits);
    return left << 32 | (~of.packed & mask(right_bits));
  }

 private:
  [[nodiscard]] ZENITH_FN static u64 mask(u32 bits) { return (u64{1} << bits) - 1; }
};

struct write_pair_words {
  const u32* images;
  const u64* pairs;
  pair_words as;
  ordered::entry32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = as.entry(images[i], pairs[i]); }
};

/// Pairs by their rank: places of a list, or entries.
struct ranked_pairs {
  const u64* pairs;
  const u32* places;
  const ordered::entry64* entries;
  const ordered::entry32* words = nullptr;
  pair_words as{};

  ZENITH_FN u64 at(u64 i) const {
    if (words != nullptr) return as.pair(words[i]);
    if (entries == nullptr) return pairs[places[i]];
    return pair_of(static_cast<u32>(~entries[i].high), entries[i].index());
  }
};

template <class T, class Index>
struct write_result {
  static constexpr u64 item_cost = 512;  // the scores lie anywhere

  ranked_pairs pairs;
  const T* left_scores;
  const T* right_scores;
  T left_weight;
  T right_weight;
  pair_scorer<T> scorer;
  Index* left;
  Index* right;
  T* scores;

  ZENITH_FN void operator()(u64 i) const {
    const u64 pair = pairs.at(i);
    const u64 a = pair >> 32;
    const u64 b = pair & 0xffffffffU;
    left[i] = static_cast<Index>(a);
    right[i] = static_cast<Index>(b);
    scores[i] = scorer.score(left_scores[a] * left_weight, right_scores[b] * right_weight);
  }
};

template <class T, class Context>
[[nodiscard]] pair_pool<T> make_pool(Context& on, u64 capacity) {
  return {on.template buffer<ordered::bits_t<T>>(capacity), on.template buffer<u64>(capacity),
          on.template zeroed<u64>(1), capacity, on.threads() == 1};
}

/// A pool and what is needed to keep the best of its pairs again and again.
template <class T, class Context>
class best_keeper {
 public:
  using image = ordered::bits_t<T>;
  using entry = ordered::entry_t<image>;

  best_keeper(Context& on, u64 capacity) : best_keeper(on, make_pool<T>(on, capacity)) {}
  best_keeper(Context& on, const pair_pool<T>& pool) : on_(on), pool_(pool) {}

  /// Another one after `keep` and `grow`.
  [[nodiscard]] const pair_pool<T>& pool() const { return pool_; }

  /// Keeps the k best of the pool's `count` > k pairs, in no order, in its first places; *bound becomes the worst of
  /// them.
  void keep(u64 count, u64 k, pair_bound<T>* bound) {
    pair_bound<T> least{kth_image(count, k), ~u64{0}};

    // of those with the k-th score, the smallest pairs fill up
    on_.compact(count, is_taken<T>{pool_.images, pool_.pairs, least}, places_, found_);
    const u64 taken = on_.read(static_cast<const u32*>(found_));
    if (taken > k) {
      on_.compact(count, equals_image<image>{pool_.images, least.image}, places_, found_);
      const u64 tied = on_.read(static_cast<const u32*>(found_));
      if (tied_ == nullptr) {
        tied_ = on_.template buffer<ordered::entry64>(pool_.capacity);
        last_ = on_.template buffer<ordered::entry64>(1);
      }
      on_.for_each(tied, write_tied{pool_.pairs, places_, tied_});
      on_.kth_best(tied_, tied, k - (taken - tied), last_);
      least.pair = ~on_.read(static_cast<const ordered::entry64*>(last_)).high;
      on_.compact(count, is_taken<T>{pool_.images, pool_.pairs, least}, places_, found_);
    }
    on_.for_each(k, gather_taken<T>{pool_, places_, kept_});
    on_.for_each(1, set_count{k, kept_.count});
    on_.for_each(1, set_bound<T>{least, bound});
    std::swap(pool_, kept_);
  }

  /// The k-th best image of the pool's first `count` >= k pairs, which stay as they are.
  [[nodiscard]] image kth_image(u64 count, u64 k) {
    make_space();
    on_.for_each(count, write_entries<T>{pool_.images, entries_});
    on_.kth_best(entries_, count, k, kth_);
    return on_.read(static_cast<const entry*>(kth_)).image();
  }

  /// Memory for more pairs; the first `count` stay.
  void grow(u64 capacity, u64 count) {
    const auto larger = make_pool<T>(on_, capacity);
    on_.copy(larger.images, static_cast<const image*>(pool_.images), count);
    on_.copy(larger.pairs, static_cast<const u64*>(pool_.pairs), count);
    on_.for_each(1, set_count{count, larger.count});
    pool_ = larger;
    entries_ = nullptr;
    tied_ = nullptr;
  }

 private:
  void make_space() {
    if (entries_ != nullptr) return;
    kept_ = make_pool<T>(on_, pool_.capacity);
    entries_ = on_.template buffer<entry>(pool_.capacity);
    kth_ = on_.template buffer<entry>(1);
    places_ = on_.template buffer<u32>(pool_.capacity);
    found_ = on_.template buffer<u32>(1);
  }

  Context& on_;
  pair_pool<T> pool_;
  pair_pool<T> kept_{};
  entry* entries_ = nullptr;
  entry* kth_ = nullptr;
  u32* places_ = nullptr;
  u32* found_ = nullptr;
  ordered::entry64* tied_ = nullptr;
  ordered::entry64* last_ = nullptr;
};

/// The best `wanted` of the pool's first `count` pairs by their rank; `entries`: the same pairs, or nullptr.
template <class T, class Context>
[[nodiscard]] ranked_pairs rank_pairs(Context& on, const pair_pool<T>& pool, u64 count, u64 wanted,
                                      ordered::entry64* entries = nullptr) {
  if constexpr (sizeof(T) == sizeof(u32)) {
    // of one word they are in order in a third of the time
    if constexpr (Context::runs_on_host) {
      auto* const found = on.template buffer<pair_range>(1);
      on.for_teams(1, find_pair_range{pool.images, pool.pairs, count, found});
      pair_words as{};
      if (as.fit(on.read(static_cast<const pair_range*>(found)))) {
        auto* const words = on.template buffer<ordered::entry32>(count);
        on.for_each(count, write_pair_words{pool.images, pool.pairs, as, words});
        return {nullptr, nullptr, nullptr, on.select_best(words, count, wanted), as};
      }
    }
    if (wanted <= most_selected) {
      if (entries == nullptr) {
        entries = on.template buffer<ordered::entry64>(count);
        on.for_each(count, write_pair_entries{pool.images, pool.pairs, entries});
      }
      return {nullptr, nullptr, on.select_best(entries, count, wanted)};
    }
  }
  u64* const pairs = on.template buffer<u64>(count);
  u32* const places = on.template buffer<u32>(count);
  auto* const ranks = on.template buffer<ordered::bits_t<T>>(count);
  on.copy(pairs, static_cast<const u64*>(pool.pairs), count);
  on.for_each(count, number_places{places});
  on.sort_pairs(pairs, places, count);
  on.for_each(count, write_ranks<T>{pool.images, places, ranks});
  on.sort_pairs(ranks, places, count);
  return {pool.pairs, places, nullptr};
}

/// What a join left in a pool: among `held` pairs the min(k, total) = `count` best of all that its bound took.
template <class T>
struct found_pairs {
  pair_pool<T> pool;
  u64 count;
  u64 total;
  u64 held;
  ordered::entry64* entries = nullptr;  ///< the same pairs, where there are such
};

/// Scores by row, and what they are multiplied by.
template <class T>
struct pair_scores {
  const T* left;
  const T* right;
  T left_weight;
  T right_weight;
};

/// The pairs by rank to the caller.
template <class T, class Context>
void deliver(Context& on, const top_k_spatial_join_call& call, const pair_scores<T>& scores,
             const pair_scorer<T>& scorer, const found_pairs<T>& found) {
  const u64 n = found.count;
  call.outcome->count = n;
  const auto out = call.provide(call.provide_state, n);
  if (n == 0 || out.left == nullptr) return;
  const auto ranked = rank_pairs(on, found.pool, found.held, n, found.entries);
  with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    write_result<T, Index> result{ranked,
                                  scores.left,
                                  scores.right,
                                  scores.left_weight,
                                  scores.right_weight,
                                  scorer,
                                  on.output(static_cast<Index*>(out.left), n, call.out_space),
                                  on.output(static_cast<Index*>(out.right), n, call.out_space),
                                  on.output(static_cast<T*>(out.scores), n, call.out_space)};
    on.for_each(n, result);
  });
}

template <class T>
using best_pairs_kernels = device::list<write_entries<T>, gather_taken<T>, write_ranks<T>,
                                        write_result<T, std::uint32_t>, write_result<T, std::uint64_t>, set_bound<T>>;
using best_pairs_common_kernels = device::list<write_tied, number_places, write_pair_entries, find_pair_range,
                                               write_pair_words, set_count, find_batch>;

}  // namespace zenith::spatial_join_family

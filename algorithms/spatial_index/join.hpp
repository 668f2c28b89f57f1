#pragma once

/// \file
/// The Block-based Algorithm without its limits. The left side's blocks are taken by their best score, some at a time.
/// Each of their items descends the right side's tree, where a subtree is passed over when it is too far away or when
/// no pair with it can reach the bound: the score of the k-th best pair so far, which all items share and which rises
/// after each round. The join ends when the next block cannot reach it with the right side's best score.

#include <algorithm>
#include <string>
#include <utility>

#include <algorithms/spatial_index/tree.hpp>
#include <algorithms/spatial_join/best_pairs.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>
#include <zenith/error.hpp>

namespace zenith::spatial_index_family {

using spatial_join_family::best_keeper;
using spatial_join_family::found_pairs;
using spatial_join_family::pair_bound;
using spatial_join_family::pair_of;
using spatial_join_family::pair_pool;
using spatial_join_family::pair_scorer;

/// Both sides, each with what its scores are multiplied by.
template <class T, unsigned D>
struct joined_trees {
  tree_view<T, D> left;
  tree_view<T, D> right;
  T left_weight;
  T right_weight;
  nearness<T> near;
  pair_scorer<T> scorer;  ///< its images are the same whichever value comes first
  bool are_swapped = false;

  /// The pair of an item of `left` and one of `right`, as the caller sees it.
  ZENITH_FN u64 pair(u32 a, u32 b) const { return are_swapped ? pair_of(b, a) : pair_of(a, b); }
  /// The other side descends.
  void swap() {
    std::swap(left, right);
    std::swap(left_weight, right_weight);
    are_swapped = !are_swapped;
  }
};

/// Keys that put blocks with the best values first.
template <class T>
struct rank_blocks {
  const T* best;
  T weight;
  ordered::key_order<T> order;
  ordered::bits_t<T>* ranks;
  u32* blocks;

  ZENITH_FN void operator()(u64 i) const {
    ranks[i] = static_cast<ordered::bits_t<T>>(~order.image(best[i] * weight));
    blocks[i] = static_cast<u32>(i);
  }
};

/// Pairs on their way to a pool, which many append to: a few at a time.
template <class T>
struct pending_pairs {
  static constexpr u32 few = 8;

  ordered::bits_t<T> images[few];
  u64 pairs[few];
  u32 count;

  /// False: the pool is full.
  ZENITH_FN bool add(const pair_pool<T>& pool, ordered::bits_t<T> image, u64 pair) {
    images[count] = image;
    pairs[count] = pair;
    return ++count < few || append(pool);
  }
  ZENITH_FN bool append(const pair_pool<T>& pool) {
    if (count == 0) return true;
    const u64 at = pool.reserve(count);
    for (u32 j = 0; j < count; ++j) pool.set(at + j, images[j], pairs[j]);
    count = 0;
    return at < pool.capacity;
  }
};

/// The pairs of item `first + i` of the left side, in the order of its blocks, that the bound takes.
template <class T, unsigned D>
struct descend {
  static constexpr u64 item_cost = 1024;

  joined_trees<T, D> sides;
  const u32* order;  ///< blocks of the left side
  u32 block;         ///< items of one
  u64 first;
  const pair_bound<T>* bound;
  pair_pool<T> pool;

  ZENITH_FN void operator()(u64 i) const {
    const u64 at = u64{order[(first + i) / block]} * block + (first + i) % block;
    if (at >= sides.left.count) return;
    const pair_bound<T> least = *bound;
    const left_item item{sides.left.items.get(at), sides.left.items.best[at] * sides.left_weight, sides.left.ids[at]};
    const auto& tree = sides.right;
    const auto best = sides.scorer.image_of(item.value, tree.nodes.best[tree.root()] * sides.right_weight);
    if (!least.takes(best, sides.pair(item.id, 0))) return;
    // of each level, one node's entries that are near and still to be looked at: bit j is entry first_of + j
    u32 first_of[most_index_levels];
    u64 near[most_index_levels];
    pending_pairs<T> found{};
    u32 level = tree.levels - 1;
    open(item, level, 0, first_of, near);
    for (;;) {
      u64 left = near[level];
      u32 entry = first_of[level];
      if (level == 0) {
        for (; left != 0; left >>= 1, ++entry) {
          if ((left & 1) != 0 && !join(item, entry, least, found)) return;
        }
        near[0] = 0;
      } else {
        for (; left != 0; left >>= 1, ++entry) {
          if ((left & 1) != 0 && may_reach(item, tree.begin(level) + entry, least)) break;
        }
        // what is behind the entry that is opened now
        near[level] = left >> 1;
        first_of[level] = entry + 1;
        if (left != 0) {
          --level;
          open(item, level, entry, first_of, near);
          continue;
        }
      }
      if (++level >= tree.levels) break;
    }
    (void)found.append(pool);
  }

 private:
  struct left_item {
    box<T, D> at;
    T value;
    u32 id;
  };

  /// Of node p of the level above.
  ZENITH_FN void open(const left_item& item, u32 level, u32 p, u32 (&first_of)[most_index_levels],
                      u64 (&near)[most_index_levels]) const {
    const auto& tree = sides.right;
    const u64 begin = u64{p} * tree.fanout;
    const u64 left = tree.entries(level) - begin;
    first_of[level] = static_cast<u32>(begin);
    near[level] = near_entries(sides.near, item.at, tree.columns(level), tree.begin(level) + begin,
                               left < tree.fanout ? static_cast<u32>(left) : tree.fanout);
  }
  ZENITH_FN bool may_reach(const left_item& item, u64 node, const pair_bound<T>& least) const {
    const T value = sides.right.nodes.best[node] * sides.right_weight;
    return sides.scorer.image_of(item.value, value) >= least.image;
  }
  /// False: the pool is full, and nothing more need be found.
  ZENITH_FN bool join(const left_item& item, u32 i, const pair_bound<T>& least, pending_pairs<T>& found) const {
    const auto image = sides.scorer.image_of(item.value, sides.right.items.best[i] * sides.right_weight);
    const u64 pair = sides.pair(item.id, sides.right.ids[i]);
    return !least.takes(image, pair) || found.add(pool, image, pair);
  }
};

/// The left side's blocks, best first.
template <class T>
struct block_order {
  const u32* blocks;
  const ordered::bits_t<T>* ranks;  ///< complemented images of their best values, rising
  u64 count;
  u32 items;  ///< of a block
};

template <class T, class Context>
[[nodiscard]] block_order<T> order_blocks(Context& on, const T* best, T weight, u64 count, u32 items, bool smallest) {
  auto* const ranks = on.template buffer<ordered::bits_t<T>>(count);
  u32* const blocks = on.template buffer<u32>(count);
  on.for_each(count, rank_blocks<T>{best, weight, {smallest, false}, ranks, blocks});
  on.sort_pairs(ranks, blocks, count);
  return {blocks, ranks, count, items};
}

/// How many blocks a caller wants joined at once.
struct block_rounds {
  u64 at_once;         ///< 0: as `round_sizes` says
  u64 expected_pairs;  ///< of both sides; 0: not known
};

/// How many items of the left side a round takes. The first one should find k pairs, since without so many there is no
/// bound, but no more than fit beside k. On one thread of a host a later one takes a quarter of all items before, or as
/// many as have 2.5 k pairs, whichever is more: a newer bound spares more than it costs. Several threads take up to
/// twice all items before, to be busy. A device's round costs as much as some ten thousand items, and each has four
/// times those of the one before.
class round_sizes {
 public:
  /// `threads`: of a host; 0: a device.
  round_sizes(const block_rounds& given, int threads, u64 blocks, u64 items_of_block, u64 k, u64 items)
      : threads_(threads), fixed_(std::min(given.at_once, blocks) * items_of_block) {
    wanted_ = std::min((threads > 0 ? 2.5 : 1.25) * static_cast<double>(k), static_cast<double>(k) / 2 + 262144);
    // too few are found soon enough
    double each = threads > 0 ? 16 : 4;
    if (given.expected_pairs > 0) each = static_cast<double>(given.expected_pairs) / static_cast<double>(items);
    least_ = least_items(each);
    size_ = fixed_ > 0 ? fixed_ : least_;
  }

  [[nodiscard]] u64 size() const { return size_; }
  /// After a round, of `done` items in all, which have `found` pairs; 0: a bound left some out. `found_few`: hardly
  /// any, and no bound is near.
  void grow(u64 done, u64 found, bool found_few) {
    if (fixed_ > 0) {
      size_ = std::min(fixed_, 2 * size_);
    } else if (found_few || threads_ == 0) {
      size_ *= found_few ? 8 : 4;
    } else {
      if (found > 0) least_ = least_items(static_cast<double>(found) / static_cast<double>(done));
      size_ = std::min(std::max(least_, done * static_cast<u64>(std::min(threads_, 8)) / 4), 4 * size_);
    }
  }
  /// A round of `taken` items found more than there is memory for.
  void shrink(u64 taken) { size_ = std::max<u64>(1, taken / 8); }

 private:
  /// Where an item has `each` pairs.
  [[nodiscard]] u64 least_items(double each) const {
    const double busy = threads_ > 0 ? 64.0 : std::clamp(131072 / each, 4096.0, 65536.0);
    return static_cast<u64>(std::min(std::max(wanted_ / each, busy), 4294967296.0));
  }

  int threads_;
  u64 fixed_;
  double wanted_;  ///< pairs
  u64 least_;
  u64 size_;
};

/// So many pairs that one more step of a join does not fit beside those that are kept.
[[noreturn]] inline void refuse_pairs(u64 k) {
  throw error(error_code::unsupported,
              "top_k_spatial_join: there are more pairs than 32 bits can count, and k is " + std::to_string(k));
}

/// The k best pairs. Memory: a pool of the partners of one item, 2 k, or as many pairs as there are, and some more.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> join_blocks(Context& on, const joined_trees<T, D>& sides, const block_order<T>& order,
                                         u64 k, const block_rounds& rounds_of, spatial_join_statistics* statistics) {
  constexpr u64 few = u64{1} << 14;
  constexpr u64 more = u64{1} << 18;
  constexpr u64 most = ~u32{0} - 1;
  const u64 n = sides.left.count;
  const u64 m = sides.right.count;
  // with so many places a round of one item always fits beside k pairs
  const u64 enough = n <= most / m ? n * m : most;
  const u64 wanted = std::min(enough, k < most / 4 ? 2 * k + more + m : most);
  best_keeper<T, Context> keeper(on, std::min(wanted, std::max(4 * more, k / 2 + 2 * more) + m));
  auto* const bound = on.template buffer<pair_bound<T>>(1);
  on.for_each(1, spatial_join_family::set_bound<T>{{0, ~u64{0}}, bound});

  const ordered::key_order<T> values{sides.scorer.smallest, false};
  const T best_right = on.read(sides.right.nodes.best + sides.right.root()) * sides.right_weight;
  const u64 items = order.count * order.items;
  u64 count = 0;
  u64 rounds = 0;
  u64 candidates = 0;
  u64 first = 0;
  round_sizes sizes(rounds_of, on.threads(), order.count, order.items, k, n);
  while (first < items) {
    if (count == k) {
      const auto rank = on.read(order.ranks + first / order.items);
      const T value = values.key(static_cast<ordered::bits_t<T>>(~rank));
      if (sides.scorer.image_of(value, best_right) < on.read(static_cast<const pair_bound<T>*>(bound)).image) break;
    }
    const auto& pool = keeper.pool();
    const u64 taken = std::min(sizes.size(), items - first);
    on.for_each(taken, descend<T, D>{sides, order.blocks, order.items, first, bound, pool});
    const u64 found = on.read(static_cast<const u64*>(pool.count));
    ++rounds;
    if (found > pool.capacity) {
      if (pool.capacity == wanted && taken == 1) {
        refuse_pairs(k);
      }
      on.for_each(1, spatial_join_family::set_count{count, pool.count});
      sizes.shrink(taken);
      if (pool.capacity < wanted) keeper.grow(std::min(wanted, 2 * pool.capacity), count);
      continue;
    }
    // while there is no bound, a round may find a right side for each item: it grows fast only where it found few
    const bool found_few = count < k && found <= k / 2 && found - count < few;
    const u64 without_bound = count < k ? found : 0;
    candidates += found - count;
    count = found;
    if (count > k) {
      keeper.keep(count, k, bound);
      count = k;
    }
    first += taken;
    sizes.grow(first, without_bound, found_few);
  }
  if (statistics != nullptr) {
    *statistics = {rounds, std::min(first, n), m, candidates};
    if (sides.are_swapped) std::swap(statistics->left_rows, statistics->right_rows);
  }
  return {keeper.pool(), count, candidates, count};
}

}  // namespace zenith::spatial_index_family

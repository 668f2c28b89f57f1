#pragma once

/// \file
/// A descent of both trees at once. Pairs wait in queues, one for each height of the trees: queue 0 has pairs of items,
/// the next one pairs of nodes that hold these, and so on up to the pair of both roots: the higher node of a pair is
/// opened, or both where they are as high. A step takes some pairs of a queue, the batch, and appends to the queue
/// below their pairs of children that are near and that can reach the bound, the score of the k-th best pair so far.
///
/// Distance first, batches are taken from the lowest queue that has pairs: depth first, so a queue is empty when the
/// one above is opened. Ranked, they are the pairs with the best bounds of any queue.
///
/// Memory: a queue holds at most `pair_limits::queue` pairs. A batch that finds more is taken back and tried with an
/// eighth of its pairs. One pair always finds its place: a queue that has no place for the children of one is opened
/// first.

#include <algorithm>
#include <vector>

#include <algorithms/spatial_index/join.hpp>
#include <algorithms/spatial_index/range.hpp>
#include <core/device/bisect.hpp>

namespace zenith::spatial_index_family {

enum class pair_order { by_place, by_bound };

/// So many pairs a queue holds, and so many are opened together at first and at most. A queue must hold the children of
/// one pair, fanout * fanout.
struct pair_limits {
  u64 queue = u64{1} << 18;
  u64 least_batch = 256;
  u64 ranked_batch = u64{1} << 16;
};

/// Left child i % left_entries of pair i / left_entries, and all right children that are near it.
template <class T, unsigned D>
struct open_pairs {
  static constexpr u64 item_cost = 512;

  joined_trees<T, D> sides;
  u32 left_level;  ///< of the children
  u32 right_level;
  u32 left_entries;  ///< of a node; 1: the node itself stays
  u32 right_entries;
  const ordered::bits_t<T>* images;  ///< of the batch
  const u64* pairs;
  const pair_bound<T>* bound;
  pair_pool<T> to;

  ZENITH_FN void operator()(u64 i) const {
    const u64 batch = i / left_entries;
    const auto least = *bound;
    if (images[batch] < least.image) return;
    const auto& left = sides.left;
    const auto& right = sides.right;
    const u64 a = (pairs[batch] >> 32) * left_entries + i % left_entries;
    if (a >= left.entries(left_level)) return;
    const u64 b = pairs[batch] & 0xffffffffU;
    const auto& columns = left.columns(left_level);
    const u64 at = left.begin(left_level) + a;
    const T value = columns.best[at] * sides.left_weight;
    if (right_entries > 1) {
      const T most = right.nodes.best[right.begin(right_level + 1) + b] * sides.right_weight;
      if (sides.scorer.image_of(value, most) < least.image) return;
    }
    const u64 begin = b * right_entries;
    const u64 rest = right.entries(right_level) - begin;
    const auto& others = right.columns(right_level);
    const u64 first = right.begin(right_level) + begin;
    u64 near = near_entries(sides.near, columns.get(at), others, first,
                            rest < right_entries ? static_cast<u32>(rest) : right_entries);
    const bool are_items = left_level == 0 && right_level == 0;
    const u32 id = are_items ? left.ids[a] : 0;
    pending_pairs<T> found{};
    for (u64 j = 0; near != 0; near >>= 1, ++j) {
      if ((near & 1) == 0) continue;
      const auto image = sides.scorer.image_of(value, others.best[first + j] * sides.right_weight);
      // of nodes, any pair of items may be below
      const u64 pair =
          are_items ? sides.pair(id, right.ids[begin + j]) : pair_of(static_cast<u32>(a), static_cast<u32>(begin + j));
      if (!least.takes(image, are_items ? pair : 0)) continue;
      if (!found.add(to, image, pair)) return;
    }
    (void)found.append(to);
  }
};

/// How many of `count` rising images are at least `least`.
template <class Image>
struct count_reaching {
  const Image* images;
  u64 count;
  Image least;
  u64* to;

  ZENITH_FN void operator()(u64 /*i*/) const {
    const u64 low = device::first_failing(count, [&](u64 i) ZENITH_BODY { return images[i] < least; });
    *to = count - low;
  }
};

template <class T, unsigned D, class Context>
class node_pair_join {
 public:
  node_pair_join(Context& on, const joined_trees<T, D>& sides, pair_order order, u64 k, const pair_limits& limits = {})
      : on_(on),
        sides_(sides),
        order_(order),
        limits_(limits),
        k_(k),
        wanted_(most_results()),
        keeper_(on, std::min(wanted_, u64{1} << 20)) {
    bound_ = on.template buffer<pair_bound<T>>(1);
    on.for_each(1, spatial_join_family::set_bound<T>{{0, ~u64{0}}, bound_});
    u32 left = sides.left.levels;
    u32 right = sides.right.levels;
    u64 largest = 0;
    for (;;) {
      pair_queue one{left, right, left >= right ? sides.left.fanout : 1, right >= left ? sides.right.fanout : 1};
      // the first few pairs of items give a bound
      const bool is_lowest = left < 2 && right < 2;
      one.batch =
          order == pair_order::by_place && !is_lowest ? std::max<u64>(1, limits_.queue / 32) : limits.least_batch;
      if (left > 0 || right > 0) {
        const u64 pairs = sides.left.entries(left) * sides.right.entries(right);
        one.pool = spatial_join_family::make_pool<T>(on, std::min(pairs, limits_.queue));
        largest = std::max(largest, one.pool.capacity);
      }
      queues_.push_back(one);
      if (left == 0 && right == 0) break;
      const bool opens_left = left >= right;
      if (right >= left) --right;
      if (opens_left) --left;
    }
    std::reverse(queues_.begin(), queues_.end());
    if (order == pair_order::by_bound) {
      sorted_ = spatial_join_family::make_pool<T>(on, largest);
      keys_ = on.template buffer<image>(largest);
      places_ = on.template buffer<u32>(largest);
      found_ = on.template buffer<u32>(1);
    }
    reaching_ = on.template buffer<u64>(1);
    // the roots
    auto& top = queues_.back();
    on.fill_zero(top.pool.pairs, 1);
    on.copy(top.pool.images, &bound_->image, 1);
    set_count(top, 1);
  }

  [[nodiscard]] found_pairs<T> run(spatial_join_statistics* statistics) {
    u64 rounds = 0;
    for (std::size_t r = 0; (r = next()) != 0; ++rounds) step(r);
    if (count_ > k_) keep();
    if (statistics != nullptr) *statistics = {rounds, sides_.left.count, sides_.right.count, candidates_};
    return {keeper_.pool(), count_, candidates_, count_};
  }

 private:
  using image = ordered::bits_t<T>;
  static constexpr u64 most = ~u32{0} - 1;

  struct pair_queue {
    u32 left_level;
    u32 right_level;
    u32 left_entries;  ///< when its pairs are opened
    u32 right_entries;
    pair_pool<T> pool{};
    u64 count = 0;
    image best = 0;  ///< by bound: of all its pairs, which rise
    u64 batch = 1;

    [[nodiscard]] u64 children() const { return u64{left_entries} * right_entries; }
  };

  [[nodiscard]] u64 most_results() const {
    constexpr u64 some = u64{1} << 18;
    const u64 n = sides_.left.count;
    const u64 m = sides_.right.count;
    return std::min(n <= most / m ? n * m : most, k_ < most / 4 ? 2 * k_ + some : most);
  }

  /// The queue whose pairs are opened next; 0: none need be.
  [[nodiscard]] std::size_t next() const {
    std::size_t at = 0;
    for (std::size_t r = 1; r < queues_.size(); ++r) {
      if (queues_[r].count == 0) continue;
      if (at == 0 || (order_ == pair_order::by_bound && queues_[at].best < queues_[r].best)) at = r;
    }
    if (at == 0 || (order_ == pair_order::by_bound && queues_[at].best < least_.image)) return 0;
    while (at > 1 && queues_[at - 1].pool.capacity - queues_[at - 1].count < most_below(at)) --at;
    return at;
  }
  /// Places that one pair's children may take, if there can be so many pairs at all.
  [[nodiscard]] u64 most_below(std::size_t r) const {
    const auto& below = queues_[r - 1];
    return below.pool.capacity < limits_.queue ? 0 : queues_[r].children();
  }

  void set_count(pair_queue& of, u64 count) {
    of.count = count;
    on_.for_each(1, spatial_join_family::set_count{count, of.pool.count});
  }

  /// How many pairs of a queue are opened together. Ranked, those that reach the best bound of the other queues, but so
  /// many that the order of what waits here and below costs no more than what is opened.
  [[nodiscard]] u64 batch_of(std::size_t r) {
    const auto& from = queues_[r];
    const u64 size = std::min(from.count, from.batch);
    const u64 least = std::max(limits_.least_batch, (from.count + queues_[r - 1].count) / 4);
    if (order_ == pair_order::by_place || size <= least) return size;
    image other = 0;  // the best bound elsewhere
    for (std::size_t i = 1; i < queues_.size(); ++i) {
      if (i != r && queues_[i].count > 0) other = std::max(other, queues_[i].best);
    }
    on_.for_each(1, count_reaching<image>{from.pool.images, from.count, std::max(other, least_.image), reaching_});
    return std::min(size, std::max(least, on_.read(static_cast<const u64*>(reaching_))));
  }

  void step(std::size_t r) {
    auto& from = queues_[r];
    auto& below = queues_[r - 1];
    const bool to_items = r == 1;
    const u64 batch = batch_of(r);
    const u64 first = from.count - batch;
    const auto& to = to_items ? keeper_.pool() : below.pool;
    const u64 before = to_items ? count_ : below.count;
    on_.for_each(batch * from.left_entries,
                 open_pairs<T, D>{sides_, below.left_level, below.right_level, from.left_entries, from.right_entries,
                                  from.pool.images + first, from.pool.pairs + first, bound_, to});
    const u64 found = on_.read(static_cast<const u64*>(to.count));
    if (found > to.capacity) {
      on_.for_each(1, spatial_join_family::set_count{before, to.count});
      from.batch = std::max<u64>(1, batch / 8);
      if (to_items) keep_or_grow(batch);
      return;
    }
    set_count(from, first);
    if (order_ == pair_order::by_bound && first > 0) {
      from.best = on_.read(static_cast<const image*>(from.pool.images) + first - 1);
    }
    if (found - before < to.capacity / 8) {
      from.batch = std::min(2 * std::max(batch, from.batch),
                            order_ == pair_order::by_place ? limits_.queue : limits_.ranked_batch);
    }
    if (to_items) {
      candidates_ += found - before;
      count_ = found;
      // keeping costs as much as there is: so some must be new
      if (count_ > k_ && (least_.image == 0 || count_ - k_ > k_ / 2)) keep();
    } else {
      below.count = found;
      if (order_ == pair_order::by_bound && found > before) sort(below);
    }
  }

  void keep() {
    keeper_.keep(count_, k_, bound_);
    count_ = k_;
    least_ = on_.read(static_cast<const pair_bound<T>*>(bound_));
  }

  void keep_or_grow(u64 batch) {
    if (count_ > k_) {
      keep();
    } else if (keeper_.pool().capacity < wanted_) {
      keeper_.grow(std::min(wanted_, 2 * keeper_.pool().capacity), count_);
    } else if (batch == 1) {
      refuse_pairs(k_);
    }
  }

  /// By rising bounds, without those that the bound does not take any more.
  void sort(pair_queue& of) {
    const pair_bound<T> least{least_.image, ~u64{0}};
    on_.compact(of.count, spatial_join_family::is_taken<T>{of.pool.images, of.pool.pairs, least}, places_, found_);
    const u64 n = on_.read(static_cast<const u32*>(found_));
    if (n > 0) {
      on_.for_each(n, gather_images<image>{of.pool.images, places_, keys_});
      on_.sort_pairs(keys_, places_, n);
      on_.for_each(n, spatial_join_family::gather_taken<T>{of.pool, places_, sorted_});
      on_.copy(of.pool.images, static_cast<const image*>(sorted_.images), n);
      on_.copy(of.pool.pairs, static_cast<const u64*>(sorted_.pairs), n);
      of.best = on_.read(static_cast<const image*>(of.pool.images) + n - 1);
    }
    set_count(of, n);
  }

  Context& on_;
  joined_trees<T, D> sides_;
  pair_order order_;
  pair_limits limits_;
  u64 k_;
  u64 wanted_;
  spatial_join_family::best_keeper<T, Context> keeper_;
  std::vector<pair_queue> queues_;
  pair_bound<T>* bound_ = nullptr;
  pair_bound<T> least_{0, ~u64{0}};  ///< the same on the host
  pair_pool<T> sorted_{};
  image* keys_ = nullptr;
  u32* places_ = nullptr;
  u32* found_ = nullptr;
  u64* reaching_ = nullptr;
  u64 count_ = 0;  ///< of pairs of items
  u64 candidates_ = 0;
};

}  // namespace zenith::spatial_index_family

// The order of the items in a tree, whose nodes have consecutive entries, all of them full but the last of a level.
//
// Sort-Tile-Recursive, level by level from below: entries are sorted along the first axis and cut into slabs of whole
// nodes, each slab is sorted along the next axis and cut into pillars, and so on; along the last axis the cuts are the
// nodes. A node is sorted at the next level by the middle of its tile. From the order of each level's entries follows,
// from above, that of the items. The last entry of a level, which may not be full, stays the last.
//
// Hilbert: items are sorted by their place on the curve, and nodes have consecutive entries.

#include <algorithm>
#include <bit>
#include <vector>

#include <algorithms/spatial_index/curves.hpp>
#include <algorithms/spatial_index/fold.hpp>
#include <algorithms/spatial_index/src/radix_sort.hpp>
#include <algorithms/spatial_index/src/storage.hpp>
#include <core/key_order.hpp>
#include <core/workers.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Rises with the value; 0 and -0 are equal.
template <class T>
ordered::bits_t<T> rank_of(T value) {
  using word = ordered::bits_t<T>;
  constexpr word sign = word{1} << (8 * sizeof(T) - 1);
  const auto bits = std::bit_cast<word>(value + T{0});
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

/// Middles of a level's entries, a column for each axis.
template <class T>
using columns = std::vector<const T*>;

/// The order of one level's entries.
template <class T>
class tiler {
 public:
  using sorter = radix_sorter<ordered::bits_t<T>>;

  /// Nodes of `fanout` entries.
  tiler(const columns<T>& of, u64 entries, u32 fanout, int workers)
      : of_(of), fanout_(fanout), workers_(workers), entries_(entries), order_(entries), middles_(of.size()) {
    for (auto& column : middles_) column.resize((entries + fanout - 1) / fanout);
  }

  /// The first `count` entries by tiles; what is behind them stays.
  void tile(u64 count) {
    for (u64 i = count; i < entries_; ++i) {  // tiles of their own, unless another one holds them
      order_[i] = static_cast<u32>(i);
      for (std::size_t a = 0; a < of_.size(); ++a) middles_[a][i / fanout_] = of_[a][i];
    }
    if (count == 0) return;
    sorter whole(count);
    sort(whole, 0, count, 0, workers_, [](u64 i) { return static_cast<u32>(i); });
    const u64 size = slab_size(count, 0);
    const u64 slabs = (count + size - 1) / size;
    std::vector<sorter> sorters;
    sorters.reserve(static_cast<std::size_t>(workers_));
    for (int w = 0; w < workers_; ++w) sorters.emplace_back(std::min(size, count));
    share_out(workers_, slabs, [&](int worker, u64 slab) {
      const u64 begin = slab * size;
      cut(sorters[static_cast<std::size_t>(worker)], begin, std::min(count, begin + size), 0);
    });
  }

  [[nodiscard]] entry_order take_order() { return std::move(order_); }
  [[nodiscard]] std::vector<std::vector<T>> take_middles() { return std::move(middles_); }

 private:
  [[nodiscard]] u64 slab_size(u64 count, unsigned axis) const {
    return spatial_index_family::slab_entries(count, fanout_, static_cast<unsigned>(of_.size()) - axis);
  }

  /// Entries [begin, end), of which entry_at(i) is the i-th so far.
  template <class EntryAt>
  void sort(sorter& by, u64 begin, u64 end, unsigned axis, int workers, const EntryAt& entry_at) {
    const u64 n = end - begin;
    const T* const from = of_[axis];
    constexpr u64 piece = u64{1} << 14;
    const auto write = [&](u64 first, u64 last) {
      for (u64 i = first; i < last; ++i) {
        const u32 entry = entry_at(begin + i);
        by.items()[i] = {rank_of(from[entry]), entry};
      }
    };
    if (workers == 1) {
      write(0, n);
    } else {
      share_out(workers, (n + piece - 1) / piece, [&](int, u64 p) { write(p * piece, std::min(n, (p + 1) * piece)); });
    }
    by.sort(n, workers, order_.data() + begin);
  }

  /// A slab, sorted along `axis`: its middle there is that of its tiles, which are cut along the next axis.
  void cut(sorter& by, u64 begin, u64 end, unsigned axis) {
    const T middle = of_[axis][order_[begin]] / 2 + of_[axis][order_[end - 1]] / 2;
    for (u64 t = begin / fanout_; t * fanout_ < end; ++t) middles_[axis][t] = middle;
    if (axis + 1 == of_.size()) return;
    sort(by, begin, end, axis + 1, 1, [this](u64 i) { return order_[i]; });
    const u64 size = slab_size(end - begin, axis + 1);
    for (u64 at = begin; at < end; at += size) cut(by, at, std::min(end, at + size), axis + 1);
  }

  const columns<T>& of_;
  u32 fanout_;
  int workers_;
  u64 entries_;
  entry_order order_;
  std::vector<std::vector<T>> middles_;
};

template <class T>
entry_order tile_recursively(const columns<T>& items, const spatial_index_layout& layout, int workers) {
  std::vector<entry_order> orders;  // of the entries of level 1 and up
  std::vector<u64> counts;
  std::vector<std::vector<T>> middles;
  columns<T> entries = items;
  u64 count = layout.items;
  bool is_last_full = true;
  for (u32 level = 1; level <= layout.levels; ++level) {
    tiler<T> of(entries, count, layout.fanout, workers);
    of.tile(is_last_full ? count : count - 1);
    orders.push_back(of.take_order());
    counts.push_back(count);
    middles = of.take_middles();
    entries.clear();
    for (const auto& column : middles) entries.push_back(column.data());
    is_last_full = is_last_full && count % layout.fanout == 0;
    count = (count + layout.fanout - 1) / layout.fanout;
  }
  if (orders.empty()) return entry_order(0);
  auto order = std::move(orders.back());
  for (std::size_t level = orders.size() - 1; level-- > 0;) {
    const u32* const below = orders[level].data();
    const u64 entries_below = counts[level];
    const u64 nodes = counts[level + 1];
    entry_order next(entries_below);
    // nodes of this level, each with its entries
    const u64 fanout = layout.fanout;
    constexpr u64 piece = 4096;
    share_out(workers, (nodes + piece - 1) / piece, [&](int, u64 p) {
      for (u64 i = p * piece; i < std::min(nodes, (p + 1) * piece); ++i) {
        const u64 first = order[i] * fanout;
        std::copy(below + first, below + std::min(entries_below, first + fanout), next.data() + i * fanout);
      }
    });
    order = std::move(next);
  }
  return order;
}

template <class T, unsigned D>
entry_order sort_by_curve(const columns<T>& items, u64 n, int workers) {
  T least[D];
  T greatest[D];
  for (unsigned a = 0; a < D; ++a) {
    const auto [low, high] = std::minmax_element(items[a], items[a] + n);
    least[a] = *low;
    greatest[a] = *high;
  }
  const auto steps = spatial_index_family::curve_steps<T, D>::between(least, greatest);
  radix_sorter<u64> by(n);
  constexpr u64 piece = u64{1} << 12;
  share_out(workers, (n + piece - 1) / piece, [&](int, u64 p) {
    for (u64 i = p * piece; i < std::min(n, (p + 1) * piece); ++i) {
      u32 x[D];
      for (unsigned a = 0; a < D; ++a) x[a] = steps.at(a, items[a][i]);
      by.items()[i] = {spatial_index_family::hilbert_order::place(x), static_cast<u32>(i)};
    }
  });
  entry_order order(n);
  by.sort(n, workers, order.data());
  return order;
}

}  // namespace

template <class T>
entry_order order_items(const std::vector<const T*>& centres, const spatial_index_layout& layout, bulk_order by,
                        int workers) {
  if (layout.items == 0) return entry_order(0);
  if (by == bulk_order::sort_tile_recursive) return tile_recursively<T>(centres, layout, workers);
  return layout.dimensions == 2 ? sort_by_curve<T, 2>(centres, layout.items, workers)
                                : sort_by_curve<T, 3>(centres, layout.items, workers);
}
template entry_order order_items(const std::vector<const float*>&, const spatial_index_layout&, bulk_order, int);
template entry_order order_items(const std::vector<const double*>&, const spatial_index_layout&, bulk_order, int);

}  // namespace zenith::detail

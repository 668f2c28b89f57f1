// Sort-Tile-Recursive from the root down. A node of level l holds up to fanout^l items. Its items become its entries'
// by tiles: slabs along the first axis, in each slab pillars along the next, of whole entries all of them. So every
// entry is full but the last of a level, and entries of a node are consecutive.

#include <algorithm>
#include <cmath>
#include <vector>

#include <algorithms/spatial_index/src/storage.hpp>

namespace zenith::detail {
namespace {

template <class T>
struct centre {
  T at[3];
  std::uint32_t row;
};

template <class T>
class tiler {
 public:
  tiler(std::vector<centre<T>>& items, unsigned dimensions, std::uint32_t fanout)
      : items_(items), dimensions_(dimensions), fanout_(fanout) {}

  /// Items [begin, end) in the order of a node of this level.
  void order(std::uint64_t begin, std::uint64_t end, std::uint32_t level) const {
    if (level < 2 || end - begin < 2) return;
    std::uint64_t capacity = fanout_;  // items of an entry
    for (std::uint32_t l = 2; l < level; ++l) capacity *= fanout_;
    tile(begin, end, capacity, 0);
    for (std::uint64_t at = begin; at < end; at += capacity) order(at, std::min(end, at + capacity), level - 1);
  }

 private:
  void tile(std::uint64_t begin, std::uint64_t end, std::uint64_t capacity, unsigned axis) const {
    const std::uint64_t entries = (end - begin + capacity - 1) / capacity;
    if (entries < 2) return;
    // as many slabs as tiles lie along this axis if they are cubes
    const double along = std::pow(static_cast<double>(entries), 1.0 / (dimensions_ - axis));
    const auto slabs = static_cast<std::uint64_t>(std::ceil(along - 1e-9));
    const std::uint64_t size = axis + 1 == dimensions_ ? capacity : (entries + slabs - 1) / slabs * capacity;
    cut(begin, end, size, axis);
    if (axis + 1 == dimensions_) return;
    for (std::uint64_t at = begin; at < end; at += size) tile(at, std::min(end, at + size), capacity, axis + 1);
  }

  /// Cuts into pieces of `size` items, the last one smaller, by rising coordinate and then by row.
  void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t size, unsigned axis) const {
    const std::uint64_t pieces = (end - begin + size - 1) / size;
    if (pieces < 2) return;
    const std::uint64_t middle = begin + pieces / 2 * size;
    const auto first = items_.begin();
    std::nth_element(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(middle),
                     first + static_cast<std::ptrdiff_t>(end), [axis](const centre<T>& a, const centre<T>& b) {
                       return a.at[axis] != b.at[axis] ? a.at[axis] < b.at[axis] : a.row < b.row;
                     });
    cut(begin, middle, size, axis);
    cut(middle, end, size, axis);
  }

  std::vector<centre<T>>& items_;
  unsigned dimensions_;
  std::uint32_t fanout_;
};

}  // namespace

template <class T>
std::vector<std::uint32_t> tile_items(const std::vector<std::vector<T>>& centres, const spatial_index_layout& layout) {
  const auto n = static_cast<std::size_t>(layout.items);
  std::vector<centre<T>> items(n);
  for (std::size_t i = 0; i < n; ++i) {
    items[i].row = static_cast<std::uint32_t>(i);
    for (unsigned a = 0; a < layout.dimensions; ++a) items[i].at[a] = centres[a][i];
  }
  tiler<T>(items, layout.dimensions, layout.fanout).order(0, n, layout.levels);
  std::vector<std::uint32_t> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = items[i].row;
  // in a leaf by row: what a selection leaves there is its library's choice
  for (std::size_t i = 0; i < n; i += layout.fanout) {
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(i),
              rows.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(n, i + layout.fanout)));
  }
  return rows;
}
template std::vector<std::uint32_t> tile_items(const std::vector<std::vector<float>>&, const spatial_index_layout&);
template std::vector<std::uint32_t> tile_items(const std::vector<std::vector<double>>&, const spatial_index_layout&);

}  // namespace zenith::detail

#include <algorithm>
#include <bit>

#include <algorithms/threshold_table/src/extremes.hpp>
#include <algorithms/threshold_table/src/lower_tree.hpp>
#include <algorithms/threshold_table/src/row_grouping.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <core/host_memory.hpp>
#include <core/workers.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Where blocks begin: those of a leaf are full but for its last one.
struct block_places {
  std::vector<u32> begins;
  std::vector<u32> first_of_leaf;
  std::vector<u32> partition_begins;

  block_places(std::span<const u64> leaf_begins, u32 block_rows) {
    for (std::size_t leaf = 0; leaf + 1 < leaf_begins.size(); ++leaf) {
      first_of_leaf.push_back(static_cast<u32>(begins.size()));
      for (u64 at = leaf_begins[leaf]; at < leaf_begins[leaf + 1]; at += block_rows) {
        begins.push_back(static_cast<u32>(at));
      }
    }
    const auto blocks = static_cast<u32>(begins.size());
    first_of_leaf.push_back(blocks);
    begins.push_back(static_cast<u32>(leaf_begins.back()));
    for (u32 block = 0; block < blocks; block += group_blocks) partition_begins.push_back(block);
    partition_begins.push_back(blocks);
  }
};

/// Writes blocks of a table from rows of a leaf.
template <class T>
class block_writer {
 public:
  explicit block_writer(const unfinished_table& made)
      : of_(&made.storage->layout),
        extremes_(made.table, of_->of_blocks, of_->columns),
        ids_(made.part<u32>(of_->ids)),
        values_(made.part<T>(of_->values)),
        stride_(square<T>::padded(of_->columns)) {}

  /// Values from a row to the next.
  [[nodiscard]] std::size_t stride() const { return stride_; }

  /// Block b, which begins at `begin`: rows `order` of those at `from`, with their numbers.
  void operator()(u64 b, u64 begin, std::span<const u32> order, const T* from, const u32* from_ids) const {
    u32 first_id = ~u32{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const u32 id = from_ids[order[i]];
      ids_[begin + i] = id;
      first_id = id < first_id ? id : first_id;
    }
    extremes_.begin(b);
    extremes_.add_id(b, first_id);
    if constexpr (std::is_same_v<T, float>) {
      // most blocks are full
      if (wide_ != nullptr && stride_ == wide_row && order.size() % 16 == 0) return write_wide(b, begin, order, from);
    }
    for (std::size_t j = 0; j < stride_; j += side) write_columns(b, begin, order, from, j);
  }

 private:
  static constexpr std::size_t side = square<T>::side;
  using lanes = typename square<T>::lanes;

  void write_wide(u64 b, u64 begin, std::span<const u32> order, const float* from) const {
    row_extremes found;
    std::fill(std::begin(found.least), std::end(found.least), range_of_values<float>::none_least);
    std::fill(std::begin(found.most), std::end(found.most), range_of_values<float>::none_most);
    wide_->write_columns(from, order.data(), order.size(), values_ + begin, of_->row_stride, of_->columns, found);
    for (std::size_t j = 0; j < of_->columns; ++j) {
      extremes_.set(b, j, {found.most[j], found.least[j], found.has_nan[j]});
    }
  }
  /// As many columns as a register has lanes.
  void write_columns(u64 b, u64 begin, std::span<const u32> order, const T* from, std::size_t j) const {
    T behind[most_block_rows];  // what stands behind the last column
    T* to[side];
    for (std::size_t s = 0; s < side; ++s) {
      to[s] = j + s < of_->columns ? values_ + (j + s) * of_->row_stride + begin : behind;
    }
    lanes most = lanes{} + range_of_values<T>::none_most;
    lanes least = lanes{} + range_of_values<T>::none_least;
    lanes other{};  // a value that differs from itself, if there is one
    const auto add = [&](lanes value) {
      most = value > most ? value : most;
      least = value < least ? value : least;
      if constexpr (std::is_floating_point_v<T>) other = value == value ? other : value;
    };
    std::size_t i = 0;
    for (; i + side <= order.size(); i += side) {
      const T* rows[side];
      T* column[side];
      for (std::size_t s = 0; s < side; ++s) {
        rows[s] = from + order[i + s] * stride_ + j;
        column[s] = to[s] + i;
        add(square<T>::load(rows[s]));
      }
      square<T>::transpose(rows, column);
    }
    for (; i < order.size(); ++i) {
      const lanes value = square<T>::load(from + order[i] * stride_ + j);
      add(value);
      for (std::size_t s = 0; s < side; ++s) to[s][i] = value[s];
    }
    for (std::size_t s = 0; s < side && j + s < of_->columns; ++s) {
      extremes_.set(b, j + s, {most[s], least[s], other[s] != other[s]});
    }
  }

  const threshold_layout* of_;
  extremes_writer<T> extremes_;
  u32* ids_;
  T* values_;
  std::size_t stride_;
  const plane_functions* wide_ = wide_planes();
};

/// What a worker needs for a leaf.
template <class T>
struct leaf_scratch {
  lower_tree<T> tree;
  std::vector<u32> ids;

  leaf_scratch(const std::vector<column_scale>& scales, u32 block_rows) : tree(scales, block_rows) {}

  /// Memory for so many values, row by row, from the beginning of a cache line on: rows lie in as few as they can.
  [[nodiscard]] T* values(std::size_t count) {
    constexpr std::size_t line = 64;
    if (memory_.size() < count + line / sizeof(T)) memory_.resize(count + line / sizeof(T));
    const auto past = reinterpret_cast<std::uintptr_t>(memory_.data()) % line;
    return memory_.data() + (line - past) % line / sizeof(T);
  }

 private:
  std::vector<T> memory_;
};

}  // namespace

template <class T>
std::shared_ptr<table_storage> build_clusters(const input_columns<T>& input, u32 block_rows, int workers) {
  // a leaf has one block that is not full; with many leaves finding them and moving rows there misses caches, and most
  // leaves are to have few enough rows for planes
  const std::size_t leaf_rows = std::max(std::clamp<std::size_t>(input.rows / 128, 16384, most_plane_rows / 4 * 3),
                                         std::size_t{128} * block_rows);
  const auto levels =
      std::min(static_cast<unsigned>(std::bit_width(input.rows / leaf_rows)), upper_tree<T>::most_levels);
  const upper_tree<T> upper(input, levels);
  const auto memory = host_memory(input.rows * sizeof(u32), "threshold table");
  auto* const numbers = reinterpret_cast<u32*>(memory.data.get());  // a place's position
  // until rows are moved, the leaves of rows
  auto* const leaf_of = reinterpret_cast<typename row_grouping<T>::leaf_number*>(memory.data.get());
  row_grouping<T> leaves(input, upper, leaf_of, workers);
  const block_places blocks(leaves.begins(), block_rows);
  const std::size_t columns = input.column.size();
  const unfinished_table made(
      key_type_of<T>,
      {columns, input.rows, input.rows, blocks.begins.size() - 1, blocks.partition_begins.size() - 1, block_rows},
      blocks.begins, blocks.partition_begins);
  const auto& of = made.storage->layout;
  auto* const values = made.part<T>(of.values);
  auto* const ids = made.part<u32>(of.ids);
  auto* const positions = made.part<u32>(of.positions);
  leaves.move(values, of.row_stride, ids, positions, workers);

  const block_writer<T> write_block(made);
  std::vector<leaf_scratch<T>> of_workers(static_cast<std::size_t>(workers),
                                          leaf_scratch<T>(upper.scales(), block_rows));
  share_out(workers, upper.leaves(), [&](int worker, u64 leaf) {
    auto& with = of_workers[static_cast<std::size_t>(worker)];
    const u64 first = leaves.begins()[leaf];
    const u64 count = leaves.begins()[leaf + 1] - first;
    if (count == 0) return;
    with.ids.assign(ids + first, ids + first + count);
    T* const rows = with.values(count * write_block.stride());
    leaves.copy_leaf(leaf, values, of.row_stride, rows);
    const auto order = with.tree.order(rows, static_cast<u32>(count));
    for (u64 i = 0; i < count; ++i) numbers[first + order[i]] = static_cast<u32>(first + i);
    for (u32 b = blocks.first_of_leaf[leaf]; b < blocks.first_of_leaf[leaf + 1]; ++b) {
      const u64 begin = blocks.begins[b];
      write_block(b, begin, order.subspan(begin - first, blocks.begins[b + 1] - begin), rows, with.ids.data());
    }
  });
  constexpr u64 piece = u64{1} << 16;
  share_out(workers, (input.rows + piece - 1) / piece, [&](int, u64 taken) {
    const u64 end = std::min<u64>(input.rows, (taken + 1) * piece);
    for (u64 i = taken * piece; i < end; ++i) positions[i] = numbers[positions[i]];
  });
  write_directory<T>(made.table, of, workers);
  draw_sample<T>(*made.storage);
  return made.storage;
}

#define ZENITH_CLUSTERS_OF(T) \
  template std::shared_ptr<table_storage> build_clusters(const input_columns<T>& input, u32 block_rows, int workers);
ZENITH_CLUSTERS_OF(float)
ZENITH_CLUSTERS_OF(double)
ZENITH_CLUSTERS_OF(std::int32_t)
ZENITH_CLUSTERS_OF(u32)
#undef ZENITH_CLUSTERS_OF

}  // namespace zenith::detail

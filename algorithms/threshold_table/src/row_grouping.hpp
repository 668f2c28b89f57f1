#pragma once

/// \file
/// Rows by the leaves of the upper tree, in the memory of the table that is made of them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <algorithms/threshold_table/src/code_planes.hpp>
#include <algorithms/threshold_table/src/transpose.hpp>
#include <algorithms/threshold_table/src/upper_tree.hpp>
#include <core/workers.hpp>

namespace zenith::detail {

/// Finds the leaves of all rows, and moves the rows there: leaf by leaf, and in a leaf by rising number. The result
/// does not depend on the number of workers.
///
/// Until a leaf is written as blocks its rows stand one after another in the memory of its columns: in that of each
/// column an equal part of them, and the few that are left over in memory of their own.
template <class T>
class row_grouping {
 public:
  using leaf_number = typename upper_tree<T>::leaf_number;

  /// Writes each row's leaf to `leaf_of`. Reads the data once.
  row_grouping(const input_columns<T>& input, const upper_tree<T>& tree, leaf_number* leaf_of, int workers)
      : input_(&input),
        leaves_(tree.leaves()),
        chunk_rows_(rows_of_a_chunk(input.rows)),
        chunks_((input.rows + chunk_rows_ - 1) / chunk_rows_),
        leaf_of_(leaf_of),
        next_(chunks_ * leaves_),
        begins_(leaves_ + 1),
        spare_begins_(leaves_ + 1) {
    std::vector<typename upper_tree<T>::finder> finders(static_cast<std::size_t>(workers),
                                                        typename upper_tree<T>::finder(tree));
    share_out(workers, chunks_, [&](int worker, u64 chunk) {
      const auto rows = rows_of(chunk);
      finders[static_cast<std::size_t>(worker)](input, rows.first, rows.count, leaf_of + rows.first);
      u32* const counts = next_.data() + chunk * leaves_;
      for (u64 i = rows.first; i < rows.first + rows.count; ++i) ++counts[leaf_of[i]];
    });
    // from counts to the places of each chunk's first rows, relative to the leaf's first
    std::vector<u32> sums(leaves_);
    for (u64 chunk = 0; chunk < chunks_; ++chunk) {
      u32* const of_chunk = next_.data() + chunk * leaves_;
      for (u64 leaf = 0; leaf < leaves_; ++leaf) {
        const u32 count = of_chunk[leaf];
        of_chunk[leaf] = sums[leaf];
        sums[leaf] += count;
      }
    }
    for (u64 leaf = 0; leaf < leaves_; ++leaf) {
      begins_[leaf + 1] = begins_[leaf] + sums[leaf];
      spare_begins_[leaf + 1] = spare_begins_[leaf] + sums[leaf] - part_of(leaf) * columns();
    }
    spare_.resize(spare_begins_.back() * columns());
  }

  /// Where leaves begin among all rows, and the end.
  [[nodiscard]] std::span<const std::uint64_t> begins() const { return begins_; }

  /// Copies the rows to the memory of their leaves in columns at `values`, `stride` apart, and their numbers to `ids`;
  /// writes each row's place to `positions`. Reads the data once.
  void move(T* values, std::uint64_t stride, std::uint32_t* ids, std::uint32_t* positions, int workers) {
    std::vector<std::vector<leaf_end>> of_workers(static_cast<std::size_t>(workers));
    share_out(workers, chunks_, [&](int worker, u64 chunk) {
      auto& ends = of_workers[static_cast<std::size_t>(worker)];
      ends.resize(leaves_);
      const u32* const first = next_.data() + chunk * leaves_;
      for (u64 leaf = 0; leaf < leaves_; ++leaf) {
        ends[leaf].place = static_cast<u32>(begins_[leaf]) + first[leaf];
        enter(ends[leaf], leaf, values, stride);
      }
      move_rows({values, stride, ids, positions, ends.data()}, rows_of(chunk));
    });
  }
  /// Writes the rows of a moved leaf one after another, of columns() values and what repeats the last one to fill up a
  /// register.
  void copy_leaf(std::uint64_t leaf, const T* values, std::uint64_t stride, T* to) const {
    const u64 part = part_of(leaf);
    if (part > 0) {
      for (std::size_t j = 0; j < columns(); ++j, to += part * square<T>::padded(columns())) {
        copy_rows(values + j * stride + front_of(leaf), part, to);
      }
    }
    copy_rows(spare_.data() + spare_begins_[leaf] * columns(), spare_begins_[leaf + 1] - spare_begins_[leaf], to);
  }

 private:
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;

  struct row_range {
    u64 first;
    u64 count;
  };

  /// Where a leaf's next row goes.
  struct leaf_end {
    T* to;
    u32 left;  ///< rows until `to` is elsewhere
    u32 place;
  };
  struct destination {
    T* values;
    u64 stride;
    u32* ids;
    u32* positions;
    leaf_end* ends;
  };

  [[nodiscard]] std::size_t columns() const { return input_->column.size(); }
  /// Where the first of a leaf's rows stands in the memory of each column: no row is to lie in more lines than it must.
  [[nodiscard]] u64 front_of(u64 leaf) const { return (begins_[leaf] + line - 1) / line * line; }
  /// How many rows of a leaf stand in the memory of each column.
  [[nodiscard]] u64 part_of(u64 leaf) const {
    const u64 end = begins_[leaf + 1];
    return end > front_of(leaf) ? (end - front_of(leaf)) / columns() : 0;
  }
  void enter(leaf_end& end, u64 leaf, T* values, u64 stride) {
    const u64 row = end.place - begins_[leaf];
    const u64 part = part_of(leaf);
    if (row < part * columns()) {
      end.to = values + row / part * stride + front_of(leaf) + row % part * columns();
      end.left = static_cast<u32>(part - row % part);
    } else {
      end.to = spare_.data() + (spare_begins_[leaf] + row - part * columns()) * columns();
      end.left = ~u32{0};
    }
  }
  static constexpr u64 line = 64 / sizeof(T);  ///< values of a cache line
  static constexpr std::size_t batch = 64;     ///< rows that find their places together

  /// Where rows first … first + count - 1 go.
  void take(const destination& of, u64 first, std::size_t count, T** rows) {
    const destination to = of;
    const std::size_t width = columns();
    const leaf_number* const leaf_of = leaf_of_ + first;
    for (std::size_t i = 0; i < count; ++i) {
      auto& end = to.ends[leaf_of[i]];
      T* const here = end.to;
      const u32 place = end.place;
      rows[i] = here;
      end.to = here + width;
      end.place = place + 1;
      // what the leaf's rows after this one overwrite is on its way meanwhile
      __builtin_prefetch(here + 64 / sizeof(T) + width - 1, 1);
      __builtin_prefetch(to.ids + place + 64 / sizeof(u32), 1);
      to.ids[place] = static_cast<u32>(first + i);
      to.positions[first + i] = place;
      if (--end.left == 0) enter(end, leaf_of[i], to.values, to.stride);
    }
  }
  void move_rows(const destination& to, row_range range) {
    constexpr std::size_t side = square<T>::side;
    const std::size_t width = columns();
    const u64 end = range.first + range.count;
    T* rows[batch];
    for (u64 first = range.first; first < end; first += batch) {
      const auto count = std::min<std::size_t>(batch, end - first);
      input_->ask_for(first + batch, batch);
      take(to, first, count, rows);
      std::size_t j = 0;
      if constexpr (std::is_same_v<T, float>) {
        if (wide_ != nullptr && width == wide_row && input_->stride == 1 && count == batch) {
          const float* from[wide_row];
          for (; j < width; ++j) from[j] = input_->column[j] + first;
          wide_->write_rows(from, batch, rows);
        }
      }
      if (input_->stride == 1 && count == batch) {
        for (; j + side <= width; j += side) {
          const T* from[side];
          for (std::size_t s = 0; s < side; ++s) from[s] = input_->column[j + s] + first;
          for (std::size_t i = 0; i < batch; i += side) {
            const T* here[side];
            T* row[side];
            for (std::size_t s = 0; s < side; ++s) {
              here[s] = from[s] + i;
              row[s] = rows[i + s] + j;
            }
            square<T>::transpose(here, row);
          }
        }
      }
      for (; j < width; ++j) {
        for (std::size_t i = 0; i < count; ++i) rows[i][j] = input_->at(j, first + i);
      }
    }
  }
  void copy_rows(const T* from, u64 rows, T* to) const {
    const std::size_t width = square<T>::padded(columns());
    if (width == columns()) {
      std::copy_n(from, rows * width, to);
      return;
    }
    for (u64 i = 0; i < rows; ++i) {
      std::copy_n(from + i * columns(), columns(), to + i * width);
      std::fill_n(to + i * width + columns(), width - columns(), from[i * columns() + columns() - 1]);
    }
  }

  /// Few enough chunks for a count a leaf each, and rows enough to fill a line of most leaves.
  [[nodiscard]] static u64 rows_of_a_chunk(u64 rows) {
    constexpr u64 least = u64{1} << 15;
    constexpr u64 run = upper_tree<T>::run_rows;
    return std::max(least, (rows / 256 + run - 1) / run * run);
  }
  [[nodiscard]] row_range rows_of(u64 chunk) const {
    const u64 first = chunk * chunk_rows_;
    return {first, std::min(chunk_rows_, input_->rows - first)};
  }

  const input_columns<T>* input_;
  u64 leaves_;
  u64 chunk_rows_;
  u64 chunks_;
  const leaf_number* leaf_of_;
  std::vector<u32> next_;
  std::vector<u64> begins_;
  std::vector<u64> spare_begins_;
  std::vector<T> spare_;
  const plane_functions* wide_ = wide_planes();
};

}  // namespace zenith::detail

#pragma once

/// \file
/// Rows by the leaves of the upper tree, in the memory of the table that is made of them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <algorithms/threshold_table/src/transpose.hpp>
#include <algorithms/threshold_table/src/upper_tree.hpp>
#include <core/workers.hpp>

namespace zenith::detail {

/// Finds the leaves of all rows, and moves the rows there: leaf by leaf, and in a leaf by rising number. The result
/// does not depend on the number of workers.
template <class T>
class row_grouping {
 public:
  /// Writes each row's leaf to `leaf_of`. Reads the data once.
  row_grouping(const input_columns<T>& input, const upper_tree<T>& tree, std::uint32_t* leaf_of, int workers)
      : input_(&input),
        leaves_(tree.leaves()),
        chunk_rows_(rows_of_a_chunk(input.rows)),
        chunks_((input.rows + chunk_rows_ - 1) / chunk_rows_),
        leaf_of_(leaf_of),
        next_(chunks_ * leaves_),
        begins_(leaves_ + 1) {
    std::vector<typename upper_tree<T>::finder> finders(static_cast<std::size_t>(workers),
                                                        typename upper_tree<T>::finder(tree));
    share_out(workers, chunks_, [&](int worker, u64 chunk) {
      const auto rows = rows_of(chunk);
      finders[static_cast<std::size_t>(worker)](input, rows.first, rows.count, leaf_of + rows.first);
      u32* const counts = next_.data() + chunk * leaves_;
      for (u64 i = rows.first; i < rows.first + rows.count; ++i) ++counts[leaf_of[i]];
    });
    u64 sum = 0;
    for (u64 leaf = 0; leaf < leaves_; ++leaf) {
      begins_[leaf] = sum;
      for (u64 chunk = 0; chunk < chunks_; ++chunk) {
        u32& place = next_[chunk * leaves_ + leaf];
        const u32 count = place;
        place = static_cast<u32>(sum);
        sum += count;
      }
    }
    begins_.back() = sum;
  }

  /// Where leaves begin among all rows, and the end.
  [[nodiscard]] std::span<const std::uint64_t> begins() const { return begins_; }

  /// Copies the rows to their places, once: column j to `values` + j * stride, and their numbers to `ids`; writes each
  /// row's place to `positions`. Reads the data once.
  void move(T* values, std::uint64_t stride, std::uint32_t* ids, std::uint32_t* positions, int workers) {
    const u64 piece = rows_of_a_piece();
    std::vector<sorted_piece> pieces(static_cast<std::size_t>(workers));
    share_out(workers, chunks_, [&](int worker, u64 chunk) {
      auto& with = pieces[static_cast<std::size_t>(worker)];
      with.make_room(std::min(piece, input_->rows), square<T>::padded(input_->column.size()), leaves_);
      const auto rows = rows_of(chunk);
      for (u64 done = 0; done < rows.count; done += piece) {
        const row_range some{rows.first + done, std::min(piece, rows.count - done)};
        sort(with, some);
        put(with, next_.data() + chunk * leaves_, values, stride, ids);
        const u32* const leaf_of = leaf_of_ + some.first;
        for (u64 i = 0; i < some.count; ++i) positions[some.first + i] = with.places[i] + with.shifts[leaf_of[i]];
      }
    });
  }

 private:
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;

  struct row_range {
    u64 first;
    u64 count;
  };

  /// Some rows of the input, row by row, sorted by leaves: what is written to far places is several rows at a time.
  struct sorted_piece {
    std::size_t stride = 0;
    std::vector<T> values;
    std::vector<u32> places;
    std::vector<u32> ids;
    std::vector<u32> ends;    ///< of leaves
    std::vector<u32> shifts;  ///< from places here to those in the table, modulo 2^32

    void make_room(u64 rows, std::size_t of_a_row, u64 leaves) {
      if (!places.empty()) return;
      stride = of_a_row;
      values.resize(rows * stride);
      places.resize(rows);
      ids.resize(rows);
      ends.resize(leaves);
      shifts.resize(leaves);
    }
  };
  [[nodiscard]] u64 rows_of_a_piece() const {
    constexpr u64 least = u64{1} << 14;
    constexpr u64 most = u64{1} << 15;
    return std::clamp(16 * leaves_, least, most);
  }
  void sort(sorted_piece& to, row_range rows) const {
    const u32* const leaf_of = leaf_of_ + rows.first;
    std::ranges::fill(to.ends, 0U);
    for (u64 i = 0; i < rows.count; ++i) ++to.ends[leaf_of[i]];
    u32 sum = 0;
    for (u32& next : to.ends) {
      const u32 here = next;
      next = sum;
      sum += here;
    }
    for (u64 i = 0; i < rows.count; ++i) {
      const u32 place = to.ends[leaf_of[i]]++;
      to.places[i] = place;
      to.ids[place] = static_cast<u32>(rows.first + i);
    }

    constexpr std::size_t side = square<T>::side;
    const std::size_t last = input_->column.size() - 1;
    u64 i = 0;
    if (input_->stride == 1) {
      for (; i + side <= rows.count; i += side) {
        // columns are many streams in small pages: what comes is asked for
        constexpr u64 ahead = 1024 / sizeof(T);
        if (i * sizeof(T) % 64 == 0 && rows.first + i + ahead < input_->rows) {
          for (const T* column : input_->column) __builtin_prefetch(column + rows.first + i + ahead);
        }
        for (std::size_t j = 0; j < to.stride; j += side) {
          const T* from[side];
          T* row[side];
          for (std::size_t s = 0; s < side; ++s) {
            from[s] = input_->column[std::min(j + s, last)] + rows.first + i;
            row[s] = to.values.data() + to.places[i + s] * to.stride + j;
          }
          square<T>::transpose(from, row);
        }
      }
    }
    for (; i < rows.count; ++i) {
      T* const row = to.values.data() + to.places[i] * to.stride;
      for (std::size_t j = 0; j < to.stride; ++j) row[j] = input_->at(std::min(j, last), rows.first + i);
    }
  }

  /// Copies the rows of each leaf to where its next ones stand.
  void put(sorted_piece& from, u32* next, T* values, u64 stride, u32* ids) const {
    const std::size_t columns = input_->column.size();
    constexpr u64 ahead = 4;
    u64 begin = 0;
    for (u64 leaf = 0; leaf < leaves_; ++leaf) {
      if (leaf + ahead < leaves_) {
        for (std::size_t j = 0; j < columns; ++j) __builtin_prefetch(values + j * stride + next[leaf + ahead], 1);
      }
      const u64 count = from.ends[leaf] - begin;
      const u32 place = next[leaf];
      from.shifts[leaf] = place - static_cast<u32>(begin);
      if (count == 0) continue;
      rows_to_columns(from.values.data() + begin * from.stride, count, columns, values + place, stride);
      std::copy_n(from.ids.data() + begin, count, ids + place);
      next[leaf] += static_cast<u32>(count);
      begin += count;
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
  const u32* leaf_of_;
  std::vector<u32> next_;
  std::vector<u64> begins_;
};

}  // namespace zenith::detail

#pragma once

/// \file
/// The upper levels of a k-d tree, from a sample: which rows go on together.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/src/descend.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <core/key_order.hpp>

namespace zenith::detail {

/// An order of all values, NaN and both zeros too: what is equal must not be, but it is cheap.
template <class T>
[[nodiscard]] ordered::bits_t<T> rank_of(T value) {
  using bits = ordered::bits_t<T>;
  constexpr auto sign = static_cast<bits>(bits{1} << (8 * sizeof(T) - 1));
  const auto raw = std::bit_cast<bits>(value);
  if constexpr (std::is_floating_point_v<T>) {
    return raw ^ (static_cast<bits>(static_cast<std::make_signed_t<bits>>(raw) >> (8 * sizeof(T) - 1)) | sign);
  } else {
    return std::is_signed_v<T> ? raw ^ sign : raw;
  }
}

template <class T>
class upper_tree {
 public:
  using rank = ordered::bits_t<T>;

  upper_tree(const input_columns<T>& input, unsigned levels)
      : columns_(input.column.size()), levels_(levels), cuts_(std::size_t{1} << levels) {
    constexpr std::size_t samples_of_a_leaf = 32;
    const std::size_t samples = std::min(input.rows, samples_of_a_leaf << levels);
    std::vector<drawn_row> drawn(samples);
    std::vector<std::uint32_t> numbers(samples);
    for (std::size_t s = 0; s < samples; ++s) {
      numbers[s] = static_cast<std::uint32_t>(s);
      rows_.push_back(static_cast<std::uint32_t>(s * input.rows / samples));
    }
    for (std::size_t j = 0; j < columns_; ++j) {
      for (const std::uint32_t row : rows_) values_.push_back(input.at(j, row));
      scales_.push_back(scale_of(values_.data() + j * samples, samples, 1));
    }
    split(numbers, drawn, 1, 0);
  }

  [[nodiscard]] const std::vector<column_scale>& scales() const { return scales_; }
  [[nodiscard]] std::size_t leaves() const { return std::size_t{1} << levels_; }

  /// Rows whose ranks are made together.
  static constexpr std::size_t batch = 512;
  /// Rows that are equal in the column of a cut are told apart by the run of so many rows in which they stand.
  static constexpr std::size_t run_rows = 16 * batch;

  /// What a thread needs to find leaves.
  class finder {
   public:
    explicit finder(const upper_tree& tree)
        : tree_(&tree),
          limits_(std::max(tree.leaves(), wide_nodes)),
          column_of_(limits_.size()),
          ranks_(tree.columns_ * batch) {
      for (std::size_t at = 1; at < tree.leaves(); ++at) {
        column_of_[at] = static_cast<std::uint8_t>(tree.cuts_[at].column);
      }
      if (sizeof(rank) == sizeof(std::uint32_t) && tree.columns_ <= most_wide_columns) descend_ = wide_descent();
    }

    /// to[i] = the leaf of row first + i, for i < count. `first` is a multiple of run_rows.
    void operator()(const input_columns<T>& input, std::size_t first, std::size_t count, std::uint32_t* to) {
      for (std::size_t done = 0; done < count; done += batch) {
        if (done % run_rows == 0) begin_run(first + done);
        find(input, first + done, std::min(batch, count - done), to + done);
      }
    }

   private:
    void begin_run(std::size_t first) {
      for (std::size_t at = 1; at < tree_->leaves(); ++at) {
        const auto& cut = tree_->cuts_[at];
        const bool equal_go_left = first < cut.row && cut.value != std::numeric_limits<rank>::max();
        limits_[at] = static_cast<rank>(cut.value + (equal_go_left ? 1 : 0));
      }
    }
    void find(const input_columns<T>& input, std::size_t first, std::size_t count, std::uint32_t* to) {
      if (descend_ != nullptr && input.stride == 1) {
        find_wide(input, first, count, to);
      } else {
        find_together(input, first, count, to);
      }
    }
    /// Upper levels in wide registers, the others one after another.
    void find_wide(const input_columns<T>& input, std::size_t first, std::size_t count, std::uint32_t* to) {
      if constexpr (sizeof(rank) == sizeof(std::uint32_t)) {
        constexpr auto form = std::is_floating_point_v<T> ? rank_form::real
                              : std::is_signed_v<T>       ? rank_form::integer
                                                          : rank_form::bits;
        const unsigned levels = tree_->levels_;
        std::array<const void*, most_wide_columns> values{};
        std::copy(input.column.begin(), input.column.end(), values.begin());
        descend_({limits_.data(), column_of_.data(), levels, form}, values.data(), tree_->columns_, first, count, to);
        for (std::size_t i = 0; i < count; ++i) {
          std::uint32_t at = to[i];
          for (unsigned level = most_wide_levels; level < levels; ++level) {
            at = 2 * at + (rank_of(input.column[column_of_[at]][first + i]) >= limits_[at] ? 1U : 0U);
          }
          to[i] = at - static_cast<std::uint32_t>(tree_->leaves());
        }
      }
    }
    void find_together(const input_columns<T>& input, std::size_t first, std::size_t count, std::uint32_t* to) {
      for (std::size_t j = 0; j < tree_->columns_; ++j) {
        rank* const column = ranks_.data() + j * batch;
        if (input.stride == 1) {
          const T* const values = input.column[j] + first;
          for (std::size_t i = 0; i < count; ++i) column[i] = rank_of(values[i]);
        } else {
          for (std::size_t i = 0; i < count; ++i) column[i] = rank_of(input.at(j, first + i));
        }
      }
      // some rows at a time, so that their loads overlap; what lies behind the last row is of no use
      constexpr std::size_t together = 8;
      const rank* const limits = limits_.data();
      const std::uint8_t* const column_of = column_of_.data();
      const std::size_t ahead = std::min(input.rows, first + 2 * batch) - std::min(input.rows, first + batch);
      for (std::size_t begin = 0; begin < count; begin += together) {
        const rank* const ranks = ranks_.data() + begin;
        std::uint32_t at[together];
        for (auto& one : at) one = 1;
        // the next batch is on its way meanwhile
        if (input.stride == 1 && begin * sizeof(T) % 64 == 0 && begin < ahead) {
          for (std::size_t j = 0; j < tree_->columns_; ++j) __builtin_prefetch(input.column[j] + first + batch + begin);
        }
        for (unsigned level = 0; level < tree_->levels_; ++level) {
          for (std::size_t i = 0; i < together; ++i) {
            const std::size_t column = column_of[at[i]] * batch;
            at[i] = 2 * at[i] + static_cast<std::uint32_t>(ranks[column + i] >= limits[at[i]]);
          }
        }
        const std::size_t some = std::min(together, count - begin);
        for (std::size_t i = 0; i < some; ++i) to[begin + i] = at[i] - static_cast<std::uint32_t>(tree_->leaves());
      }
    }

    const upper_tree* tree_;
    std::vector<rank> limits_;             ///< of nodes: what is not below it goes right
    std::vector<std::uint8_t> column_of_;  ///< of nodes
    std::vector<rank> ranks_;              ///< of the batch's rows, column by column
    descent descend_ = nullptr;
  };

 private:
  using drawn_row = std::pair<rank, std::uint32_t>;

  struct cut {
    rank value = 0;
    std::uint32_t row = 0;  ///< equal ones in runs before it go left
    std::uint32_t column = 0;
  };

  /// The column in which sampled rows differ most.
  [[nodiscard]] std::size_t widest_column(std::span<const std::uint32_t> numbers) const {
    constexpr std::size_t most_looked_at = 64;
    const std::size_t looked_at = std::min(numbers.size(), most_looked_at);
    std::size_t widest = 0;
    double extent = -1;
    for (std::size_t j = 0; j < columns_; ++j) {
      const T* const values = values_.data() + j * rows_.size();
      double least = 1;
      double most = 0;
      for (std::size_t s = 0; s < looked_at; ++s) {
        const double x = scales_[j](static_cast<double>(values[numbers[s * numbers.size() / looked_at]]));
        least = std::min(least, x);
        most = std::max(most, x);
      }
      if (most - least > extent) {
        extent = most - least;
        widest = j;
      }
    }
    return widest;
  }
  void split(std::span<std::uint32_t> numbers, std::span<drawn_row> drawn, std::size_t at, unsigned level) {
    if (level == levels_) return;
    const std::size_t column = widest_column(numbers);
    const T* const values = values_.data() + column * rows_.size();
    // the number of a sampled row tells equal values apart as the row does
    for (std::size_t i = 0; i < numbers.size(); ++i) drawn[i] = {rank_of(values[numbers[i]]), numbers[i]};
    const std::size_t middle = numbers.size() / 2;
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(middle), drawn.end());
    cuts_[at] = {drawn[middle].first, rows_[drawn[middle].second], static_cast<std::uint32_t>(column)};
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = drawn[i].second;
    split(numbers.first(middle), drawn.first(middle), 2 * at, level + 1);
    split(numbers.subspan(middle), drawn.subspan(middle), 2 * at + 1, level + 1);
  }

  std::size_t columns_;
  unsigned levels_;
  std::vector<cut> cuts_;
  std::vector<std::uint32_t> rows_;  ///< sampled
  std::vector<T> values_;            ///< theirs, column by column
  std::vector<column_scale> scales_;
};

}  // namespace zenith::detail

#pragma once

/// \file
/// The lower levels of a k-d tree: some thousand rows, which fit a cache, cut into full blocks and one that may be
/// less.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <algorithms/threshold_table/src/part_keys.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <algorithms/threshold_table/src/transpose.hpp>

namespace zenith::detail {

/// Brings the smallest `rank` of distinct keys to the front, as std::nth_element does. Pivots on both sides of the rank
/// come from a sample; one pass without branches on the keys leaves few between them.
class rank_splitter {
 public:
  using key = std::uint64_t;

  void split(std::span<key> keys, std::size_t rank) {
    while (keys.size() > few_keys) {
      const auto [low, high] = pivots(keys, rank);
      const auto [below, between] = part(keys, low, high);
      if (rank < below) {
        keys = keys.first(below);
      } else if (rank < below + between) {
        keys = keys.subspan(below, between);
        rank -= below;
      } else {
        keys = keys.subspan(below + between);
        rank -= below + between;
      }
    }
    if (rank == 0 || rank >= keys.size()) return;
    const key limit = key_of_rank_(keys.data(), keys.size(), rank);
    (void)part(keys, limit, limit);
  }

 private:
  struct pivot_pair {
    key low;   ///< what is below it comes first
    key high;  ///< what is not below it comes last
  };
  [[nodiscard]] static pivot_pair pivots(std::span<const key> keys, std::size_t rank) {
    constexpr std::size_t most = 64;
    std::array<key, most> sample;
    const std::size_t drawn = std::clamp<std::size_t>(keys.size() / 32, 12, most);
    for (std::size_t s = 0; s < drawn; ++s) sample[s] = keys[s * keys.size() / drawn];
    std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(drawn));
    const std::size_t at = rank * drawn / keys.size();
    const std::size_t margin = drawn / 10 + 1;
    return {sample[at > margin ? at - margin : 0],
            at + margin < drawn ? sample[at + margin] : std::numeric_limits<key>::max()};
  }
  [[nodiscard]] part_sizes part(std::span<key> keys, key low, key high) {
    if (between_.size() < keys.size() + part_spare) {
      between_.resize(keys.size() + part_spare);
      above_.resize(keys.size() + part_spare);
    }
    return part_keys_(keys.data(), keys.size(), low, high, between_.data(), above_.data());
  }

  part_function part_keys_ = part_functions().front();
  rank_function key_of_rank_ = rank_functions().front();
  std::vector<key> between_;
  std::vector<key> above_;
};

/// Cuts leaves of the upper tree at medians of the widest column. Rows are told apart by coordinates: floats that keep
/// the order of a column's values, as fine as the leaf needs, and comparable between columns. Rows that are equal in
/// the column of a cut are told apart by their place.
template <class T>
class lower_tree {
 public:
  lower_tree(const std::vector<column_scale>& scales, std::uint32_t block_rows)
      : columns_(scales.size()), stride_(square<T>::padded(columns_)), block_rows_(block_rows), factors_(stride_) {
    for (std::size_t j = 0; j < columns_; ++j) {
      const double extent = scales[j].most - scales[j].least;
      factors_[j] = static_cast<real>(extent > 0 ? 1 / extent : 0);
    }
  }

  /// `values`: rows one after another, of so many, each of the columns and what fills up a register. The low half of
  /// element i is the row that comes i-th.
  [[nodiscard]] std::span<const std::uint64_t> order(const T* values, std::uint32_t rows) {
    place(values, rows);
    keys_.resize(rows);
    for (std::uint32_t i = 0; i < rows; ++i) keys_[i] = i;
    split(keys_);
    return keys_;
  }

 private:
  // a float's differences are as fine as they need be; the others' are exact in double
  using real = std::conditional_t<std::is_same_v<T, float>, float, double>;

  static constexpr std::size_t side = square<T>::side;

  void place(const T* values, std::uint32_t rows) {
    coordinates_.resize(rows * stride_);
    for (std::size_t j = 0; j < stride_; j += side) place_columns(values + j, rows, j);
  }
  /// As many columns as a register has lanes.
  void place_columns(const T* values, std::uint32_t rows, std::size_t j) {
    constexpr real lowest = std::numeric_limits<real>::lowest();
    real from[side];
    real factors[side];
    for (std::size_t s = 0; s < side; ++s) {
      from[s] = std::numeric_limits<real>::max();
      factors[s] = factors_[j + s];
    }
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::size_t s = 0; s < side; ++s) {
        const auto value = static_cast<real>(values[i * stride_ + s]);
        from[s] = value < from[s] ? value : from[s];
      }
    }
    for (auto& one : from) one = one < lowest ? lowest : one;
    float* const to = coordinates_.data() + j;
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::size_t s = 0; s < side; ++s) {
        const auto value = static_cast<real>(values[i * stride_ + s]);
        const auto coordinate = static_cast<float>((value - from[s]) * factors[s]);
        to[i * stride_ + s] = coordinate > 0 ? coordinate : 0;  // NaN and -infinity are 0, and so is -0
      }
    }
  }

  void split(std::span<std::uint64_t> part) {
    if (part.size() <= block_rows_) return;
    const std::size_t column = widest_column(part);
    for (auto& one : part) {
      const auto row = static_cast<std::uint32_t>(one);
      one = std::uint64_t{std::bit_cast<std::uint32_t>(coordinates_[row * stride_ + column])} << 32 | row;
    }
    const std::size_t blocks = (part.size() + block_rows_ - 1) / block_rows_;
    const std::size_t middle = blocks / 2 * block_rows_;
    splitter_.split(part, middle);
    split(part.first(middle));
    split(part.subspan(middle));
  }

  /// The column in which some of the rows differ most.
  [[nodiscard]] std::size_t widest_column(std::span<const std::uint64_t> part) const {
    constexpr std::size_t most_looked_at = 64;
    const std::size_t looked_at = std::min(part.size(), most_looked_at);
    const float* rows[most_looked_at];
    for (std::size_t s = 0; s < looked_at; ++s) {
      rows[s] = coordinates_.data() + static_cast<std::uint32_t>(part[s * part.size() / looked_at]) * stride_;
    }
    std::size_t widest = 0;
    float extent = -1;
    for (std::size_t j = 0; j < stride_; j += side) {
      float least[side];
      float most[side];
      for (std::size_t s = 0; s < side; ++s) least[s] = most[s] = rows[0][j + s];
      for (std::size_t i = 1; i < looked_at; ++i) {
        for (std::size_t s = 0; s < side; ++s) {
          const float value = rows[i][j + s];
          least[s] = value < least[s] ? value : least[s];
          most[s] = value > most[s] ? value : most[s];
        }
      }
      for (std::size_t s = 0; s < side && j + s < columns_; ++s) {
        if (!(most[s] - least[s] > extent)) continue;
        extent = most[s] - least[s];
        widest = j + s;
      }
    }
    return widest;
  }

  std::size_t columns_;
  std::size_t stride_;
  std::uint32_t block_rows_;
  std::vector<real> factors_;
  std::vector<float> coordinates_;  ///< row by row
  std::vector<std::uint64_t> keys_;
  rank_splitter splitter_;
};

}  // namespace zenith::detail

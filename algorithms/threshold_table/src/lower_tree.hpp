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

#include <algorithms/threshold_table/src/storage.hpp>

namespace zenith::detail {

/// Brings the smallest `rank` of distinct keys to the front, as std::nth_element does. Pivots on both sides of the rank
/// come from a sample; one pass without branches on the keys leaves few between them.
class rank_splitter {
 public:
  using key = std::uint64_t;

  void split(std::span<key> keys, std::size_t rank) {
    constexpr std::size_t few = 48;
    while (keys.size() > few) {
      const auto [low, high] = pivots(keys, rank);
      const auto [below, between] = part(keys, low, high);
      if (rank < below) {
        keys = keys.first(below);
      } else if (rank < below + between) {
        keys = keys.subspan(below, between);
        rank -= below;
        break;
      } else {
        keys = keys.subspan(below + between);
        rank -= below + between;
      }
    }
    if (rank < keys.size()) {
      std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(rank), keys.end());
    }
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
  struct part_sizes {
    std::size_t below;
    std::size_t between;
  };
  [[nodiscard]] part_sizes part(std::span<key> keys, key low, key high) {
    if (between_.size() < keys.size() + 1) {
      between_.resize(keys.size() + 1);
      above_.resize(keys.size() + 1);
    }
    std::size_t below = 0;
    std::size_t between = 0;
    std::size_t above = 0;
    for (const key one : keys) {
      keys[below] = one;
      between_[between] = one;
      above_[above] = one;
      const bool is_below = one < low;
      const bool is_above = one >= high;
      below += is_below ? 1 : 0;
      above += is_above ? 1 : 0;
      between += is_below || is_above ? 0 : 1;
    }
    std::copy_n(between_.begin(), between, keys.begin() + static_cast<std::ptrdiff_t>(below));
    std::copy_n(above_.begin(), above, keys.begin() + static_cast<std::ptrdiff_t>(below + between));
    return {below, between};
  }

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
      : columns_(scales.size()), block_rows_(block_rows), from_(scales.size()) {
    for (const auto& one : scales) {
      const double extent = one.most - one.least;
      factors_.push_back(static_cast<real>(extent > 0 ? 1 / extent : 0));
    }
  }

  /// `values`: rows one after another, of so many. The low half of element i is the row that comes i-th.
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

  void place(const T* values, std::uint32_t rows) {
    std::ranges::fill(from_, std::numeric_limits<real>::max());
    for (std::uint32_t i = 0; i < rows; ++i) {
      const T* const row = values + i * columns_;
      for (std::size_t j = 0; j < columns_; ++j) {
        const auto value = static_cast<real>(row[j]);
        from_[j] = value < from_[j] ? value : from_[j];
      }
    }
    constexpr real lowest = std::numeric_limits<real>::lowest();
    for (auto& one : from_) one = one < lowest ? lowest : one;
    coordinates_.resize(rows * columns_);
    for (std::uint32_t i = 0; i < rows; ++i) {
      const T* const row = values + i * columns_;
      float* const to = coordinates_.data() + i * columns_;
      for (std::size_t j = 0; j < columns_; ++j) {
        const auto coordinate = static_cast<float>((static_cast<real>(row[j]) - from_[j]) * factors_[j]);
        to[j] = coordinate > 0 ? coordinate : 0;  // NaN and -infinity are 0, and so is -0
      }
    }
  }

  void split(std::span<std::uint64_t> part) {
    if (part.size() <= block_rows_) return;
    const std::size_t column = widest_column(part);
    for (auto& one : part) {
      const auto row = static_cast<std::uint32_t>(one);
      one = std::uint64_t{std::bit_cast<std::uint32_t>(coordinates_[row * columns_ + column])} << 32 | row;
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
    float least[most_table_columns];
    float most[most_table_columns];
    for (std::size_t j = 0; j < columns_; ++j) {
      least[j] = std::numeric_limits<float>::infinity();
      most[j] = 0;
    }
    for (std::size_t s = 0; s < looked_at; ++s) {
      const float* const row =
          coordinates_.data() + static_cast<std::uint32_t>(part[s * part.size() / looked_at]) * columns_;
      for (std::size_t j = 0; j < columns_; ++j) {
        least[j] = row[j] < least[j] ? row[j] : least[j];
        most[j] = row[j] > most[j] ? row[j] : most[j];
      }
    }
    std::size_t widest = 0;
    float extent = -1;
    for (std::size_t j = 0; j < columns_; ++j) {
      if (!(most[j] - least[j] > extent)) continue;
      extent = most[j] - least[j];
      widest = j;
    }
    return widest;
  }

  std::size_t columns_;
  std::uint32_t block_rows_;
  std::vector<real> from_;
  std::vector<real> factors_;
  std::vector<float> coordinates_;  ///< row by row
  std::vector<std::uint64_t> keys_;
  rank_splitter splitter_;
};

}  // namespace zenith::detail

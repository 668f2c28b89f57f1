#pragma once

/// \file
/// The upper levels of a k-d tree, from a sample: which rows go on together.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <algorithms/threshold_table/src/descend.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <core/key_order.hpp>

namespace zenith::detail {

/// Codes of a column's values, which tell most of them apart.
template <class T>
class column_codes {
 public:
  /// From some of a sample's values.
  explicit column_codes(std::span<const T> drawn) {
    constexpr std::size_t most = 2048;
    std::vector<T> sample(std::min(drawn.size(), most));
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = drawn[i * drawn.size() / sample.size()];
    coding_ = fit(sample, false);
    auto pairs = pairs_with_one_code(sample);
    if constexpr (std::is_floating_point_v<T>) {
      // values of many magnitudes have few codes of equal steps
      const auto by_values = std::exchange(coding_, fit(sample, true));
      const auto pairs_by_bits = pairs_with_one_code(sample);
      if (pairs > 2 * pairs_by_bits) {
        pairs = pairs_by_bits;
      } else {
        coding_ = by_values;
      }
    }
    // what clusters far apart have in common takes a search for each value, and is for the worst data alone
    take_quantiles(sample);
    if (pairs <= 8 * pairs_with_one_code(sample)) quantiles_.clear();
  }

  [[nodiscard]] std::uint8_t operator()(T value) const {
    if (!quantiles_.empty()) return code_by_quantiles(value);
    return code_of(coding_.of_bits ? real_of<true>(value) : real_of<false>(value), coding_);
  }
  /// to[i] = the code of from[i]. Writes whole registers of 64 codes.
  void operator()(const T* from, std::size_t count, std::uint8_t* to) const {
    if (!quantiles_.empty()) {
      for (std::size_t i = 0; i < count; ++i) to[i] = code_by_quantiles(from[i]);
      return;
    }
    if constexpr (std::is_same_v<T, float>) {
      static const float_coding wide = wide_coding();
      if (wide != nullptr) return wide(from, count, coding_, to);
    }
    if (coding_.of_bits) {
      for (std::size_t i = 0; i < count; ++i) to[i] = code_of(real_of<true>(from[i]), coding_);
    } else {
      for (std::size_t i = 0; i < count; ++i) to[i] = code_of(real_of<false>(from[i]), coding_);
    }
  }

 private:
  // a float's steps are as fine as they need be; the others' are exact in double
  using real = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using coding = value_coding<real>;

  template <bool OfBits>
  [[nodiscard]] static real real_of(T value) {
    if constexpr (OfBits && std::is_floating_point_v<T>) {
      using bits = std::make_signed_t<ordered::bits_t<T>>;
      const auto raw = std::bit_cast<bits>(value);
      return static_cast<real>(raw < 0 ? raw ^ std::numeric_limits<bits>::max() : raw);
    } else {
      return static_cast<real>(value);
    }
  }
  [[nodiscard]] static std::uint8_t code_of(real value, const coding& by) {
    constexpr auto top = static_cast<real>(last_value_code);
    real steps = (value - by.from) * by.factor;
    steps = steps > 0 ? steps : 0;  // NaN too
    return static_cast<std::uint8_t>(static_cast<std::int32_t>(steps < top ? steps : top));
  }
  /// How many quantiles are not above the value.
  [[nodiscard]] std::uint8_t code_by_quantiles(T value) const {
    std::uint32_t at = 0;
    for (std::uint32_t step = 128; step > 0; step /= 2) at += quantiles_[at + step - 1] <= value ? step : 0;
    return static_cast<std::uint8_t>(std::min(at, last_value_code));
  }
  void take_quantiles(std::vector<T> sample) {
    constexpr auto highest = std::numeric_limits<T>::max();
    std::erase_if(sample, [](T value) { return !(value <= highest); });
    quantiles_.assign(last_value_code + 1, highest);
    if (sample.empty()) return;
    std::sort(sample.begin(), sample.end());
    // each once, and the smallest value of all has no code of its own below it
    for (std::size_t q = 0; q < last_value_code; ++q) {
      quantiles_[q] = sample[(q + 1) * sample.size() / (last_value_code + 1)];
    }
    std::fill(std::unique(quantiles_.begin(), quantiles_.end()), quantiles_.end(), highest);
  }
  /// Codes for all but a few far values, which get the first or the last code.
  [[nodiscard]] static coding fit(const std::vector<T>& sample, bool of_bits) {
    constexpr real lowest = std::numeric_limits<real>::lowest();
    constexpr real highest = std::numeric_limits<real>::max();
    constexpr std::size_t far = 512;  // one of so many
    std::vector<real> all;
    for (const T one : sample) {
      const real value = of_bits ? real_of<true>(one) : real_of<false>(one);
      if (value >= lowest && value <= highest) all.push_back(value);
    }
    if (all.empty()) return {};
    const auto at = [&](std::size_t rank) {
      std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank), all.end());
      return all[rank];
    };
    const std::size_t few = all.size() / far;
    const real least = at(few);
    const real most = at(all.size() - 1 - few);
    // halves, so that no difference overflows
    const real half = most / 2 - least / 2;
    coding by;
    by.from = std::max(least - half / 32, lowest);
    by.of_bits = of_bits;
    if (half > 0) by.factor = std::min(static_cast<real>(last_value_code) / 2 / (half + half / 32), highest);
    return by;
  }
  [[nodiscard]] std::uint64_t pairs_with_one_code(const std::vector<T>& sample) const {
    std::array<std::uint64_t, last_value_code + 1> counts{};
    for (const T one : sample) ++counts[(*this)(one)];
    std::uint64_t pairs = 0;
    for (const auto count : counts) pairs += count * count;
    return pairs;
  }

  coding coding_;
  std::vector<T> quantiles_;  ///< none, or last_value_code + 1 of them
};

template <class T>
class upper_tree {
 public:
  using leaf_number = std::uint16_t;
  static constexpr unsigned most_levels = 16;

  upper_tree(const input_columns<T>& input, unsigned levels)
      : columns_(input.column.size()), levels_(levels), cuts_(std::size_t{1} << levels) {
    constexpr std::size_t samples_of_a_leaf = 32;
    const std::size_t samples = std::min(input.rows, samples_of_a_leaf << levels);
    std::vector<std::uint32_t> numbers(samples);
    for (std::size_t s = 0; s < samples; ++s) {
      numbers[s] = static_cast<std::uint32_t>(s);
      rows_.push_back(static_cast<std::uint32_t>(s * input.rows / samples));
    }
    values_.resize(columns_ * samples);
    constexpr std::size_t whole = 64;  // codes that are written together
    sample_codes_.resize(columns_ * samples + whole);
    for (std::size_t j = 0; j < columns_; ++j) {
      T* const values = values_.data() + j * samples;
      for (std::size_t s = 0; s < samples; ++s) values[s] = input.at(j, rows_[s]);
      scales_.push_back(scale_of(values, samples, 1));
      codes_.emplace_back(std::span<const T>(values, samples));
      codes_.back()(values, samples, sample_codes_.data() + j * samples);
    }
    std::vector<std::uint32_t> others(samples);
    split(numbers, others, 1, 0);
  }

  [[nodiscard]] const std::vector<column_scale>& scales() const { return scales_; }
  [[nodiscard]] std::size_t leaves() const { return std::size_t{1} << levels_; }

  /// Rows that are coded together: few enough that all their values are asked for before the first ones arrive.
  static constexpr std::size_t batch = 64;
  /// Rows that are equal in the column of a cut are told apart by the run of so many rows in which they stand.
  static constexpr std::size_t run_rows = 128 * batch;

  /// What a thread needs to find leaves. All find the same ones, in wide registers or without them.
  class finder {
   public:
    explicit finder(const upper_tree& tree, descent by = wide_descent())
        : tree_(&tree),
          limits_(std::max(tree.leaves(), wide_nodes)),
          column_of_(limits_.size()),
          codes_(tree.columns_ * batch),
          descend_(tree.columns_ <= most_wide_columns ? by : nullptr) {
      for (std::size_t at = 1; at < tree.leaves(); ++at) {
        column_of_[at] = static_cast<std::uint8_t>(tree.cuts_[at].column);
      }
    }

    /// to[i] = the leaf of row first + i, for i < count. `first` is a multiple of run_rows, or of `batch` and where the
    /// call before ended.
    void operator()(const input_columns<T>& input, std::size_t first, std::size_t count, leaf_number* to) {
      for (std::size_t done = 0; done < count; done += batch) {
        if ((first + done) % run_rows == 0) begin_run(first + done);
        const std::size_t some = std::min(batch, count - done);
        code(input, first + done, some);
        find(some);
        std::copy_n(paths_.begin(), some, to + done);
      }
    }

   private:
    void begin_run(std::size_t first) {
      for (std::size_t at = 1; at < tree_->leaves(); ++at) {
        const auto& cut = tree_->cuts_[at];
        limits_[at] = static_cast<std::uint8_t>(cut.limit + (first < cut.row ? 1 : 0));
      }
    }
    void code(const input_columns<T>& input, std::size_t first, std::size_t count) {
      input.ask_for(first + 4 * batch, batch);
      for (std::size_t j = 0; j < tree_->columns_; ++j) {
        std::uint8_t* const to = codes_.data() + j * batch;
        if (input.stride == 1) {
          tree_->codes_[j](input.column[j] + first, count, to);
        } else {
          for (std::size_t i = 0; i < count; ++i) to[i] = tree_->codes_[j](input.at(j, first + i));
        }
      }
    }
    void find(std::size_t count) {
      unsigned done = 0;
      if (descend_ != nullptr) {
        done = std::min(tree_->levels_, most_wide_levels);
        descend_({limits_.data(), column_of_.data(), tree_->levels_}, codes_.data(), batch, tree_->columns_, count,
                 paths_.data());
      } else {
        paths_.fill(0);
      }
      if (done == tree_->levels_) return;
      // some rows at a time, so that their loads overlap; what lies behind the last row is of no use
      constexpr std::size_t together = 8;
      const std::uint8_t* const limits = limits_.data();
      const std::uint8_t* const column_of = column_of_.data();
      for (std::size_t begin = 0; begin < count; begin += together) {
        const std::uint8_t* const codes = codes_.data() + begin;
        std::uint32_t at[together];
        for (std::size_t i = 0; i < together; ++i) at[i] = (1U << done) + paths_[begin + i];
        for (unsigned level = done; level < tree_->levels_; ++level) {
          for (std::size_t i = 0; i < together; ++i) {
            at[i] = 2 * at[i] + (codes[column_of[at[i]] * batch + i] >= limits[at[i]] ? 1U : 0U);
          }
        }
        for (std::size_t i = 0; i < together; ++i) {
          paths_[begin + i] = static_cast<leaf_number>(at[i] - static_cast<std::uint32_t>(tree_->leaves()));
        }
      }
    }

    const upper_tree* tree_;
    std::vector<std::uint8_t> limits_;     ///< of nodes: what is not below it goes right
    std::vector<std::uint8_t> column_of_;  ///< of nodes
    std::vector<std::uint8_t> codes_;      ///< of the batch's rows, column by column
    std::array<leaf_number, batch> paths_{};
    descent descend_;
  };

 private:
  struct cut {
    std::uint32_t limit = 0;
    std::uint32_t row = 0;  ///< rows with the code `limit` in runs before it go left, too
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
  /// Brings the samples that go left to the front; all stay in their order.
  void split(std::span<std::uint32_t> numbers, std::span<std::uint32_t> others, std::size_t at, unsigned level) {
    if (level == levels_) return;
    const std::size_t column = widest_column(numbers);
    const std::uint8_t* const codes = sample_codes_.data() + column * rows_.size();
    std::array<std::uint32_t, last_value_code + 1> counts{};
    for (const auto number : numbers) ++counts[codes[number]];
    const std::size_t middle = numbers.size() / 2;
    std::uint32_t code = 0;
    std::size_t below = 0;
    while (code < last_value_code && below + counts[code] <= middle) below += counts[code++];
    // equal ones stay together where halves are about as large all the same
    const std::size_t uneven = numbers.size() / 16;
    const std::size_t above = below + counts[code];
    std::size_t equal_left = middle - below;
    if (equal_left <= uneven && below > 0) {
      equal_left = 0;
    } else if (above - middle <= uneven && above < numbers.size()) {
      ++code;
      equal_left = 0;
    }
    cuts_[at] = {code, 0, static_cast<std::uint32_t>(column)};
    std::size_t left = 0;
    std::size_t right = 0;
    for (const auto number : numbers) {
      bool goes_left = codes[number] < code;
      if (codes[number] == code && equal_left > 0) {
        goes_left = true;
        if (--equal_left == 0) cuts_[at].row = rows_[number] + 1;
      }
      if (goes_left) {
        numbers[left++] = number;
      } else {
        others[right++] = number;
      }
    }
    std::copy_n(others.begin(), right, numbers.begin() + static_cast<std::ptrdiff_t>(left));
    split(numbers.first(left), others, 2 * at, level + 1);
    split(numbers.subspan(left), others, 2 * at + 1, level + 1);
  }

  std::size_t columns_;
  unsigned levels_;
  std::vector<cut> cuts_;
  std::vector<std::uint32_t> rows_;  ///< sampled
  std::vector<T> values_;            ///< theirs, column by column
  std::vector<std::uint8_t> sample_codes_;
  std::vector<column_scale> scales_;
  std::vector<column_codes<T>> codes_;  ///< of columns
};

}  // namespace zenith::detail

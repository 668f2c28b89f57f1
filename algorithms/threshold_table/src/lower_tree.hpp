#pragma once

/// \file
/// The lower levels of a k-d tree: some thousand rows, which fit a cache, cut into full blocks and one that may be
/// less.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithms/threshold_table/src/code_planes.hpp>
#include <algorithms/threshold_table/src/part_keys.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <algorithms/threshold_table/src/transpose.hpp>

namespace zenith::detail {

/// As many integers as a register of columns has lanes.
template <std::size_t Side>
struct integer_lanes {
  using type [[gnu::vector_size(16)]] = std::int32_t;
};
template <>
struct integer_lanes<2> {
  using type [[gnu::vector_size(8)]] = std::int32_t;
};

/// Cuts leaves of the upper tree at medians of the widest column. Rows are told apart by codes of 8 bits a column,
/// equal steps from the least to the largest value of the rows that are coded together; rows that became 8 to 128 times
/// fewer are coded anew. Rows with the same code in the column of a cut are told apart by their place.
template <class T>
class lower_tree {
 public:
  /// The order is the same by planes and without them.
  lower_tree(const std::vector<column_scale>& scales, std::uint32_t block_rows,
             const plane_functions* by_planes = wide_planes())
      : columns_(scales.size()),
        stride_(square<T>::padded(scales.size())),
        code_stride_((scales.size() + word - 1) / word * word),
        block_rows_(block_rows),
        factors_(code_stride_),
        by_planes_(columns_ <= most_planes ? by_planes : nullptr) {
    for (std::size_t j = 0; j < scales.size(); ++j) {
      const double extent = scales[j].most - scales[j].least;
      factors_[j] = extent > 0 ? static_cast<float>(1 / extent) : 0;
    }
  }

  /// `values`: rows one after another, of so many, each of the columns and what fills up a register. Element i is the
  /// row that comes i-th.
  [[nodiscard]] std::span<const std::uint32_t> order(const T* values, std::uint32_t rows) {
    if (by_planes_ != nullptr && rows <= most_plane_rows) return order_by_planes(values, rows);
    const std::size_t most = most_rows / block_rows_ * block_rows_;
    codes_.resize(std::min<std::size_t>(rows, most) * code_stride_);
    part_codes_.resize(std::min<std::size_t>(rows, most));
    keys_.resize(rows);
    others_.resize(std::min<std::size_t>(rows, most) + part_spare);
    for (std::size_t first = 0; first < rows; first += most) {
      const auto part = std::span(keys_).subspan(first, std::min(most, rows - first));
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<std::uint32_t>(i);
      values_ = values + first * stride_;
      split(part, {});
      for (auto& one : part) one += static_cast<std::uint32_t>(first);
    }
    return keys_;
  }

 private:
  // a float's differences are as fine as they need be; the others' are exact in double
  using real = std::conditional_t<std::is_same_v<T, float>, float, double>;
  static constexpr std::size_t side = square<T>::side;
  using lanes = typename square<T>::lanes;
  using reals [[gnu::vector_size(side * sizeof(real))]] = real;
  using ints = typename integer_lanes<side>::type;

  static constexpr real lowest = std::numeric_limits<real>::lowest();
  static constexpr real highest = std::numeric_limits<real>::max();
  static constexpr std::size_t word = 8;                          ///< codes
  static constexpr std::size_t spare_words = 64;                  ///< that planes may be read from beyond the last one
  static constexpr std::size_t most_rows = std::size_t{1} << 24;  ///< that are cut together
  static constexpr std::uint32_t codes_of_a_column = 256;

  /// How some rows were coded.
  struct coding {
    std::size_t rows = 0;
    std::size_t lasts = 0;                          ///< until they are so many times fewer
    std::array<float, most_table_columns> steps{};  ///< how wide a code is, as a share of the column's extent
  };

  [[nodiscard]] std::span<const std::uint32_t> order_by_planes(const T* values, std::uint32_t rows) {
    codes_.resize((rows + spare_words) * code_stride_);
    planes_.resize(rows * columns_);
    short_keys_.resize(rows);
    keys_.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) short_keys_[i] = static_cast<std::uint16_t>(i);
    values_ = values;
    split_planes({planes_.data(), rows, columns_, short_keys_.data()}, 0, rows, {});
    std::copy(short_keys_.begin(), short_keys_.end(), keys_.begin());
    return keys_;
  }
  void split_planes(const code_planes& of, std::size_t begin, std::size_t count, const coding& outer) {
    if (count <= block_rows_) return;
    if (count * outer.lasts > outer.rows) {
      cut_planes(of, begin, count, outer);
    } else {
      coding own;
      code_planes_anew(of, begin, count, own);
      cut_planes(of, begin, count, own);
    }
  }
  void code_planes_anew(const code_planes& of, std::size_t begin, std::size_t count, coding& to) {
    const std::span<const std::uint16_t> part(of.keys + begin, count);
    if constexpr (std::is_same_v<T, float>) {
      if (stride_ == wide_row) {
        start(part, to);
        const auto scales = find_scales<wide_row / side>(part, 0, to);
        row_coding by;
        for (std::size_t j = 0; j < wide_row; ++j) {
          by.from[j] = scales[j / side].from[j % side];
          by.factor[j] = scales[j / side].factor[j % side];
        }
        return by_planes_->code_rows(of, begin, count, values_, by);
      }
    }
    code(part, to);
    by_planes_->write(of, begin, count, codes_.data());
  }
  void cut_planes(const code_planes& of, std::size_t begin, std::size_t count, const coding& as) {
    code_extremes found;
    std::fill(std::begin(found.least), std::end(found.least), std::uint8_t{255});
    std::fill(std::begin(found.most), std::end(found.most), std::uint8_t{0});
    for_rows_looked_at(
        count, [&](std::size_t first, std::size_t some) { by_planes_->add_extremes(of, begin + first, some, found); });
    std::size_t widest = 0;
    float extent = -1;
    for (std::size_t j = 0; j < columns_; ++j) widen(widest, extent, j, found.most[j] - found.least[j], as);
    const std::size_t middle = middle_of(count);
    by_planes_->part(of, begin, count, middle, widest, count <= 2 * std::size_t{block_rows_});
    split_planes(of, begin, middle, as);
    split_planes(of, begin + middle, count - middle, as);
  }
  [[nodiscard]] std::size_t middle_of(std::size_t rows) const {
    return (rows + block_rows_ - 1) / block_rows_ / 2 * block_rows_;
  }
  static void widen(std::size_t& widest, float& extent, std::size_t j, int codes, const coding& of) {
    const float here = static_cast<float>(codes) * of.steps[j];
    if (!(here > extent)) return;
    extent = here;
    widest = j;
  }
  /// Few rows are all looked at, and of many some runs that are spread over them: look(first, count).
  template <class Look>
  static void for_rows_looked_at(std::size_t rows, const Look& look) {
    constexpr std::size_t run = 64;
    constexpr std::size_t runs = 4;
    if (rows <= runs * run) return look(std::size_t{0}, rows);
    for (std::size_t r = 0; r < runs; ++r) look(r * (rows - run) / (runs - 1), run);
  }

  void split(std::span<std::uint32_t> part, const coding& outer) {
    if (part.size() <= block_rows_) return;
    if (part.size() * outer.lasts > outer.rows) {
      cut(part, outer);
    } else {
      coding own;
      code(std::span<const std::uint32_t>(part), own);
      cut(part, own);
    }
  }
  void cut(std::span<std::uint32_t> part, const coding& of) {
    const std::size_t middle = middle_of(part.size());
    part_at(part, widest_column(part, of), middle);
    split(part.first(middle), of);
    split(part.subspan(middle), of);
  }

  /// Brings the rows with the smallest codes to the front, so many; all stay in their order.
  void part_at(std::span<std::uint32_t> part, std::size_t column, std::size_t middle) {
    const std::uint8_t* const codes = codes_.data() + column;
    const std::size_t stride = code_stride_;
    std::uint8_t* const to = part_codes_.data();
    for (std::size_t i = 0; i < part.size(); ++i) to[i] = codes[part[i] * stride];
    part_keys_(part.data(), to, part.size(), middle, others_.data());
  }

  /// The column in which some of the rows differ most.
  [[nodiscard]] std::size_t widest_column(std::span<const std::uint32_t> part, const coding& of) const {
    using words [[gnu::vector_size(16)]] = std::uint64_t;
    using all_codes [[gnu::vector_size(16)]] = std::uint8_t;
    std::size_t widest = 0;
    float extent = -1;
    for (std::size_t j = 0; j < code_stride_; j += word) {
      const auto at = [&](std::size_t i) {
        std::uint64_t some;
        std::memcpy(&some, codes_.data() + part[i] * code_stride_ + j, sizeof some);
        return some;
      };
      all_codes least = all_codes{} - 1;
      all_codes most{};
      for_rows_looked_at(part.size(), [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; i += 2) {
          const auto two = std::bit_cast<all_codes>(words{at(i), at(std::min(i + 1, first + count - 1))});
          least = two < least ? two : least;
          most = two > most ? two : most;
        }
      });
      for (std::size_t s = 0; s < word && j + s < factors_.size(); ++s) {
        const int high = std::max(most[s], most[s + word]);
        const int low = std::min(least[s], least[s + word]);
        widen(widest, extent, j + s, high - low, of);
      }
    }
    return widest;
  }

  /// Codes of long keys go where the row stands, those of short ones one after another.
  template <class Key>
  void code(std::span<const Key> part, coding& to) {
    start(part, to);
    std::size_t j = 0;
    for (; j + 2 * side <= stride_; j += 2 * side) code_columns<2>(part, j, to);
    for (; j < stride_; j += side) code_columns<1>(part, j, to);
  }
  template <class Key>
  void start(std::span<const Key> part, coding& to) const {
    to.rows = part.size();
    // of several columns each is cut a few times
    to.lasts = std::size_t{4} << std::min<std::size_t>(columns_, 7);
  }
  struct scale {
    reals from;
    reals factor;
  };
  void load(reals& to, std::size_t key, std::size_t j) const {
    to = __builtin_convertvector(square<T>::load(values_ + key * stride_ + j), reals);
  }
  /// The scales of as many columns as so many registers have lanes.
  template <std::size_t Registers, class Key>
  [[nodiscard]] std::array<scale, Registers> find_scales(std::span<const Key> part, std::size_t j, coding& to) const {
    constexpr std::size_t drawn = 16;
    reals value;
    reals least[Registers];
    reals most[Registers];
    reals some_least[Registers];
    reals some_most[Registers];
    const auto add = [&](std::size_t key) {
      for (std::size_t r = 0; r < Registers; ++r) {
        load(value, key, j + r * side);
        least[r] = value < least[r] ? value : least[r];
        most[r] = value > most[r] ? value : most[r];
      }
    };
    for (std::size_t r = 0; r < Registers; ++r) {
      least[r] = reals{} + highest;
      most[r] = reals{} + lowest;
    }
    for (std::size_t i = 0; i < drawn; ++i) add(part[i * part.size() / drawn]);
    for (std::size_t r = 0; r < Registers; ++r) {
      some_least[r] = least[r];
      some_most[r] = most[r];
    }
    bool is_added = false;
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Key, std::uint16_t> && Registers * side == wide_row) {
      if (stride_ == wide_row) {
        float lower[wide_row];
        float higher[wide_row];
        std::memcpy(lower, least, sizeof lower);
        std::memcpy(higher, most, sizeof higher);
        by_planes_->add_row_extremes(values_, part.data(), part.size(), lower, higher);
        std::memcpy(least, lower, sizeof lower);
        std::memcpy(most, higher, sizeof higher);
        is_added = true;
      }
    }
    if (!is_added) {
      for (const auto key : part) add(key);
    }
    std::array<scale, Registers> scales;
    for (std::size_t r = 0; r < Registers; ++r) {
      scales[r].from = reals{};
      scales[r].factor = reals{};
      for (std::size_t s = 0; s < side; ++s) {
        const value_range all{least[r][s], most[r][s]};
        const auto coded = without_far_ones(all, {some_least[r][s], some_most[r][s]});
        if (coded != all) to.lasts = 8;
        to.steps[j + r * side + s] = set(scales[r], s, coded) * factors_[j + r * side + s];
      }
    }
    return scales;
  }
  template <std::size_t Registers, class Key>
  void code_columns(std::span<const Key> part, std::size_t j, coding& to) {
    const auto scales = find_scales<Registers>(part, j, to);
    reals value;
    const reals top = reals{} + (codes_of_a_column - 1);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t key = part[i];
      ints codes[Registers];
      for (std::size_t r = 0; r < Registers; ++r) {
        load(value, key, j + r * side);
        reals code = (value - scales[r].from) * scales[r].factor;
        code = code > 0 ? code : reals{};  // NaN too
        code = code < top ? code : top;
        codes[r] = __builtin_convertvector(code, ints);
      }
      write_codes(codes, codes_.data() + (std::is_same_v<Key, std::uint16_t> ? i : key) * code_stride_ + j);
    }
  }
  struct value_range {
    real least;
    real most;

    [[nodiscard]] bool operator==(const value_range&) const = default;
  };
  /// A few values far away must not leave all others one code: those beyond thrice the extent of some rows, and NaN,
  /// have the first or the last one.
  [[nodiscard]] static value_range without_far_ones(value_range all, const value_range& some) {
    const real half = some.most / 2 - some.least / 2;
    if (!(half > 0)) return all;
    return {std::max(all.least, some.least - 2 * half), std::min(all.most, some.most + 2 * half)};
  }
  /// Sets lane s, and returns how wide a code is.
  [[nodiscard]] static float set(scale& to, std::size_t s, value_range coded) {
    const real least = std::clamp(coded.least, lowest, highest);
    const real most = std::clamp(coded.most, lowest, highest);
    constexpr double last = codes_of_a_column - 1;
    const double width = 2 * (static_cast<double>(most) / 2 - static_cast<double>(least) / 2) / last;
    to.from[s] = least;
    to.factor[s] = width > 0 ? static_cast<real>(std::min(1 / width, static_cast<double>(highest))) : 0;
    return static_cast<float>(width);
  }
  template <std::size_t Registers>
  static void write_codes(const ints (&codes)[Registers], std::uint8_t* to) {
#if defined(__SSE2__)
    if constexpr (side == 4) {
      const auto first = std::bit_cast<__m128i>(codes[0]);
      const __m128i halves = _mm_packs_epi32(first, std::bit_cast<__m128i>(codes[Registers - 1]));
      const __m128i all = _mm_packus_epi16(halves, halves);
      std::memcpy(to, &all, Registers * side);
      return;
    }
#endif
    for (std::size_t r = 0; r < Registers; ++r) {
      for (std::size_t s = 0; s < side; ++s) to[r * side + s] = static_cast<std::uint8_t>(codes[r][s]);
    }
  }

  std::size_t columns_;
  std::size_t stride_;
  std::size_t code_stride_;
  std::uint32_t block_rows_;
  std::vector<float> factors_;
  const T* values_ = nullptr;
  std::vector<std::uint8_t> codes_;  ///< row by row
  const plane_functions* by_planes_;
  std::vector<std::uint8_t> planes_;
  std::vector<std::uint16_t> short_keys_;
  std::vector<std::uint8_t> part_codes_;
  std::vector<std::uint32_t> keys_;  ///< rows
  part_function part_keys_ = part_functions().front();
  std::vector<std::uint32_t> others_;
};

}  // namespace zenith::detail

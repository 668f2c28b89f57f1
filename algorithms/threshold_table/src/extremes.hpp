#pragma once

/// \file
/// The extremes of columns over blocks and what consists of blocks, as they are written.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <algorithms/threshold_table/src/storage.hpp>
#include <algorithms/threshold_table/src/transpose.hpp>

namespace zenith::detail {

/// The largest and the smallest number of a column over some rows; NaN do not count.
template <class T>
struct range_of_values {
  using limits = std::numeric_limits<T>;
  static constexpr T none_most = limits::has_infinity ? -limits::infinity() : limits::lowest();
  static constexpr T none_least = limits::has_infinity ? limits::infinity() : limits::max();

  T most = none_most;
  T least = none_least;
  bool has_nan = false;

  void add(T value) {
    has_nan |= value != value;
    most = value > most ? value : most;
    least = value < least ? value : least;
  }
  /// Of consecutive values, some registers of them at a time.
  [[nodiscard]] static range_of_values of(const T* values, std::uint64_t count) {
    using lanes = typename square<T>::lanes;
    constexpr std::uint64_t side = square<T>::side;
    constexpr std::uint64_t registers = 4;
    range_of_values all;
    if (count >= registers * side) {
      lanes most[registers];
      lanes least[registers];
      lanes other[registers];  // a value that differs from itself, if there is one
      for (std::uint64_t r = 0; r < registers; ++r) {
        most[r] = lanes{} + none_most;
        least[r] = lanes{} + none_least;
        other[r] = lanes{};
      }
      for (; count >= registers * side; count -= registers * side, values += registers * side) {
        for (std::uint64_t r = 0; r < registers; ++r) {
          const lanes value = square<T>::load(values + r * side);
          most[r] = value > most[r] ? value : most[r];
          least[r] = value < least[r] ? value : least[r];
          other[r] = value == value ? other[r] : value;
        }
      }
      for (std::uint64_t r = 0; r < registers; ++r) {
        for (std::uint64_t s = 0; s < side; ++s) {
          all.most = most[r][s] > all.most ? most[r][s] : all.most;
          all.least = least[r][s] < all.least ? least[r][s] : all.least;
          all.has_nan |= other[r][s] != other[r][s];
        }
      }
    }
    for (std::uint64_t i = 0; i < count; ++i) all.add(values[i]);
    return all;
  }
};

/// Extremes in a table.
template <class T>
class extremes_writer {
 public:
  extremes_writer(std::byte* table, const extremes_layout& of, std::uint32_t columns)
      : of_(of),
        columns_(columns),
        maxima_(reinterpret_cast<T*>(table + of.maxima)),
        minima_(reinterpret_cast<T*>(table + of.minima)),
        nans_(reinterpret_cast<std::uint64_t*>(table + of.nans)),
        first_ids_(reinterpret_cast<std::uint32_t*>(table + of.first_ids)) {}

  void begin(std::uint64_t item) const {
    for (std::uint64_t j = 0; j < columns_; ++j) {
      maxima_[j * of_.stride + item] = range_of_values<T>::none_most;
      minima_[j * of_.stride + item] = range_of_values<T>::none_least;
    }
    nans_[item] = 0;
    first_ids_[item] = ~std::uint32_t{0};
  }
  void set(std::uint64_t item, std::uint64_t column, const range_of_values<T>& to) const {
    maxima_[column * of_.stride + item] = to.most;
    minima_[column * of_.stride + item] = to.least;
    if (to.has_nan) nans_[item] |= std::uint64_t{1} << column;
  }
  void add_id(std::uint64_t item, std::uint32_t id) const {
    if (id < first_ids_[item]) first_ids_[item] = id;
  }
  /// Makes an item's extremes those of items begin … end - 1 of another one.
  void sum_up(std::uint64_t item, const extremes_writer& other, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t j = 0; j < columns_; ++j) {
      maxima_[j * of_.stride + item] =
          range_of_values<T>::of(other.maxima_ + j * other.of_.stride + begin, end - begin).most;
      minima_[j * of_.stride + item] =
          range_of_values<T>::of(other.minima_ + j * other.of_.stride + begin, end - begin).least;
    }
    nans_[item] = 0;
    first_ids_[item] = ~std::uint32_t{0};
    for (auto from = begin; from < end; ++from) {
      nans_[item] |= other.nans_[from];
      add_id(item, other.first_ids_[from]);
    }
  }
  /// Makes the extremes of each of items begin … end - 1 those of another one's items behind it, up to `end`.
  void sum_up_behind(const extremes_writer& other, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t j = 0; j < columns_; ++j) {
      range_of_values<T> behind;
      for (auto item = end; item-- > begin;) {
        maxima_[j * of_.stride + item] = behind.most;
        minima_[j * of_.stride + item] = behind.least;
        const T more = other.most(item, j);
        const T less = other.least(item, j);
        behind.most = more > behind.most ? more : behind.most;
        behind.least = less < behind.least ? less : behind.least;
      }
    }
    std::uint64_t nans = 0;
    std::uint32_t first_id = ~std::uint32_t{0};
    for (auto item = end; item-- > begin;) {
      nans_[item] = nans;
      first_ids_[item] = first_id;
      nans |= other.nans_[item];
      first_id = std::min(first_id, other.first_ids_[item]);
    }
  }

  [[nodiscard]] T most(std::uint64_t item, std::uint64_t column) const { return maxima_[column * of_.stride + item]; }
  [[nodiscard]] T least(std::uint64_t item, std::uint64_t column) const { return minima_[column * of_.stride + item]; }

 private:
  const extremes_layout& of_;
  std::uint32_t columns_;
  T* maxima_;
  T* minima_;
  std::uint64_t* nans_;
  std::uint32_t* first_ids_;
};

}  // namespace zenith::detail

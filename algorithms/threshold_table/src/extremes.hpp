#pragma once

/// \file
/// The extremes of columns over blocks and what consists of blocks, as they are written.

#include <cstdint>
#include <limits>

#include <algorithms/threshold_table/src/storage.hpp>

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
  /// Of consecutive values; lanes, so that compilers vectorise it.
  [[nodiscard]] static range_of_values of(const T* values, std::uint64_t count) {
    constexpr std::uint64_t lanes = 16;
    range_of_values all;
    if (count >= lanes) {
      T most[lanes];
      T least[lanes];
      T other[lanes];  // a value that differs from itself, if there is one
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        most[lane] = none_most;
        least[lane] = none_least;
        other[lane] = T{0};
      }
      for (; count >= lanes; count -= lanes, values += lanes) {
        for (std::uint64_t lane = 0; lane < lanes; ++lane) {
          const T value = values[lane];
          most[lane] = value > most[lane] ? value : most[lane];
          least[lane] = value < least[lane] ? value : least[lane];
          other[lane] = value != value ? value : other[lane];
        }
      }
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        all.most = most[lane] > all.most ? most[lane] : all.most;
        all.least = least[lane] < all.least ? least[lane] : all.least;
        all.has_nan |= other[lane] != other[lane];
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
  /// What another one's item has.
  void add(std::uint64_t item, const extremes_writer& other, std::uint64_t from) const {
    for (std::uint64_t j = 0; j < columns_; ++j) {
      T& most = maxima_[j * of_.stride + item];
      T& least = minima_[j * of_.stride + item];
      const T more = other.maxima_[j * other.of_.stride + from];
      const T less = other.minima_[j * other.of_.stride + from];
      if (more > most) most = more;
      if (less < least) least = less;
    }
    nans_[item] |= other.nans_[from];
    add_id(item, other.first_ids_[from]);
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

#pragma once

/// \file
/// Sources: where a strategy's keys come from. What reads a plain array also reads a score of several columns or a
/// packed column.
///
/// A *formula source* is one expression over lanes: `lanes(load)` asks load(column) for a lane of each column it needs
/// and returns a lane of keys. What a lane is, is the team's choice: an item, a SIMD register, all that a thread holds
/// of a tile. So a scan, a sample, a second look at one item and the oracle all evaluate the same line, in the same
/// order of operations and with the same roundings.
///
/// A *block source* is decoded a block at a time: `decode(block, to)` writes `block_items` keys.

#include <concepts>
#include <type_traits>

#include <core/device/function.hpp>

namespace zenith::device {

/// A lane that is one item. It stands for all kinds of lanes in the concept.
struct item_of {
  u64 at;

  /// The column's value.
  template <class T>
  ZENITH_FN T operator()(const T* column) const {
    return column[at];
  }
  /// The column's value as an S.
  template <class S, class T>
  ZENITH_FN S as(const T* column) const {
    return static_cast<S>(column[at]);
  }
};

template <class S>
concept formula_source = std::is_trivially_copyable_v<S> && requires(const S& source, const item_of& load) {
  typename S::key;
  { S::streams } -> std::convertible_to<unsigned>;  // columns that a tile reads at a time: sets how large a tile is
  { S::widest } -> std::convertible_to<unsigned>;   // bytes of the widest value on the way from a column to a key
  { source.size() } -> std::same_as<u64>;
  { source.lanes(load) } -> std::same_as<typename S::key>;
};

template <class S>
concept block_source = std::is_trivially_copyable_v<S> && requires(const S& source, u64 i, typename S::key* to) {
  typename S::key;
  { S::block_items } -> std::convertible_to<unsigned>;
  { source.size() } -> std::same_as<u64>;
  { source.at(i) } -> std::same_as<typename S::key>;
  source.decode(i, to);
};

template <class S>
concept key_source = formula_source<S> || block_source<S>;

/// One key of a source.
template <key_source Source>
ZENITH_FN typename Source::key key_at(const Source& source, u64 i) {
  if constexpr (block_source<Source>) {
    return source.at(i);
  } else {
    return source.lanes(item_of{i});
  }
}

/// An array.
template <class T>
struct plain {
  using key = T;
  static constexpr unsigned streams = 1;
  static constexpr unsigned widest = sizeof(T);

  const T* keys;
  u64 count;

  ZENITH_FN u64 size() const { return count; }
  template <class Load>
  ZENITH_FN auto lanes(const Load& load) const {
    return load(keys);
  }
};

inline constexpr unsigned most_columns = 64;

/// The weighted sum of columns of T: weight 0 times column 0, and then the other products added one after another by
/// rising column, each operation rounded to `Score`, none contracted.
template <class T, class Score>
struct scored {
  using key = Score;
  static constexpr unsigned streams = 4;  // that many at a time
  static constexpr unsigned widest = sizeof(Score);

  const T* column[most_columns];
  Score weight[most_columns];
  unsigned columns;  ///< at least 1
  u64 count;

  ZENITH_FN u64 size() const { return count; }
  template <class Load>
  ZENITH_FN auto lanes(const Load& load) const {
    auto sum = load.template as<Score>(column[0]);
    using lane = decltype(sum);
    sum = sum * lane(weight[0]);
    ZENITH_UNROLLED_BY_4
    for (unsigned j = 1; j < columns; ++j) sum = sum + load.template as<Score>(column[j]) * lane(weight[j]);
    return sum;
  }
};

static_assert(formula_source<plain<float>> && formula_source<scored<float, float>>);

}  // namespace zenith::device

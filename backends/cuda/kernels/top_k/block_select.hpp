#pragma once

/// \file
/// Order statistics within a block, of values that its threads hold or fetch. Every function is to be called by all
/// threads, and all of them get its result.
///
/// `values.each(use)` calls use(value) on each value of the calling thread; a value of 0 counts as none.

#include <backends/cuda/simt/vocabulary.hpp>

namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM {

inline constexpr unsigned select_threads = 1024;
inline constexpr unsigned select_warps = select_threads / simt::warp_size;

/// Values in registers.
template <unsigned Items, class Value>
struct held_values {
  using value_t = Value;
  Value held[Items];

  template <class Use>
  ZENITH_DEVICE void each(const Use& use) const {
    ZENITH_UNROLL
    for (unsigned j = 0; j < Items; ++j) use(held[j]);
  }
};

/// A lower end of the values, and how many reach it.
template <class Value>
struct selection {
  Value least;
  std::uint32_t reached;
};

template <class Value, unsigned Threads = select_threads>
class block_select {
 public:
  static constexpr unsigned warps = Threads / simt::warp_size;
  static_assert(warps <= simt::warp_size && simt::warp_size % warps == 0);
  static constexpr unsigned words = 2 * warps;

  /// `sums` can hold `words`, `ends` one value a warp.
  ZENITH_DEVICE block_select(const simt::shared_span<std::uint32_t>& sums, const simt::shared_span<Value>& ends)
      : sums_(sums), ends_(ends) {}

  template <class Values>
  ZENITH_DEVICE Value highest(const Values& values) const {
    Value high = 0;
    values.each([&](Value value) { high = value > high ? value : high; });
    return across(high, [](Value a, Value b) { return a > b ? a : b; });
  }

  /// The lowest of the values that reach `least`, of which there is one.
  template <class Values>
  ZENITH_DEVICE Value lowest_from(const Values& values, Value least) const {
    Value low = static_cast<Value>(~Value{0});
    values.each([&](Value value) { low = value >= least && value < low ? value : low; });
    return lowest(low);
  }

  /// The lowest of what the threads bring.
  [[nodiscard]] ZENITH_DEVICE Value lowest(Value own) const {
    return across(own, [](Value a, Value b) { return a < b ? a : b; });
  }

  /// How many of the values reach `least`.
  template <class Values>
  [[nodiscard]] ZENITH_DEVICE std::uint32_t count(const Values& values, Value least) const {
    simt::block_barrier();
    return count_from(values, least, 0);
  }

  /// The sum of what the threads bring.
  [[nodiscard]] ZENITH_DEVICE std::uint32_t total(std::uint32_t own) const {
    simt::block_barrier();
    return add_up(own, 0);
  }

  /// A number that at least `wanted` of the values reach, and at most `most` when there is such a number; else the
  /// `wanted`-th highest value, which occurs more than once. The values, `count` of them, stand between `low` and
  /// `high`. The number is built from the highest bit in which those differ: a bit stays set when enough values reach
  /// the number so far. A step costs the same whatever the values are, unlike a histogram of equal ones.
  template <class Values>
  ZENITH_DEVICE selection<Value> find(const Values& values, std::uint32_t count, Value low, Value high,
                                      std::uint32_t wanted, std::uint32_t most) const {
    unsigned bit = low == high ? 0 : bits - simt::count_leading_zeros(static_cast<Value>(low ^ high));
    selection<Value> found{bit < bits ? static_cast<Value>(high >> bit << bit) : Value{0}, count};
    while (bit > 0 && found.reached > most) {
      --bit;
      const Value tried = found.least | static_cast<Value>(Value{1} << bit);
      const std::uint32_t reached = count_from(values, tried, bit % 2 * warps);
      if (reached >= wanted) found = {tried, reached};
    }
    return found;
  }

 private:
  static constexpr unsigned bits = sizeof(Value) * 8;

  template <class Values>
  ZENITH_DEVICE std::uint32_t count_from(const Values& values, Value least, unsigned set) const {
    std::uint32_t reached = 0;
    values.each([&](Value value) { reached += value >= least ? 1U : 0U; });
    return add_up(reached, set);
  }

  // Two sets of sums in turn: one barrier separates writing one from reading it, and from writing it again.
  ZENITH_DEVICE std::uint32_t add_up(std::uint32_t own, unsigned set) const {
    const std::uint32_t of_warp = simt::reduce_add(simt::full_warp, own);
    if (simt::lane_index() == 0) sums_.write(set + simt::warp_index(), of_warp);
    simt::block_barrier();
    return simt::reduce_add(simt::full_warp, simt::lane_index() < warps ? sums_.read(set + simt::lane_index()) : 0);
  }

  template <class Combine>
  ZENITH_DEVICE Value across(Value own, const Combine& combine) const {
    const auto across_warp = [&](Value value) {
      ZENITH_UNROLL
      for (unsigned lanes = simt::warp_size / 2; lanes > 0; lanes /= 2) {
        value = combine(value, simt::shuffle_xor(simt::full_warp, value, lanes));
      }
      return value;
    };
    const Value of_warp = across_warp(own);
    // whoever still reads the last result's ends is done
    simt::block_barrier();
    if (simt::lane_index() == 0) ends_.write(simt::warp_index(), of_warp);
    simt::block_barrier();
    return across_warp(ends_.read(simt::lane_index() % warps));
  }

  simt::shared_span<std::uint32_t> sums_;
  simt::shared_span<Value> ends_;
};

}  // namespace zenith::cuda_backend::inline ZENITH_SIMT_PLATFORM

#pragma once

/// \file
/// What the suites of spatial joins and of spatial indexes share: shapes of points, the score of a pair, and which
/// targets a question is asked of.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <harness.hpp>
#include <zenith/array.hpp>
#include <zenith/spatial_join_call.hpp>

namespace zenith_test::spatial {

enum class shape {
  uniform,    ///< over a square around 0
  lattice,    ///< small whole numbers: equal points, ties in the distance, boxes that touch
  clustered,  ///< few places, some points far away
  far,        ///< as uniform, but for points that lie, on some axes, together and far away
  line,       ///< all but one coordinate are equal
  one_place,  ///< all points are equal
  tiny,       ///< an extent of few units in the last place, far from 0
  huge,       ///< near the largest numbers
  least,      ///< subnormal numbers
};
inline constexpr shape every_shape[] = {shape::uniform,   shape::lattice, shape::clustered, shape::far,  shape::line,
                                        shape::one_place, shape::tiny,    shape::huge,      shape::least};

[[nodiscard]] inline double uniform(random_source& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

template <class T>
[[nodiscard]] T coordinate(shape one, unsigned axis, random_source& random) {
  switch (one) {
    case shape::uniform: return static_cast<T>(uniform(random, -50, 50));
    case shape::lattice: return static_cast<T>(static_cast<int>(random() % 33) - 16);
    case shape::clustered:
      return static_cast<T>(random() % 16 == 0 ? uniform(random, -1000, 1000)
                                               : static_cast<double>(random() % 3) * 100 + uniform(random, 0, 1));
    case shape::far: {
      const double place = random() % 16 != 0 ? 0 : random() % 2 == 0 ? 1e6 : -1e6;
      return static_cast<T>(place == 0 ? uniform(random, -50, 50) : place + uniform(random, 0, 2));
    }
    case shape::line: return axis == 0 ? static_cast<T>(uniform(random, -100, 100)) : T{7};
    case shape::one_place: return T{-3};
    case shape::tiny: return T{1} + static_cast<T>(random() % 64) * std::numeric_limits<T>::epsilon();
    case shape::huge: return std::numeric_limits<T>::max() * static_cast<T>(uniform(random, -1, 1));
    default: return static_cast<T>(static_cast<int>(random() % 401) - 200) * std::numeric_limits<T>::denorm_min();
  }
}

/// `options`: of a ranked join of columns or of indexes.
template <class Options>
void draw_scoring(Options& options, random_source& random) {
  options.score = static_cast<zenith::pair_score>(random() % 5);
  options.select = random() % 2 == 0 ? zenith::selection::largest : zenith::selection::smallest;
  if (options.score == zenith::pair_score::weighted_sum) {
    constexpr double weights[] = {1, -1, 0, 0.3, -2.5};
    options.left_weight = weights[random() % 5];
    options.right_weight = weights[random() % 5];
  }
  const std::uint64_t at_once[] = {0, 0, 1, 1 + random() % 30, ~std::uint64_t{0}};
  options.blocks_at_once = at_once[random() % 5];
}

/// By the definition; through memory where a compiler may contract.
template <class T, class Options>
[[nodiscard]] T score_of(const Options& options, T a, T b) {
  using zenith::pair_score;
  if (options.score == pair_score::weighted_sum) {
    volatile T left = a * static_cast<T>(options.left_weight);
    volatile T right = b * static_cast<T>(options.right_weight);
    return left + right;
  }
  switch (options.score) {
    case pair_score::product: return a * b;
    case pair_score::minimum: return b < a ? b : a;
    case pair_score::maximum: return a < b ? b : a;
    default: return a + b;
  }
}

/// A target's memory for results, on its device or on the host. Each element is 77 until it is written.
template <class T>
class outputs {
 public:
  outputs(const target& on, std::size_t size, bool on_device) : all_(size, T{77}) {
    if (on_device) device_ = zenith::array<T>(on.on, std::span<const T>(all_));
    is_on_device_ = on_device;
  }

  [[nodiscard]] std::span<T> on_host() { return all_; }
  [[nodiscard]] zenith::device_span<T> on_device() { return device_.device(); }
  /// The first elements, with what stands behind them: none of it may have been written.
  [[nodiscard]] const std::vector<T>& read() {
    if (is_on_device_) device_.copy_to(all_);
    return all_;
  }

 private:
  std::vector<T> all_;
  zenith::array<T> device_;
  bool is_on_device_ = false;
};

/// Takes the first `count` elements, where all others are as they were.
template <class T>
[[nodiscard]] bool take_first(outputs<T>& from, std::size_t count, std::vector<T>& to) {
  to = from.read();
  const bool is_clean = count <= to.size() && std::all_of(to.begin() + static_cast<std::ptrdiff_t>(count), to.end(),
                                                          [](T one) { return one == T{77}; });
  to.resize(std::min(count, to.size()));
  return is_clean;
}

/// The share of the targets for a question that makes so many tests of pairs.
[[nodiscard]] inline auto share_for(std::size_t tests) {
  constexpr std::size_t most_for_reference = std::size_t{1} << 22;
  return [=](const place& at) { return at.is_reference() && tests > most_for_reference ? 0 : one_of_each(at); };
}

}  // namespace zenith_test::spatial

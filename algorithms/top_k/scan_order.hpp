#pragma once

/// \file
/// The order of a call in the terms of a scan, which compares keys of their own type with a bound, not images.

#include <limits>
#include <type_traits>

#include <core/device/function.hpp>
#include <core/entry.hpp>
#include <core/key_order.hpp>

namespace zenith::top_k_detail {

/// Whether a lane of keys reaches a bound. Under `NanFirst` an unordered comparison passes, otherwise it does not.
template <class T, bool Smallest, bool NanFirst>
struct reaches_bound {
  T bound;

  template <class Lane>
  ZENITH_FN auto operator()(const Lane& keys) const {
    if constexpr (NanFirst) {
      return Smallest ? !(keys > Lane(bound)) : !(keys < Lane(bound));
    } else {
      return Smallest ? keys <= Lane(bound) : keys >= Lane(bound);
    }
  }
};

/// Passes every lane, NaN included.
template <class T>
struct passes_all {
  template <class Lane>
  ZENITH_FN auto operator()(const Lane& keys) const {
    return !(keys < keys);
  }
};

template <class T, bool Smallest, bool NanFirst>
struct scan_order {
  using key = T;
  using image_t = ordered::bits_t<T>;
  using entry = ordered::entry_t<image_t>;

  ZENITH_FN static ordered::key_order<T> images() { return {Smallest, NanFirst}; }

  /// Only NaN is worse than every number, so only then must a bound let pass what no comparison passes.
  static constexpr bool may_pass_all = std::is_floating_point_v<T> && !NanFirst;
  ZENITH_FN static bool passes_all_keys(const entry& bound) { return may_pass_all && bound.image() == 0; }

  /// A comparison that all keys of at least the bound's image pass. Between the numbers and NaN there are images that
  /// no key has; they stand for the nearest number, and what passes too many is dropped by its entry.
  ZENITH_FN static reaches_bound<T, Smallest, NanFirst> test(const entry& bound) {
    const auto order = images();
    const image_t image = bound.image();
    if (image <= order.image(worst)) return {worst};
    if (image >= order.image(best)) return {best};
    return {order.key(image)};
  }

 private:
  using limits = std::numeric_limits<T>;
  static constexpr T greatest = limits::has_infinity ? limits::infinity() : limits::max();
  static constexpr T least = limits::has_infinity ? -limits::infinity() : limits::lowest();
  static constexpr T worst = Smallest ? greatest : least;
  static constexpr T best = Smallest ? least : greatest;
};

}  // namespace zenith::top_k_detail

#pragma once

/// \file
/// Curves through all places of a box: points in the order of a curve make a tree by one sort.

#include <limits>

#include <core/device/atomics.hpp>
#include <core/device/kernel.hpp>

namespace zenith::spatial_index_family {

using device::u32;
using device::u64;

/// Coordinates in steps: the range of each axis has as many as bits of D of them fit into a key.
template <class T, unsigned D>
struct curve_steps {
  static constexpr u32 bits = 64 / D;

  T low[D];
  T per_length[D];  ///< 0: all have one place

  /// Of points between `least` and `greatest`.
  static curve_steps between(const T (&least)[D], const T (&greatest)[D]) {
    curve_steps steps{};
    for (unsigned a = 0; a < D; ++a) {
      // halves: a difference may be infinite
      const T half = greatest[a] / 2 - least[a] / 2;
      const T scale = static_cast<T>(u64{1} << bits) / half;
      steps.low[a] = least[a];
      steps.per_length[a] = half > T{0} && scale < std::numeric_limits<T>::infinity() ? scale : T{0};
    }
    return steps;
  }

  ZENITH_FN u32 at(unsigned axis, T value) const {
    constexpr u32 digits = std::numeric_limits<T>::digits;
    constexpr u32 below = bits > digits ? bits - digits : 0;
    constexpr T most = static_cast<T>(((u64{1} << (bits - below)) - 1) << below);
    const T found = (value / 2 - low[axis] / 2) * per_length[axis];
    return static_cast<u32>(found > T{0} ? (found < most ? found : most) : T{0});
  }
};

/// Bits of the coordinates, one of each in turn.
struct z_order {
  template <unsigned D>
  ZENITH_FN static u64 place(const u32 (&steps)[D]) {
    u64 key = 0;
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) key |= spread<D>(steps[a]) << a;
    return key;
  }

 private:
  /// Moves bit b to D * b.
  template <unsigned D>
  ZENITH_FN static u64 spread(u64 x) {
    if constexpr (D == 2) {
      x = (x | x << 16) & 0x0000ffff0000ffffU;
      x = (x | x << 8) & 0x00ff00ff00ff00ffU;
      x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fU;
      x = (x | x << 2) & 0x3333333333333333U;
      return (x | x << 1) & 0x5555555555555555U;
    } else {
      x = (x | x << 32) & 0x001f00000000ffffU;
      x = (x | x << 16) & 0x001f0000ff0000ffU;
      x = (x | x << 8) & 0x100f00f00f00f00fU;
      x = (x | x << 4) & 0x10c30c30c30c30c3U;
      return (x | x << 2) & 0x1249249249249249U;
    }
  }
};

/// Skilling: Programming the Hilbert curve, AIP Conference Proceedings 707, 2004.
struct hilbert_order {
  template <unsigned D>
  ZENITH_FN static u64 place(const u32 (&steps)[D]) {
    constexpr unsigned bits = 64 / D;
    constexpr u32 top = u32{1} << (bits - 1);
    u32 x[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) x[a] = steps[a];
    for (u32 bit = top; bit > 1; bit >>= 1) {
      const u32 below = bit - 1;
      ZENITH_UNROLLED
      for (unsigned a = 0; a < D; ++a) {
        const u32 swapped = (x[a] & bit) != 0 ? 0 : (x[0] ^ x[a]) & below;
        x[0] ^= (x[a] & bit) != 0 ? below : swapped;
        x[a] ^= swapped;
      }
    }
    ZENITH_UNROLLED
    for (unsigned a = 1; a < D; ++a) x[a] ^= x[a - 1];
    u32 turned = 0;
    for (u32 bit = top; bit > 1; bit >>= 1) turned ^= (x[D - 1] & bit) != 0 ? bit - 1 : 0;
    u32 reversed[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) reversed[D - 1 - a] = x[a] ^ turned;
    return z_order::place(reversed);
  }
};

template <class Curve, class T, unsigned D>
struct place_on_curve {
  const T* from[D];
  curve_steps<T, D> steps;
  u64* keys;
  u32* rows;

  ZENITH_FN void operator()(u64 i) const {
    u32 at[D];
    ZENITH_UNROLLED
    for (unsigned a = 0; a < D; ++a) at[a] = steps.at(a, from[a][i]);
    keys[i] = Curve::place(at);
    rows[i] = static_cast<u32>(i);
  }
};

/// Points along a curve.
struct curve_order {
  u64* keys;
  u32* rows;
};
/// n points along a curve, equal places by row. Points that lie nearer to each other than 2^-31 of the extent, or 2^-20
/// in 3-D, have one place.
template <class Curve, class T, unsigned D, class Context>
[[nodiscard]] curve_order order_on_curve(Context& on, const T* const (&from)[D], u64 n,
                                         const curve_steps<T, D>& steps) {
  place_on_curve<Curve, T, D> place{{}, steps, on.template buffer<u64>(n), on.template buffer<u32>(n)};
  for (unsigned a = 0; a < D; ++a) place.from[a] = from[a];
  on.for_each(n, place);
  on.sort_pairs(place.keys, place.rows, n);
  return {place.keys, place.rows};
}

/// Counts the places among `samples` of some that have the next one's key.
struct count_shared_places {
  const u64* keys;  ///< sorted
  u64 count;
  u64 samples;
  u32* shared;

  ZENITH_FN void operator()(u64 i) const {
    const u64 at = i * (count - 1) / samples;
    if (keys[at] == keys[at + 1]) (void)device::atomic_add(shared, 1U);
  }
};

}  // namespace zenith::spatial_index_family

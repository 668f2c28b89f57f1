#pragma once

/// \file
/// The score of a pair. It never falls when one of the two values rises, also as rounded: so a point whose score with
/// the best value of the other side misses a bound misses it with every partner.

#include <algorithms/spatial_join/points.hpp>
#include <zenith/spatial_join_call.hpp>

namespace zenith::spatial_join_family {

/// Of two values: scores times their weights. All values are finite, so no result is NaN: no infinity meets another of
/// the other sign, or a zero.
template <class T>
struct pair_scorer {
  using image = ordered::bits_t<T>;

  pair_score kind;
  bool smallest;

  ZENITH_FN T score(T a, T b) const {
    switch (kind) {
      case pair_score::product: return a * b;
      case pair_score::minimum: return b < a ? b : a;
      case pair_score::maximum: return a < b ? b : a;
      default: return a + b;
    }
  }
  /// Larger is better.
  ZENITH_FN image image_of(T a, T b) const { return ordered::key_order<T>{smallest, false}.image(score(a, b)); }
};

/// Worse than this is not wanted: by the score's image, and among equals by the ids.
template <class T>
struct pair_bound {
  ordered::bits_t<T> image;
  u64 pair;

  ZENITH_FN bool takes(ordered::bits_t<T> other, u64 ids) const {
    return other > image || (other == image && ids <= pair);
  }
};

ZENITH_FN u64 pair_of(u32 left, u32 right) { return static_cast<u64>(left) << 32 | right; }

}  // namespace zenith::spatial_join_family

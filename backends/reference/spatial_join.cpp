#include <backends/reference/spatial_join.hpp>

#include <cmath>

#include <backends/reference/best_pairs.hpp>

namespace zenith::reference_backend {
namespace {

template <class T>
struct sides {
  const spatial_call& call;

  static T at(const void* column, std::uint64_t row) { return static_cast<const T*>(column)[row]; }

  /// Through memory after each operation: a compiler may not contract, reorder or widen.
  [[nodiscard]] bool are_near(std::uint64_t left, std::uint64_t right) const {
    volatile T sum = 0;
    for (unsigned a = 0; a < call.dimensions; ++a) {
      volatile T difference = at(call.left.coordinates[a], left) - at(call.right.coordinates[a], right);
      volatile T square = difference * difference;
      if (a == 0) {
        sum = square;
      } else {
        sum = sum + square;
      }
    }
    const auto distance = static_cast<T>(call.distance);
    volatile T most = distance * distance;
    return sum <= most;
  }

  /// Sets the outcome to the first fault of a side; weight 0: scores are not looked at.
  [[nodiscard]] bool has_fault(const spatial_side& side, bool is_right, bool has_scores, T weight,
                               bool may_be_negative) const {
    const auto find = [&](spatial_fault fault, unsigned axis, const auto& is_bad) {
      for (std::uint64_t row = 0; row < side.rows; ++row) {
        if (!is_bad(row)) continue;
        *call.outcome = {0, fault, is_right, axis, row};
        return true;
      }
      return false;
    };
    for (unsigned a = 0; a < call.dimensions; ++a) {
      if (find(spatial_fault::coordinate, a,
               [&](std::uint64_t row) { return !std::isfinite(at(side.coordinates[a], row)); })) {
        return true;
      }
    }
    if (!has_scores) return false;
    return find(spatial_fault::score, 0, [&](std::uint64_t row) { return !std::isfinite(at(side.scores, row)); }) ||
           find(spatial_fault::weighted_score, 0,
                [&](std::uint64_t row) { return !std::isfinite(at(side.scores, row) * weight); }) ||
           find(spatial_fault::negative_score, 0,
                [&](std::uint64_t row) { return !may_be_negative && at(side.scores, row) < 0; });
  }
};

void write_pair(const spatial_call& call, const spatial_output& out, std::uint64_t at, std::uint64_t left,
                std::uint64_t right) {
  write_id(call.index_bytes, out.left, at, left);
  write_id(call.index_bytes, out.right, at, right);
}

template <class T>
void join(const spatial_join_call& call) {
  const sides<T> both{call};
  *call.outcome = {};
  if (both.has_fault(call.left, false, false, 1, true) || both.has_fault(call.right, true, false, 1, true)) return;
  std::uint64_t count = 0;
  const auto each = [&](const auto& use) {
    for (std::uint64_t a = 0; a < call.left.rows; ++a) {
      for (std::uint64_t b = 0; b < call.right.rows; ++b) {
        if (both.are_near(a, b)) use(a, b);
      }
    }
  };
  each([&](std::uint64_t, std::uint64_t) { ++count; });
  call.outcome->count = count;
  const auto out = call.provide(call.provide_state, count);
  if (out.left == nullptr) return;
  std::uint64_t at = 0;
  each([&](std::uint64_t a, std::uint64_t b) { write_pair(call, out, at++, a, b); });
}

template <class T>
void top_k_join(const top_k_spatial_join_call& call) {
  const sides<T> both{call};
  *call.outcome = {};
  const bool may_be_negative = call.score != pair_score::product;
  if (both.has_fault(call.left, false, true, static_cast<T>(call.left_weight), may_be_negative) ||
      both.has_fault(call.right, true, true, static_cast<T>(call.right_weight), may_be_negative)) {
    return;
  }
  best_pairs<T> best(call);
  for (std::uint64_t a = 0; a < call.left.rows; ++a) {
    for (std::uint64_t b = 0; b < call.right.rows; ++b) {
      if (both.are_near(a, b)) best.add(both.at(call.left.scores, a), a, both.at(call.right.scores, b), b);
    }
  }
  best.deliver(call.left.rows, call.right.rows);
}

}  // namespace

void spatial_join(const execution& /*on*/, const spatial_join_call& call) {
  call.type == key_type::float32 ? join<float>(call) : join<double>(call);
}

void top_k_spatial_join(const execution& /*on*/, const top_k_spatial_join_call& call) {
  call.type == key_type::float32 ? top_k_join<float>(call) : top_k_join<double>(call);
}

}  // namespace zenith::reference_backend

#include <backends/reference/spatial_join.hpp>

#include <cmath>
#include <queue>
#include <tuple>
#include <vector>

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

template <class Index>
void write_ids(void* to, std::uint64_t at, std::uint64_t id) {
  static_cast<Index*>(to)[at] = static_cast<Index>(id);
}

void write_pair(const spatial_call& call, const spatial_output& out, std::uint64_t at, std::uint64_t left,
                std::uint64_t right) {
  const auto write = call.index_bytes == 4 ? write_ids<std::uint32_t> : write_ids<std::uint64_t>;
  write(out.left, at, left);
  write(out.right, at, right);
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
  std::uint64_t at = 0;
  each([&](std::uint64_t a, std::uint64_t b) { write_pair(call, out, at++, a, b); });
}

template <class T>
T score_of(const top_k_spatial_join_call& call, T a, T b) {
  volatile T left = a * static_cast<T>(call.left_weight);
  volatile T right = b * static_cast<T>(call.right_weight);
  switch (call.score) {
    case pair_score::product: return left * right;
    case pair_score::minimum: return right < left ? right : left;
    case pair_score::maximum: return left < right ? right : left;
    default: return left + right;
  }
}

template <class T>
struct scored_pair {
  T score;
  std::uint64_t left;
  std::uint64_t right;
};

template <class T>
void top_k_join(const top_k_spatial_join_call& call) {
  const sides<T> both{call};
  *call.outcome = {};
  const bool may_be_negative = call.score != pair_score::product;
  if (both.has_fault(call.left, false, true, static_cast<T>(call.left_weight), may_be_negative) ||
      both.has_fault(call.right, true, true, static_cast<T>(call.right_weight), may_be_negative)) {
    return;
  }
  const auto is_before = [&](const scored_pair<T>& a, const scored_pair<T>& b) {
    if (a.score != b.score) return call.select == selection::largest ? a.score > b.score : a.score < b.score;
    return std::tie(a.left, a.right) < std::tie(b.left, b.right);
  };
  // the worst of the best so far is on top
  std::priority_queue<scored_pair<T>, std::vector<scored_pair<T>>, decltype(is_before)> best(is_before);
  std::uint64_t pairs = 0;
  for (std::uint64_t a = 0; a < call.left.rows; ++a) {
    for (std::uint64_t b = 0; b < call.right.rows; ++b) {
      if (!both.are_near(a, b)) continue;
      ++pairs;
      const scored_pair<T> here{score_of(call, both.at(call.left.scores, a), both.at(call.right.scores, b)), a, b};
      if (best.size() == call.k) {
        if (!is_before(here, best.top())) continue;
        best.pop();
      }
      best.push(here);
    }
  }
  call.outcome->count = best.size();
  if (call.statistics != nullptr) *call.statistics = {1, call.left.rows, call.right.rows, pairs};
  const auto out = call.provide(call.provide_state, best.size());
  for (auto at = best.size(); at > 0; best.pop()) {
    --at;
    write_pair(call, out, at, best.top().left, best.top().right);
    static_cast<T*>(out.scores)[at] = best.top().score;
  }
}

}  // namespace

void spatial_join(const execution& /*on*/, const spatial_join_call& call) {
  call.type == key_type::float32 ? join<float>(call) : join<double>(call);
}

void top_k_spatial_join(const execution& /*on*/, const top_k_spatial_join_call& call) {
  call.type == key_type::float32 ? top_k_join<float>(call) : top_k_join<double>(call);
}

}  // namespace zenith::reference_backend

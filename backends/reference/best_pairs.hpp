#pragma once

/// \file
/// The best pairs of a ranked join, one looked at after the other.

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include <zenith/spatial_join_call.hpp>

namespace zenith::reference_backend {

/// An id of 4 or 8 bytes.
inline void write_id(int index_bytes, void* to, std::uint64_t at, std::uint64_t id) {
  if (index_bytes == 4) {
    static_cast<std::uint32_t*>(to)[at] = static_cast<std::uint32_t>(id);
  } else {
    static_cast<std::uint64_t*>(to)[at] = id;
  }
}

/// Through memory after each operation: a compiler may not contract, reorder or widen.
template <class T>
[[nodiscard]] T score_of(const top_k_spatial_join_call& call, T a, T b) {
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
class best_pairs {
 public:
  explicit best_pairs(const top_k_spatial_join_call& call) : call_(call), best_(before{call.select}) {}

  void add(T left_score, std::uint64_t left, T right_score, std::uint64_t right) {
    const pair here{score_of(call_, left_score, right_score), left, right};
    ++seen_;
    if (best_.size() == call_.k) {
      if (!before{call_.select}(here, best_.top())) return;
      best_.pop();
    }
    best_.push(here);
  }

  /// What the call wants, when all pairs of `left` and `right` rows were added.
  void deliver(std::uint64_t left, std::uint64_t right) {
    call_.outcome->count = best_.size();
    if (call_.statistics != nullptr) *call_.statistics = {1, left, right, seen_};
    const auto out = call_.provide(call_.provide_state, best_.size());
    if (out.left == nullptr) return;
    for (auto at = best_.size(); at > 0; best_.pop()) {
      --at;
      write_id(call_.index_bytes, out.left, at, best_.top().left);
      write_id(call_.index_bytes, out.right, at, best_.top().right);
      static_cast<T*>(out.scores)[at] = best_.top().score;
    }
  }

 private:
  struct pair {
    T score;
    std::uint64_t left;
    std::uint64_t right;
  };
  struct before {
    selection select;
    bool operator()(const pair& a, const pair& b) const {
      if (a.score != b.score) return select == selection::largest ? a.score > b.score : a.score < b.score;
      return std::tie(a.left, a.right) < std::tie(b.left, b.right);
    }
  };

  const top_k_spatial_join_call& call_;
  std::uint64_t seen_ = 0;
  std::priority_queue<pair, std::vector<pair>, before> best_;  ///< the worst of the best so far is on top
};

}  // namespace zenith::reference_backend

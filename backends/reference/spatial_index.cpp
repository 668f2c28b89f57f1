#include <backends/reference/spatial_index.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <backends/reference/best_pairs.hpp>

namespace zenith::reference_backend {
namespace {

/// The items of an index; its nodes are not looked at.
template <class T>
struct index_items {
  const spatial_index_layout& of;
  const std::byte* bytes;

  explicit index_items(const spatial_index_memory& index) : of(*index.layout), bytes(index.bytes) {}

  template <class U>
  [[nodiscard]] U at(std::uint64_t offset, std::uint64_t i) const {
    return reinterpret_cast<const U*>(bytes + offset)[i];
  }
  [[nodiscard]] T low(unsigned axis, std::uint64_t i) const { return at<T>(of.low[axis], i); }
  [[nodiscard]] T high(unsigned axis, std::uint64_t i) const { return at<T>(of.high[axis], i); }
  [[nodiscard]] T score(std::uint64_t i) const { return at<T>(of.scores, i); }
  [[nodiscard]] std::uint64_t id(std::uint64_t i) const { return at<std::uint32_t>(of.ids, i); }
};

/// The gap between two intervals, and sums of squares: through memory after each operation, so that a compiler may not
/// contract, reorder or widen.
template <class T>
struct gaps {
  bool intersects;
  T distance;
  volatile T sum = 0;
  bool has_gap = false;

  void add(unsigned axis, T a_low, T a_high, T b_low, T b_high) {
    volatile T gap = 0;
    if (b_low > a_high) gap = b_low - a_high;
    if (a_low > b_high) gap = a_low - b_high;
    has_gap = has_gap || gap > 0;
    volatile T square = gap * gap;
    if (axis == 0) {
      sum = square;
    } else {
      sum = sum + square;
    }
  }
  [[nodiscard]] bool are_near() const {
    volatile T most = distance * distance;
    return intersects ? !has_gap : sum <= most;
  }
};

template <class T>
void range(const top_k_range_call& call) {
  const index_items<T> items(call.index);
  std::vector<std::pair<T, std::uint64_t>> found;
  for (std::uint64_t i = 0; i < items.of.items; ++i) {
    gaps<T> between{call.intersects, static_cast<T>(call.distance)};
    for (unsigned a = 0; a < items.of.dimensions; ++a) {
      between.add(a, items.low(a, i), items.high(a, i), static_cast<T>(call.low[a]), static_cast<T>(call.high[a]));
    }
    if (between.are_near()) found.emplace_back(items.score(i), items.id(i));
  }
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return call.select == selection::largest ? a.first > b.first : a.first < b.first;
    return a.second < b.second;
  });
  const auto count = std::min<std::uint64_t>(found.size(), call.k);
  *call.found = count;
  const auto out = call.provide(call.provide_state, count);
  if (out.left == nullptr) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    write_id(call.index_bytes, out.left, i, found[i].second);
    static_cast<T*>(out.scores)[i] = found[i].first;
  }
}

/// Whether item i of the left index and item j of the right one are near.
template <class T, class Call>
bool are_near(const Call& call, const index_items<T>& left, std::uint64_t i, const index_items<T>& right,
              std::uint64_t j) {
  gaps<T> between{call.intersects, static_cast<T>(call.distance)};
  for (unsigned a = 0; a < call.dimensions; ++a) {
    between.add(a, left.low(a, i), left.high(a, i), right.low(a, j), right.high(a, j));
  }
  return between.are_near();
}

template <class T>
void join(const index_join_call& call) {
  const index_items<T> left(call.left_index);
  const index_items<T> right(call.right_index);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (std::uint64_t i = 0; i < left.of.items; ++i) {
    if (left.id(i) < call.first || left.id(i) - call.first >= call.rows) continue;
    for (std::uint64_t j = 0; j < right.of.items; ++j) {
      if (are_near<T>(call, left, i, right, j)) pairs.emplace_back(left.id(i) - call.first, right.id(j));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  *call.outcome = {};
  call.outcome->count = pairs.size();
  const auto out = call.provide(call.provide_state, pairs.size());
  if (out.left == nullptr) return;
  for (std::uint64_t at = 0; at < pairs.size(); ++at) {
    write_id(call.index_bytes, out.left, at, pairs[at].first);
    write_id(call.index_bytes, out.right, at, pairs[at].second);
  }
}

template <class T>
void join(const top_k_index_join_call& call) {
  const index_items<T> left(call.left_index);
  const index_items<T> right(call.right_index);
  *call.outcome = {};
  best_pairs<T> best(call);
  for (std::uint64_t i = 0; i < left.of.items; ++i) {
    for (std::uint64_t j = 0; j < right.of.items; ++j) {
      if (are_near<T>(call, left, i, right, j)) best.add(left.score(i), left.id(i), right.score(j), right.id(j));
    }
  }
  best.deliver(left.of.items, right.of.items);
}

}  // namespace

void index_join(const execution& /*on*/, const index_join_call& call) {
  call.type == key_type::float32 ? join<float>(call) : join<double>(call);
}

void top_k_range(const execution& /*on*/, const top_k_range_call& call) {
  call.index.layout->type == key_type::float32 ? range<float>(call) : range<double>(call);
}

void top_k_index_join(const execution& /*on*/, const top_k_index_join_call& call) {
  call.type == key_type::float32 ? join<float>(call) : join<double>(call);
}

}  // namespace zenith::reference_backend

#include <backends/reference/scored_top_k.hpp>

#include <type_traits>
#include <vector>

#include <backends/reference/top_k.hpp>

namespace zenith::reference_backend {
namespace {

// Through memory after each operation: a compiler may not contract, reorder or widen.
template <class T, class Score>
void score_and_sort(const execution& on, const scored_top_k_call& call) {
  std::vector<Score> scores(call.result.count);
  for (std::uint64_t i = 0; i < call.result.count; ++i) {
    volatile Score sum = 0;
    for (unsigned j = 0; j < call.column_count; ++j) {
      const auto value = static_cast<Score>(static_cast<const T*>(call.columns[j])[call.first_row + i]);
      volatile Score product = static_cast<const Score*>(call.weights)[j] * value;
      if (j == 0) {
        sum = product;
      } else {
        sum = sum + product;
      }
    }
    scores[i] = sum;
  }
  auto inner = call.result;
  inner.keys = scores.data();
  top_k(on, inner);
}

}  // namespace

void scored_top_k(const execution& on, const scored_top_k_call& call) {
  switch (call.type) {
    case key_type::float32: return score_and_sort<float, float>(on, call);
    case key_type::float64: return score_and_sort<double, double>(on, call);
    case key_type::int32: return score_and_sort<std::int32_t, double>(on, call);
    default: return score_and_sort<std::uint32_t, double>(on, call);
  }
}

}  // namespace zenith::reference_backend

#include <backends/reference/top_k.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <core/with_key_type.hpp>

namespace zenith::reference_backend {
namespace {

template <class T>
bool is_nan(T x) {
  return x != x;
}

// Whether a is a better key than b: the definition of the order, without images or tricks.
template <class T>
bool better(T a, T b, const top_k_call& call) {
  if (is_nan(a) || is_nan(b)) return call.nan_first ? is_nan(a) && !is_nan(b) : !is_nan(a) && is_nan(b);
  return call.select == selection::largest ? a > b : a < b;
}

template <class T, class Index>
void sort_and_take(const top_k_call& call) {
  const T* keys = static_cast<const T*>(call.keys);
  std::vector<std::uint64_t> positions(call.count);
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  std::stable_sort(positions.begin(), positions.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return better(keys[a], keys[b], call); });
  for (std::uint64_t i = 0; i < call.k; ++i) {
    static_cast<T*>(call.out_keys)[i] = keys[positions[i]];
    static_cast<Index*>(call.out_indices)[i] = static_cast<Index>(call.first_index + positions[i]);
  }
}

}  // namespace

void top_k(const execution& /*on*/, const top_k_call& call) {
  detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    call.index_bytes == 4 ? sort_and_take<T, std::uint32_t>(call) : sort_and_take<T, std::uint64_t>(call);
  });
  if (call.statistics != nullptr) *call.statistics = {"stable sort", 1, 1, call.count};
}

}  // namespace zenith::reference_backend

#include <backends/reference/predicated_top_k.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include <backends/reference/top_k.hpp>
#include <core/with_key_type.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::reference_backend {
namespace {

// Value i of the predicate's column against its bounds, all in the column's own type.
template <class T>
bool is_in(const row_range& rows, std::uint64_t i) {
  T low;
  T high;
  T value;
  std::memcpy(&low, &rows.low, sizeof low);
  std::memcpy(&high, &rows.high, sizeof high);
  if constexpr (std::is_integral_v<T>) {
    value = rows.is_packed ? static_cast<T>(packed::value_at<std::make_unsigned_t<T>>(rows.column, i))
                           : static_cast<const T*>(rows.values)[i];
  } else {
    value = static_cast<const T*>(rows.values)[i];
  }
  return value >= low && value <= high;
}

}  // namespace

// The rows that are taken are copied, and the top-k of the copy has their places.
void predicated_top_k(const execution& on, const predicated_top_k_call& call) {
  std::vector<std::uint64_t> taken;
  detail::with_key_type(call.rows.type, [&]<class T>(std::type_identity<T>) {
    for (std::uint64_t i = 0; i < call.result.count; ++i) {
      if (is_in<T>(call.rows, i)) taken.push_back(i);
    }
  });
  detail::with_key_type(call.result.type, [&]<class T>(std::type_identity<T>) {
    std::vector<T> keys;
    keys.reserve(taken.size());
    for (const auto i : taken) keys.push_back(static_cast<const T*>(call.result.keys)[i]);
    const auto k = std::min<std::uint64_t>(call.result.k, keys.size());
    *call.found = k;
    if (k == 0) return;
    std::vector<T> best(k);
    std::vector<std::uint64_t> places(k);
    auto inner = call.result;
    inner.keys = keys.data();
    inner.count = keys.size();
    inner.k = k;
    inner.out_keys = best.data();
    inner.out_indices = places.data();
    inner.index_bytes = 8;
    inner.first_index = 0;
    top_k(on, inner);
    if (call.has_nan != nullptr && best[0] != best[0]) {
      *call.has_nan = true;
      return;
    }
    for (std::uint64_t i = 0; i < k; ++i) {
      const auto row = call.result.first_index + taken[places[i]];
      static_cast<T*>(call.result.out_keys)[i] = best[i];
      if (call.result.index_bytes == 4) {
        static_cast<std::uint32_t*>(call.result.out_indices)[i] = static_cast<std::uint32_t>(row);
      } else {
        static_cast<std::uint64_t*>(call.result.out_indices)[i] = row;
      }
    }
  });
}

}  // namespace zenith::reference_backend

#include <backends/reference/packed_column.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

#include <algorithms/packed_column/pack.hpp>
#include <backends/reference/top_k.hpp>
#include <core/with_key_type.hpp>

namespace zenith::reference_backend {
namespace {

// Calls function(i, value) for each value, in its own type.
template <class Function>
void for_each(const packed_layout& column, std::uint64_t first, std::uint64_t count, Function&& function) {
  detail::with_key_type(column.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (std::uint64_t i = first; i < first + count; ++i) {
        function(i, static_cast<T>(packed::value_at<std::make_unsigned_t<T>>(column, i)));
      }
    }
  });
}

template <class T>
std::uint64_t bits(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

void report(packed_statistics* to) {
  if (to != nullptr) *to = {"value by value", 1};
}

}  // namespace

void pack(const execution& /*on*/, const pack_call& call) {
  const auto for_groups = [](std::uint64_t groups, const auto& work) {
    for (std::uint64_t g = 0; g < groups; ++g) work(g);
  };
  size_of(call.type) == 4 ? packed::pack_groups(call, packed::plain_encoder<std::uint32_t>(call), for_groups)
                          : packed::pack_groups(call, packed::plain_encoder<std::uint64_t>(call), for_groups);
  report(call.statistics);
}

void unpack(const execution& /*on*/, const unpack_call& call) {
  for_each(call.column, call.first, call.count,
           [&]<class T>(std::uint64_t i, T value) { static_cast<T*>(call.out)[i - call.first] = value; });
  report(call.statistics);
}

void packed_sum(const execution& /*on*/, const packed_sum_call& call) {
  *call.sum = 0;
  for_each(call.column, 0, call.column.count, [&](std::uint64_t, auto value) {
    *call.sum += static_cast<std::uint64_t>(value);  // widens by the value's sign
  });
  report(call.statistics);
}

void packed_extremes(const execution& /*on*/, const packed_extremes_call& call) {
  for_each(call.column, 0, call.column.count, [&]<class T>(std::uint64_t i, T value) {
    const bool first = i == 0;
    if (first || value < static_cast<T>(*call.minimum)) *call.minimum = bits(value);
    if (first || value > static_cast<T>(*call.maximum)) *call.maximum = bits(value);
  });
  report(call.statistics);
}

void packed_select(const execution& /*on*/, const packed_select_call& call) {
  std::vector<std::uint64_t> matching;
  for_each(call.column, 0, call.column.count, [&]<class T>(std::uint64_t i, T value) {
    if (value >= static_cast<T>(call.low) && value <= static_cast<T>(call.high)) matching.push_back(i);
  });
  *call.matches = matching.size();
  if (call.bitmap != nullptr) {
    std::fill_n(call.bitmap, (call.column.count + 63) / 64, 0);
    for (const auto i : matching) call.bitmap[i / 64] |= std::uint64_t{1} << (i % 64);
  } else if (matching.size() <= call.capacity) {
    for (std::size_t m = 0; m < matching.size(); ++m) {
      if (call.index_bytes == 4) {
        static_cast<std::uint32_t*>(call.indices)[m] = static_cast<std::uint32_t>(matching[m]);
      } else {
        static_cast<std::uint64_t*>(call.indices)[m] = matching[m];
      }
    }
  }
  report(call.statistics);
}

void packed_top_k(const execution& on, const packed_top_k_call& call) {
  detail::with_key_type(call.column.type, [&]<class T>(std::type_identity<T>) {
    std::vector<T> values(call.column.count);
    unpack(on, {call.column, memory_space::host, 0, call.column.count, values.data(), nullptr});
    auto inner = call.top_k;
    inner.keys = values.data();
    top_k(on, inner);
  });
}

}  // namespace zenith::reference_backend

#pragma once

/// \file
/// Strategy "fused": the filter of top-k over the predicated source.
///
///   1. select    the k best of the masked keys, in the filter's one pass. Those better than the type's worst key are
///                the answer's first, because no masked key is among them
///   2. complete  only when they are fewer than k: the rows that are taken and have that worst key, by rising index

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <algorithms/predicated_top_k/family.hpp>
#include <algorithms/predicated_top_k/source.hpp>
#include <algorithms/top_k/filter.hpp>
#include <core/device/context.hpp>

namespace zenith::predicated_top_k_family {

/// *to = how many of the keys, which stand best first, are better than the worst image.
template <class T>
struct count_better {
  const T* keys;
  u64 count;
  ordered::key_order<T> order;
  ordered::bits_t<T> worst;
  u64* to;

  ZENITH_FN void operator()(u64 /*i*/) const {
    u64 low = 0;
    u64 high = count;
    while (low < high) {
      const u64 middle = (low + high) / 2;
      if (order.image(keys[middle]) > worst) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    *to = low;
  }
};

/// Whether a row is taken and has the worst image.
template <class T>
struct is_taken_and_worst {
  const T* keys;
  row_range rows;
  ordered::key_order<T> order;
  ordered::bits_t<T> worst;

  ZENITH_FN bool operator()(u64 i) const { return order.image(keys[i]) == worst && is_taken(rows, i); }
};

/// The rows of a list to the results.
template <class T, class Index>
struct append_rows {
  const u32* list;
  const T* keys;
  T* out_keys;
  Index* out_indices;
  u64 first_index;

  ZENITH_FN void operator()(u64 i) const {
    out_keys[i] = keys[list[i]];
    out_indices[i] = static_cast<Index>(first_index + list[i]);
  }
};

template <class... T>
struct kernels_for {
  using type = device::concat<typename top_k_detail::filter<predicated<T>>::kernels...,
                              device::list<count_better<T>, append_rows<T, u32>, append_rows<T, u64>>...>;
};
using kernels =
    device::concat<typename kernels_for<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>::type,
                   top_k_detail::filter_common_kernels>;

namespace detail {

/// A key that none is worse than.
template <class T>
T worst_key(bool smallest, bool nan_first) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    if (!nan_first) return limits::quiet_NaN();
    return smallest ? limits::infinity() : -limits::infinity();
  } else {
    return smallest ? limits::max() : limits::lowest();
  }
}

template <class T, class Index, class Context>
void select(Context& on, const predicated_top_k_call& call) {
  const auto& asked = call.result;
  auto rows = call.rows;
  if (rows.is_packed) {
    rows.column.bytes = on.input(rows.column.bytes, rows.column.total_bytes, asked.space);
  } else if (size_of(rows.type) == 4) {
    rows.values = on.input(static_cast<const u32*>(rows.values), asked.count, asked.space);
  } else {
    rows.values = on.input(static_cast<const u64*>(rows.values), asked.count, asked.space);
  }
  const T* const keys = on.input(static_cast<const T*>(asked.keys), asked.count, asked.space);
  const bool smallest = asked.select == selection::smallest;
  const ordered::key_order<T> order{smallest, asked.nan_first};
  const T worst = worst_key<T>(smallest, asked.nan_first);
  const auto worst_image = order.image(worst);

  T* const best = on.template buffer<T>(asked.k);
  Index* const indices = on.template buffer<Index>(asked.k);
  auto* const better = on.template buffer<u64>(1);
  top_k_detail::selection_request<T> request;
  request.k = asked.k;
  request.smallest = smallest;
  request.nan_first = asked.nan_first;
  request.out_keys = best;
  request.out_indices = indices;
  request.index_bytes = sizeof(Index);
  request.first_index = asked.first_index;
  request.statistics = asked.statistics;
  const predicated<T> source{keys, asked.count, worst, rows};
  top_k_detail::filter<predicated<T>>::run(on, source, request);  // 1. select
  on.for_each(1, count_better<T>{best, asked.k, order, worst_image, better});
  u64 found = on.read(better);
  if (found < asked.k) {  // 2. complete
    auto* const list = on.template buffer<u32>(asked.count);
    auto* const length = on.template buffer<u32>(1);
    on.compact(asked.count, is_taken_and_worst<T>{keys, rows, order, worst_image}, list, length);
    const u64 more = std::min<u64>(asked.k - found, on.read(length));
    on.for_each(more, append_rows<T, Index>{list, keys, best + found, indices + found, asked.first_index});
    found += more;
    if (asked.statistics != nullptr) ++asked.statistics->reads;
  }
  *call.found = found;
  if (found == 0) return;
  if (call.has_nan != nullptr) {
    const T first = on.read(best);
    *call.has_nan = !(first <= first);
    if (*call.has_nan) return;
  }
  T* const out_keys = on.output(static_cast<T*>(asked.out_keys), found, asked.space);
  Index* const out_indices = on.output(static_cast<Index*>(asked.out_indices), found, asked.space);
  on.copy(out_keys, best, found);
  on.copy(out_indices, indices, found);
  on.finish();
}

}  // namespace detail

template <class Context>
void fused::run(Context& on, const predicated_top_k_call& call) {
  const auto as = [&]<class T>(std::type_identity<T>) {
    call.result.index_bytes == 4 ? detail::select<T, u32>(on, call) : detail::select<T, u64>(on, call);
  };
  switch (call.result.type) {
    case key_type::float32: return as(std::type_identity<float>{});
    case key_type::float64: return as(std::type_identity<double>{});
    case key_type::int32: return as(std::type_identity<std::int32_t>{});
    case key_type::uint32: return as(std::type_identity<std::uint32_t>{});
    case key_type::int64: return as(std::type_identity<std::int64_t>{});
    case key_type::uint64: return as(std::type_identity<std::uint64_t>{});
  }
}

}  // namespace zenith::predicated_top_k_family

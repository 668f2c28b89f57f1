#pragma once

/// \file
/// Strategy "fused": the filter of top-k over the predicated source.
///
///   1. select    the k best of the masked keys that are better than the worst key, in the filter's one pass. They are
///                the answer's first, because no masked key is among them
///   2. complete  only when they are fewer than k: the rows that are taken and have that worst key, by rising index
///   3. write     the keys of these rows, in the input's own bits

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <algorithms/predicated_top_k/family.hpp>
#include <algorithms/predicated_top_k/source.hpp>
#include <algorithms/top_k/filter.hpp>
#include <core/device/context.hpp>

namespace zenith::predicated_top_k_family {

/// Whether a row has the worst key, which few rows have: so this is asked first, of all.
template <class Keys>
struct has_worst_key {
  static constexpr bool is_flag = true;

  Keys keys;

  ZENITH_FN bool operator()(u64 i) const { return keys.is_worst(i); }
};

/// Whether a row of a list is taken.
struct is_taken_of_list {
  row_range rows;
  const u32* list;

  ZENITH_FN bool operator()(u64 i) const { return is_taken(rows, list[i]); }
};

/// Rows of a list, by their places in it.
struct pick_of_list {
  const u32* list;
  const u32* places;
  u32* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = list[places[i]]; }
};

/// The rows' keys and indices to the results.
template <class Stored, class Index>
struct write_rows {
  const u32* rows;
  const Stored* keys;
  Stored* out_keys;
  Index* out_indices;
  u64 first_index;

  ZENITH_FN void operator()(u64 i) const {
    out_keys[i] = keys[rows[i]];
    out_indices[i] = static_cast<Index>(first_index + rows[i]);
  }
};

template <class... T>
struct kernels_for {
  using type = device::concat<typename top_k_detail::filter<predicated<own_keys<T>>>::kernels...,
                              device::list<write_rows<T, u32>..., write_rows<T, u64>...>>;
};
using kernels =
    device::concat<typename kernels_for<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>::type,
                   device::list<pick_of_list>, top_k_detail::filter_common_kernels>;

namespace detail {

/// The rows with their column where the context's kernels read it. A bitmap of them lies there, and stands for it.
template <class Context>
row_range rows_within(Context& on, const predicated_top_k_call& call) {
  auto rows = call.rows;
  const auto& given = call.result;
  if (rows.taken != nullptr) return rows;
  if (rows.is_packed) {
    rows.column.bytes = on.input(rows.column.bytes, rows.column.total_bytes, given.space);
  } else if (size_of(rows.type) == 4) {
    rows.values = on.input(static_cast<const u32*>(rows.values), given.count, given.space);
  } else {
    rows.values = on.input(static_cast<const u64*>(rows.values), given.count, given.space);
  }
  return rows;
}

template <class Keys, class Context>
void select(Context& on, const predicated_top_k_call& call) {
  using stored = typename Keys::stored;
  using key = typename Keys::key;
  const auto& asked = call.result;
  const auto rows = rows_within(on, call);
  const Keys keys(on.input(static_cast<const stored*>(asked.keys), asked.count, asked.space), asked.type,
                  asked.select == selection::smallest, asked.nan_first);

  key* const best = on.template buffer<key>(asked.k);
  u32* const best_rows = on.template buffer<u32>(asked.k);
  top_k_detail::selection_request<key> request;
  request.k = asked.k;
  request.smallest = keys.order().smallest;
  request.nan_first = keys.order().nan_first;
  request.out_keys = best;
  request.out_indices = best_rows;
  request.index_bytes = sizeof(u32);
  request.statistics = asked.statistics;
  request.least_image = keys.order().image(keys.worst) + 1;
  request.may_wait = true;  // the call does so in any case
  u64 found = 0;
  const auto select_from = [&]<class Source>(const Source& source) {  // 1. select
    found = top_k_detail::filter<Source>::run(on, source, request);
  };
  const predicated<Keys> by_blocks{keys, asked.count, rows};
  if constexpr (Context::runs_on_host) {
    select_from(by_blocks);
  } else if (rows.is_packed && rows.taken == nullptr) {
    select_from(by_blocks);
  } else {
    select_from(masked<Keys>{keys, asked.count, rows});
  }
  if (call.has_nan != nullptr) {  // a NaN is better than every number
    *call.has_nan = found > 0 && keys.is_nan(on.read(best));
    if (*call.has_nan) return;
  }
  if (found < asked.k) {  // 2. complete
    auto* const list = on.template buffer<u32>(asked.count);
    auto* const length = on.template buffer<u32>(1);
    on.compact(asked.count, has_worst_key<Keys>{keys}, list, length);
    if (const u64 worst = on.read(length); worst > 0) {
      auto* const places = on.template buffer<u32>(worst);
      on.compact(worst, is_taken_of_list{rows, list}, places, length);
      const u64 more = std::min<u64>(asked.k - found, on.read(length));
      on.for_each(more, pick_of_list{list, places, best_rows + found});
      found += more;
    }
    if (asked.statistics != nullptr) ++asked.statistics->reads;
  }
  *call.found = found;
  if (found == 0) return;
  auto* const out_keys = on.output(static_cast<stored*>(asked.out_keys), found, asked.space);  // 3. write
  const auto write = [&]<class Index>(Index* out) {
    on.for_each(found, write_rows<stored, Index>{best_rows, keys.keys, out_keys, on.output(out, found, asked.space),
                                                 asked.first_index});
  };
  asked.index_bytes == 4 ? write(static_cast<u32*>(asked.out_indices)) : write(static_cast<u64*>(asked.out_indices));
  on.finish();
}

}  // namespace detail

template <class Context>
void fused::run(Context& on, const predicated_top_k_call& call) {
  if constexpr (Context::runs_on_host) {
    const auto as = [&]<class T>(std::type_identity<T>) { detail::select<own_keys<T>>(on, call); };
    switch (call.result.type) {
      case key_type::float32: return as(std::type_identity<float>{});
      case key_type::float64: return as(std::type_identity<double>{});
      case key_type::int32: return as(std::type_identity<std::int32_t>{});
      case key_type::uint32: return as(std::type_identity<std::uint32_t>{});
      case key_type::int64: return as(std::type_identity<std::int64_t>{});
      case key_type::uint64: return as(std::type_identity<std::uint64_t>{});
    }
  } else if (size_of(call.result.type) == 4) {
    detail::select<key_images<u32>>(on, call);
  } else {
    detail::select<key_images<u64>>(on, call);
  }
}

}  // namespace zenith::predicated_top_k_family

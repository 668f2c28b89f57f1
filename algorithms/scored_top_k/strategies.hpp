#pragma once

/// \file
/// The strategies of scored top-k: the filter of top-k over other sources.

#include <cstdint>
#include <type_traits>

#include <algorithms/scored_top_k/family.hpp>
#include <algorithms/scored_top_k/store_scores.hpp>
#include <algorithms/top_k/filter.hpp>
#include <algorithms/top_k/stored_keys.hpp>
#include <algorithms/top_k/strategies.hpp>
#include <core/device/context.hpp>

namespace zenith::scored_top_k_family {

template <class T>
using score_of = std::conditional_t<std::is_same_v<T, float>, float, double>;

template <class T>
using scored_columns = device::scored<T, score_of<T>>;

template <class... T>
struct kernels_for {
  using type = device::concat<typename top_k_detail::filter<scored_columns<T>>::kernels...,
                              device::list<store_scores<scored_columns<T>>...>>;
};

using kernels =
    device::concat<typename kernels_for<float, double, std::int32_t, std::uint32_t>::type,
                   top_k_detail::filter<device::plain<float>>::kernels,
                   top_k_detail::filter<device::plain<double>>::kernels, top_k_detail::filter_common_kernels>;

namespace detail {

/// Calls use(source) with the call's columns where kernels can read them.
template <class Context, class Use>
void with_columns(Context& on, const scored_top_k_call& call, const Use& use) {
  const auto as = [&]<class T>(std::type_identity<T>) {
    scored_columns<T> source{};
    source.count = call.result.count;
    source.columns = call.column_count;
    for (unsigned j = 0; j < call.column_count; ++j) {
      source.column[j] =
          on.input(static_cast<const T*>(call.columns[j]) + call.first_row, source.count, call.result.space);
      source.weight[j] = static_cast<const score_of<T>*>(call.weights)[j];
    }
    use(source);
  };
  switch (call.type) {
    case key_type::float32: return as(std::type_identity<float>{});
    case key_type::float64: return as(std::type_identity<double>{});
    case key_type::int32: return as(std::type_identity<std::int32_t>{});
    default: return as(std::type_identity<std::uint32_t>{});
  }
}

}  // namespace detail

template <class Context>
void scan::run(Context& on, const scored_top_k_call& call) {
  detail::with_columns(on, call, [&](const auto& source) { top_k_family::select_from(on, source, call.result); });
}

template <class Context>
void full::run(Context& on, const scored_top_k_call& call) {
  detail::with_columns(on, call, [&]<class Source>(const Source& source) {
    using score = typename Source::key;
    auto* const scores = on.template buffer<score>(source.count);
    if constexpr (Context::runs_on_host) {
      on.for_each(source.count, store_scores<Source>{source, scores});
    } else {
      const auto store = store_scores_of_rows<Source>::of(source, scores);
      on.for_each(store.items, store);
    }
    top_k_family::select_from_stored(on, static_cast<const score*>(scores), call.result);
  });
}

}  // namespace zenith::scored_top_k_family

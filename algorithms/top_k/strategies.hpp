#pragma once

/// \file
/// The texts of top-k's strategies over the device context, and their kernels.

#include <cstdint>
#include <type_traits>

#include <algorithms/top_k/bitonic_select.hpp>
#include <algorithms/top_k/family.hpp>
#include <algorithms/top_k/filter.hpp>
#include <core/device/context.hpp>

namespace zenith::top_k_family {

template <template <class> class Strategy, class... T>
using kernels_of = device::concat<typename Strategy<device::plain<T>>::kernels...>;
template <template <class> class Strategy>
using kernels_of_all = kernels_of<Strategy, float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
using kernels = device::concat<kernels_of_all<top_k_detail::filter>, kernels_of_all<top_k_detail::bitonic>,
                               top_k_detail::filter_common_kernels, top_k_detail::bitonic_common_kernels>;

/// A strategy over any source, with the call's outputs where kernels can write them.
template <template <class> class Strategy = top_k_detail::filter, class Context, class Source>
void select_from(Context& on, const Source& source, const top_k_call& asked) {
  using key = typename Source::key;
  top_k_detail::selection_request<key> request;
  request.k = asked.k;
  request.smallest = asked.select == selection::smallest;
  request.nan_first = asked.nan_first;
  request.out_keys = on.output(static_cast<key*>(asked.out_keys), asked.k, asked.space);
  request.index_bytes = asked.index_bytes;
  if (asked.index_bytes == 4) {
    request.out_indices = on.output(static_cast<std::uint32_t*>(asked.out_indices), asked.k, asked.space);
  } else {
    request.out_indices = on.output(static_cast<std::uint64_t*>(asked.out_indices), asked.k, asked.space);
  }
  request.first_index = asked.first_index;
  request.statistics = asked.statistics;
  request.may_wait = asked.space == memory_space::host;  // the call does so in any case
  Strategy<Source>::run(on, source, request);
  on.finish();
}

/// A strategy over the call's own keys.
template <template <class> class Strategy, class Context>
void select_from_keys(Context& on, const top_k_call& call) {
  const auto as = [&]<class T>(std::type_identity<T>) {
    const T* const keys = on.input(static_cast<const T*>(call.keys), call.count, call.space);
    select_from<Strategy>(on, device::plain<T>{keys, call.count}, call);
  };
  switch (call.type) {
    case key_type::float32: return as(std::type_identity<float>{});
    case key_type::float64: return as(std::type_identity<double>{});
    case key_type::int32: return as(std::type_identity<std::int32_t>{});
    case key_type::uint32: return as(std::type_identity<std::uint32_t>{});
    case key_type::int64: return as(std::type_identity<std::int64_t>{});
    case key_type::uint64: return as(std::type_identity<std::uint64_t>{});
  }
}

template <class Context>
void filter::run(Context& on, const top_k_call& call) {
  select_from_keys<top_k_detail::filter>(on, call);
}
template <class Context>
void bitonic::run(Context& on, const top_k_call& call) {
  select_from_keys<top_k_detail::bitonic>(on, call);
}

}  // namespace zenith::top_k_family

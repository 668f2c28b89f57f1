#pragma once

/// \file
/// The texts of top-k's strategies over the device context, and their kernels.

#include <cstdint>
#include <type_traits>

#include <algorithms/top_k/family.hpp>
#include <algorithms/top_k/filter.hpp>
#include <core/device/context.hpp>

namespace zenith::top_k_family {

template <class... T>
using filter_kernels_of = device::concat<typename top_k_detail::filter<device::plain<T>>::kernels...>;
using kernels =
    device::concat<filter_kernels_of<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>,
                   top_k_detail::filter_common_kernels>;

/// The filter over any source, with the call's outputs where kernels can write them.
template <class Context, class Source>
void select_from(Context& on, const Source& source, const top_k_call& asked) {
  using key = typename Source::key;
  top_k_detail::filter_request<key> request;
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
  top_k_detail::filter<Source>::run(on, source, request);
  on.finish();
}

template <class Context>
void filter::run(Context& on, const top_k_call& call) {
  const auto as = [&]<class T>(std::type_identity<T>) {
    const T* const keys = on.input(static_cast<const T*>(call.keys), call.count, call.space);
    select_from(on, device::plain<T>{keys, call.count}, call);
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

}  // namespace zenith::top_k_family

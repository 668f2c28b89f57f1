#pragma once

#include <backends/kokkos/runs.hpp>
#include <backends/kokkos/top_k.hpp>
#include <backends/kokkos/top_k_keys.hpp>

namespace zenith::kokkos_backend {

template <class T>
void run_bitonic(const top_k_call& call, top_k_statistics& statistics) {
  const call_keys<T> keys(call);
  const key_source<plain_keys<T>> source{keys.view(), top_k_detail::order_of<T>(call)};
  write_results(call, keys.view(), best_of<entry_of<T>>(source, call.count, call.k));
  statistics.reads = 1;
}

}  // namespace zenith::kokkos_backend

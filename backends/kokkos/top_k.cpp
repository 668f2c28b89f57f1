#include <backends/kokkos/top_k.hpp>

#include <type_traits>
#include <utility>

#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>
#include <backends/kokkos/top_k_run.hpp>
#include <core/with_key_type.hpp>

namespace zenith::kokkos_backend {
namespace {

template <class Run>
void run(const top_k_call& call, const Run& strategy) {
  const session kokkos;
  top_k_statistics statistics;
  reporting([&] { detail::with_key_type(call.type, [&](auto type) { strategy(type, statistics); }); });
  if (call.statistics == nullptr) return;
  statistics.variant = space::name();
  statistics.threads = is_host_space ? concurrency() : 0;
  *call.statistics = std::move(statistics);
}

}  // namespace

void top_k_bitonic(const execution& /*on*/, const top_k_call& call) {
  run(call, [&]<class T>(std::type_identity<T>, top_k_statistics& statistics) { run_bitonic<T>(call, statistics); });
}

}  // namespace zenith::kokkos_backend

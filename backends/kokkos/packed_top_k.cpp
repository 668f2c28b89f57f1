#include <type_traits>
#include <utility>

#include <algorithms/top_k/run.hpp>
#include <backends/kokkos/filter.hpp>
#include <backends/kokkos/packed_blocks.hpp>
#include <backends/kokkos/packed_column.hpp>
#include <backends/kokkos/runtime.hpp>
#include <core/with_key_type.hpp>

namespace zenith::kokkos_backend {

void packed_top_k(const execution& on, const packed_top_k_call& call) {
  const session kokkos;
  reporting([&] {
    const call_column column(call.column);
    detail::with_key_type(call.column.type, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        top_k_detail::run_segments(on, call.top_k, call.segment, [&](const top_k_call& part, std::uint64_t first) {
          top_k_statistics statistics;
          filter_keys(packed_keys<T>{column.layout(), first / packed_block_items}, part, statistics);
          if (part.statistics == nullptr) return;
          statistics.variant = space::name();
          statistics.threads = is_host_space ? concurrency() : 0;
          *part.statistics = std::move(statistics);
        });
      }
    });
  });
}

}  // namespace zenith::kokkos_backend

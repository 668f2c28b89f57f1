#include <type_traits>

#include <algorithms/packed_column/source.hpp>
#include <algorithms/top_k/run.hpp>
#include <algorithms/top_k/strategies.hpp>
#include <backends/kokkos/context.hpp>
#include <backends/kokkos/packed_column.hpp>
#include <core/with_key_type.hpp>

namespace zenith::kokkos_backend {

void packed_top_k(const execution& on, const packed_top_k_call& call) {
  reporting([&] {
    context here(on);
    packed_layout column = call.column;
    column.bytes = here.input(column.bytes, column.total_bytes, call.top_k.space);
    detail::with_key_type(call.column.type, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        top_k_detail::run_segments(on, call.top_k, call.segment, [&](const top_k_call& part, std::uint64_t first) {
          top_k_family::select_from(here, packed::column_source<T>{column, first / packed_block_items, part.count},
                                    part);
        });
      }
    });
  });
}

}  // namespace zenith::kokkos_backend

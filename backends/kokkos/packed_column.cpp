#include <backends/kokkos/packed_column.hpp>

#include <algorithms/packed_column/pack.hpp>
#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>

namespace zenith::kokkos_backend {

// On the host's space: values and column lie in its memory.
void pack(const execution& /*on*/, const pack_call& call) {
  const session kokkos;
  reporting([&] {
    using host = Kokkos::DefaultHostExecutionSpace;
    const auto for_groups = [](std::uint64_t groups, const auto& work) {
      Kokkos::parallel_for(
          "zenith::packed_column::pack",
          Kokkos::RangePolicy<host, Kokkos::IndexType<std::int64_t>>(0, static_cast<std::int64_t>(groups)),
          [&work](std::int64_t group) { work(static_cast<std::uint64_t>(group)); });
      host{}.fence();
    };
    size_of(call.type) == 4 ? packed::pack_groups(call, packed::plain_encoder<std::uint32_t>(call), for_groups)
                            : packed::pack_groups(call, packed::plain_encoder<std::uint64_t>(call), for_groups);
  });
  if (call.statistics != nullptr) *call.statistics = {space::name(), is_host_space ? concurrency() : 0};
}

}  // namespace zenith::kokkos_backend

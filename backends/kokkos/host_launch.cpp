#include <backends/kokkos/launch.hpp>
#include <backends/kokkos/primitives.hpp>

namespace zenith::kokkos_backend {
namespace {

using host = Kokkos::DefaultHostExecutionSpace;
using index = Kokkos::IndexType<std::int64_t>;

struct piece_of_launch {
  const void* of;
  void (*run)(const void* of, u64 piece);

  void operator()(std::int64_t i) const { run(of, static_cast<u64>(i)); }
};

}  // namespace

void run_on_host(const char* label, u64 pieces, const void* of, void (*run)(const void* of, u64 piece)) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<host, index>(0, static_cast<std::int64_t>(pieces)),
                       piece_of_launch{of, run});
}

void share_on_host(const char* label, u64 pieces, u64 together, const void* of,
                   void (*run)(const void* of, u64 piece)) {
  using policy = Kokkos::RangePolicy<host, Kokkos::Schedule<Kokkos::Dynamic>, index>;
  Kokkos::parallel_for(label,
                       policy(0, static_cast<std::int64_t>(pieces), Kokkos::ChunkSize(static_cast<int>(together))),
                       piece_of_launch{of, run});
}

u32 compact_on_host(u64 count, const device::part_test& test, u32* to) {
  const u64 parts = std::min(count, static_cast<u64>(concurrency()));
  return static_cast<u32>(device::compact_in_parts(count, parts, test, to, [](u64 all, const auto& run) {
    run_on_host("zenith::compact", all, &run, call_piece<std::remove_cvref_t<decltype(run)>>);
  }));
}

}  // namespace zenith::kokkos_backend

#include <zenith/backend.hpp>

#include <algorithms/packed_column/family.hpp>
#include <algorithms/top_k/family.hpp>
#include <backends/kokkos/family.hpp>
#include <backends/kokkos/packed_column.hpp>
#include <backends/kokkos/profile.hpp>
#include <backends/kokkos/runtime.hpp>
#include <backends/kokkos/space.hpp>
#include <core/device/family.hpp>
#include <core/device/for_devices.hpp>
#include <zenith/error.hpp>
#include <zenith_families.hpp>

namespace zenith::kokkos_backend {
namespace {

constexpr kernel own_kernels[]{
    make_kernel<pack_call, pack>("group_encode"),
    make_kernel<packed_top_k_call, packed_top_k>("filter"),
};
using strategies = device::offered_by<
    device::concat<top_k_family::strategies, packed_column_family::strategies, device::all_strategies>, is_host_space>;
constexpr auto kernels = device::joined(own_kernels, device::kernel_entries<runner>(strategies{}));

std::vector<device_info> devices() {
  const std::string lanes = is_host_space ? std::to_string(concurrency()) + " host thread(s)" : "device memory";
  return {{0, space_name(), lanes, 0}};
}

void configure(execution& settings) {
  if (settings.device != 0) {
    throw error(error_code::invalid_argument,
                "device is " + std::to_string(settings.device) +
                    "; it must be 0: Kokkos drives the one device that it was initialised for",
                "kokkos");
  }
  settings.threads = is_host_space ? concurrency() : 1;
}

}  // namespace

extern constinit const backend descriptor;
constinit const backend descriptor{
    .name = "kokkos",
    .description = "Kokkos teams, wherever its default execution space runs",
    .needs = "Kokkos; it is used as the program initialised it, or initialised on first use",
    .kernels = kernels,
    .available = state,
    .devices = devices,
    .configure = configure,
    .default_profile = default_profile,
    .measure = measure,
};

}  // namespace zenith::kokkos_backend

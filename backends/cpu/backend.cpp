#include <zenith/backend.hpp>

#include <algorithm>
#include <string>

#include <backends/cpu/family.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/measure.hpp>
#include <backends/cpu/packed_column.hpp>
#include <backends/cpu/parallel.hpp>
#include <backends/cpu/predicated_top_k.hpp>
#include <backends/cpu/profile.hpp>
#include <backends/cpu/top_k.hpp>
#include <core/device/family.hpp>
#include <core/kernel_by_type.hpp>
#include <core/workers.hpp>
#include <zenith/error.hpp>
#include <zenith_families.hpp>

namespace zenith::cpu_backend {
namespace {

constexpr std::string_view options[] = {"threads", "isa"};

constexpr kernel own_kernels[] = {
    make_kernel<pack_call, pack>("group_encode"),
    make_kernel<packed_extremes_call, packed_extremes>("fused_reduce"),
    make_kernel<packed_select_call, packed_select>("fused_bitmap"),
    make_kernel<packed_sum_call, packed_sum>("fused_reduce"),
    make_kernel<packed_top_k_call, packed_top_k>("filter"),
    detail::make_kernel_by_type<top_k_call, top_k_bitonic>("bitonic"),
    detail::make_kernel_by_type<top_k_call, top_k_filter>("filter"),
    make_kernel<unpack_call, unpack>("block_decode"),
};
/// What runs a family's strategy: the context alone, or text of this backend's around it.
template <class Strategy>
struct entry : runner<Strategy> {};
template <>
struct entry<predicated_top_k_family::fused> {
  static void run(const execution& on, const predicated_top_k_call& call) { predicated_top_k(on, call); }
};

constexpr auto kernels = device::joined(own_kernels, device::kernel_entries<entry>(device::all_strategies{}));

std::vector<device_info> devices() {
  std::string detail = std::to_string(hardware_threads()) + " threads";
  for (const auto* isa : built_isas())
    detail += std::string{", "} + isa->name + (is_usable(*isa) ? "" : " (not usable)");
  return {{0, model_name(), detail, 0}};
}

void configure(execution& settings) {
  settings.isa = isa_name(settings.isa);
  if (settings.threads > detail::most_threads) {
    throw error(error_code::invalid_argument,
                "threads is " + std::to_string(settings.threads) + "; it must be at most " +
                    std::to_string(detail::most_threads),
                "cpu");
  }
  if (settings.threads == 0) settings.threads = hardware_threads();
}

}  // namespace

extern constinit const backend descriptor;
constinit const backend descriptor{
    .name = "cpu",
    .description = "TBB over tiles, SIMD by the widest instruction set of this CPU",
    .needs = "nothing; TBB keeps its threads at hand between calls",
    .options = options,
    .kernels = kernels,
    .devices = devices,
    .configure = configure,
    .default_profile = default_profile,
    .measure = measure,
    .probe = probe,
};

}  // namespace zenith::cpu_backend

#include <array>

#include <backends/reference/packed_column.hpp>
#include <backends/reference/predicated_top_k.hpp>
#include <backends/reference/scored_top_k.hpp>
#include <backends/reference/skyline.hpp>
#include <backends/reference/spatial_index.hpp>
#include <backends/reference/spatial_join.hpp>
#include <backends/reference/threshold_table.hpp>
#include <backends/reference/top_k.hpp>
#include <zenith/backend.hpp>

namespace zenith::reference_backend {
namespace {

constexpr std::array kernels{
    make_kernel<index_join_call, index_join>("loops"),
    make_kernel<pack_call, pack>("group_encode"),
    make_kernel<packed_extremes_call, packed_extremes>("loops"),
    make_kernel<packed_select_call, packed_select>("loops"),
    make_kernel<packed_sum_call, packed_sum>("loops"),
    make_kernel<packed_top_k_call, packed_top_k>("sort"),
    make_kernel<predicated_top_k_call, predicated_top_k>("sort"),
    make_kernel<scored_top_k_call, scored_top_k>("sort"),
    make_kernel<skyband_call, skyband>("bnl"),
    make_kernel<skyline_call, skyline>("bnl"),
    make_kernel<skyline_layers_call, skyline_layers>("bnl"),
    make_kernel<threshold_table_call, threshold_table>("sort"),
    make_kernel<spatial_join_call, spatial_join>("loops"),
    make_kernel<top_k_call, top_k>("sort"),
    make_kernel<top_k_index_join_call, top_k_index_join>("loops"),
    make_kernel<top_k_range_call, top_k_range>("loops"),
    make_kernel<top_k_spatial_join_call, top_k_spatial_join>("loops"),
    make_kernel<unpack_call, unpack>("loops"),
};

std::vector<device_info> devices() { return {{0, "host", "one thread, no SIMD, no cleverness", 0}}; }

void configure(execution& settings) { settings.threads = 1; }

}  // namespace

extern constinit const backend descriptor;
constinit const backend descriptor{
    .name = "reference",
    .description = "the slowest, most obvious implementation of every algorithm: the oracle of the tests",
    .needs = "nothing",
    .kernels = kernels,
    .devices = devices,
    .configure = configure,
};

}  // namespace zenith::reference_backend

// One instruction set's unit, compiled once for each with ZENITH_ISA_<NAME> defined. What it includes from the rest of
// Zenith is forced inline, and all else lives in the set's own namespace, so that no code of it can be linked into
// functions that run on every CPU.

// first: what it defines is for all that follows
#include <backends/cpu/isa/arch.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <algorithms/top_k/bitonic.hpp>
#include <algorithms/top_k/filter_tile.hpp>
#include <algorithms/top_k/order.hpp>
#include <backends/cpu/isa/lane_mask.hpp>
#include <backends/cpu/isa/prefetch.hpp>
#include <backends/cpu/isa/table.hpp>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

// Each builds on those before it.
// clang-format off
#include <backends/cpu/isa/compress.hpp>
#include <backends/cpu/isa/tile.hpp>
#include <backends/cpu/isa/scan.hpp>
#include <backends/cpu/isa/entry_row.hpp>
#include <backends/cpu/isa/entry_tile.hpp>
#include <backends/cpu/isa/bitonic.hpp>
#include <backends/cpu/isa/partition.hpp>
#include <backends/cpu/isa/small_sort.hpp>
// clang-format on

}  // namespace

extern const isa_table table;
constinit const isa_table table{
    name,
    static_cast<int>(xsimd::batch<std::uint32_t, arch>::size * 4),
    static_cast<int>(xsimd::batch<std::uint64_t, arch>::size),
    {scans_of<float>(), scans_of<double>(), scans_of<std::int32_t>(), scans_of<std::uint32_t>(),
     scans_of<std::int64_t>(), scans_of<std::uint64_t>()},
    {bitonic_reduce<float>, bitonic_reduce<double>, bitonic_reduce<std::int32_t>, bitonic_reduce<std::uint32_t>,
     bitonic_reduce<std::int64_t>, bitonic_reduce<std::uint64_t>},
    partition_of_packed,
    partition_of_split,
    sort_few_packed,
    sort_few_split,
    maximum,
};

}  // namespace zenith::cpu_backend::ZENITH_ISA

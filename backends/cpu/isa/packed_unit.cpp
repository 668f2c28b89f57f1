// One instruction set's unit for packed columns, compiled once for each with ZENITH_ISA_<NAME> defined, under the same
// rules as unit.cpp. AVX-512 has two: with the byte permutations of VBMI, and without.

#define ZENITH_INLINE_LAMBDA __attribute__((always_inline))

// first: what it defines is for all that follows
#include <backends/cpu/isa/arch.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <backends/cpu/isa/lane_mask.hpp>
#include <backends/cpu/isa/packed_table.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

// Each builds on those before it.
// clang-format off
#include <backends/cpu/isa/compress.hpp>
#include <backends/cpu/isa/packed_walk.hpp>
#include <backends/cpu/isa/unpack.hpp>
#include <backends/cpu/isa/narrow_lanes.hpp>
#include <backends/cpu/isa/narrow_unpack.hpp>
#include <backends/cpu/isa/wide_unpack.hpp>
#include <backends/cpu/isa/narrow_ask.hpp>
#include <backends/cpu/isa/mixed_group.hpp>
#include <backends/cpu/isa/packed_tile.hpp>
#include <backends/cpu/isa/narrow_group.hpp>
#include <backends/cpu/isa/select_bits.hpp>
#include <backends/cpu/isa/group_reach.hpp>
#include <backends/cpu/isa/group_sum.hpp>
#include <backends/cpu/isa/group_store.hpp>
#include <backends/cpu/isa/store_blocks.hpp>
#include <backends/cpu/isa/sum_blocks.hpp>
#include <backends/cpu/isa/extremes_blocks.hpp>
#include <backends/cpu/isa/select_blocks.hpp>
#include <backends/cpu/isa/scan_blocks.hpp>
#include <backends/cpu/isa/pack_block.hpp>
#include <backends/cpu/isa/pack_measure.hpp>
#include <backends/cpu/isa/pack_measure_group.hpp>
#include <backends/cpu/isa/pack_bits.hpp>
#include <backends/cpu/isa/pack_words.hpp>
#include <backends/cpu/isa/pack_rows.hpp>
#include <backends/cpu/isa/pack_group.hpp>
// clang-format on

}  // namespace

extern const packed_table packed_functions;
constinit const packed_table packed_functions{
    name,
    {unpack_blocks<std::uint32_t>, unpack_blocks<std::uint64_t>},
    {sum_blocks<std::int32_t>, sum_blocks<std::uint32_t>, sum_blocks<std::int64_t>, sum_blocks<std::uint64_t>},
    {extremes_of_blocks<std::int32_t>, extremes_of_blocks<std::uint32_t>, extremes_of_blocks<std::int64_t>,
     extremes_of_blocks<std::uint64_t>},
    {select_blocks<std::uint32_t>, select_blocks<std::uint64_t>},
    {scan_blocks<std::int32_t, false>, scan_blocks<std::uint32_t, false>, scan_blocks<std::int64_t, false>,
     scan_blocks<std::uint64_t, false>},
    {scan_blocks<std::int32_t, true>, scan_blocks<std::uint32_t, true>, scan_blocks<std::int64_t, true>,
     scan_blocks<std::uint64_t, true>},
    {measure_frames<std::int32_t>, measure_frames<std::uint32_t>, measure_frames<std::int64_t>,
     measure_frames<std::uint64_t>},
    {measure_deltas<std::uint32_t>, measure_deltas<std::uint64_t>},
    {write_group<std::uint32_t>, write_group<std::uint64_t>},
    finish_rows,
};

}  // namespace zenith::cpu_backend::ZENITH_ISA

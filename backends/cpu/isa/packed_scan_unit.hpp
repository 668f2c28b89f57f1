// Included by a unit for top-k's scan of packed columns, compiled once for each instruction set with ZENITH_ISA_<NAME>
// defined, under the same rules as unit.cpp: with ZENITH_SCAN_SMALLEST whether it looks for the smallest values, and
// ZENITH_SCAN_TABLE its table.

#define ZENITH_INLINE_LAMBDA __attribute__((always_inline))

// first: what it defines is for all that follows
#include <backends/cpu/isa/arch.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <backends/cpu/isa/lane_mask.hpp>
#include <backends/cpu/isa/packed_table.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::cpu_backend::ZENITH_ISA {
namespace {

// Each builds on those before it.
// clang-format off
#include <backends/cpu/isa/compress.hpp>
#include <backends/cpu/isa/packed_walk.hpp>
#include <backends/cpu/isa/packed_word.hpp>
#include <backends/cpu/isa/unpack.hpp>
#include <backends/cpu/isa/narrow_lanes.hpp>
#include <backends/cpu/isa/narrow_unpack.hpp>
#include <backends/cpu/isa/wide_unpack.hpp>
#include <backends/cpu/isa/narrow_predicates.hpp>
#include <backends/cpu/isa/mixed_group.hpp>
#include <backends/cpu/isa/buffered_blocks.hpp>
#include <backends/cpu/isa/packed_tile.hpp>
#include <backends/cpu/isa/narrow_group.hpp>
#include <backends/cpu/isa/group_reach.hpp>
#include <backends/cpu/isa/scan_blocks.hpp>
// clang-format on

}  // namespace

extern const packed_scan_table ZENITH_SCAN_TABLE;
constinit const packed_scan_table ZENITH_SCAN_TABLE{
    {scan_blocks<std::int32_t, ZENITH_SCAN_SMALLEST>, scan_blocks<std::uint32_t, ZENITH_SCAN_SMALLEST>,
     scan_blocks<std::int64_t, ZENITH_SCAN_SMALLEST>, scan_blocks<std::uint64_t, ZENITH_SCAN_SMALLEST>},
};

}  // namespace zenith::cpu_backend::ZENITH_ISA

// One instruction set's unit for extremes of packed columns and values in a range, compiled once for each with
// ZENITH_ISA_<NAME> defined, under the same rules as unit.cpp.

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
#include <backends/cpu/isa/select_bits.hpp>
#include <backends/cpu/isa/group_reach.hpp>
#include <backends/cpu/isa/extremes_blocks.hpp>
#include <backends/cpu/isa/select_blocks.hpp>
// clang-format on

}  // namespace

extern const packed_query_table packed_query;
constinit const packed_query_table packed_query{
    {extremes_of_blocks<std::int32_t>, extremes_of_blocks<std::uint32_t>, extremes_of_blocks<std::int64_t>,
     extremes_of_blocks<std::uint64_t>},
    {select_blocks<std::uint32_t>, select_blocks<std::uint64_t>},
};

}  // namespace zenith::cpu_backend::ZENITH_ISA

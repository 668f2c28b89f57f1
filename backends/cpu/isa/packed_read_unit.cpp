// One instruction set's unit for unpacking and summing packed columns, compiled once for each with ZENITH_ISA_<NAME>
// defined, under the same rules as unit.cpp. AVX-512 has two: with the byte permutations of VBMI, and without.

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
#include <backends/cpu/isa/group_sum.hpp>
#include <backends/cpu/isa/group_store.hpp>
#include <backends/cpu/isa/store_blocks.hpp>
#include <backends/cpu/isa/sum_blocks.hpp>
// clang-format on

}  // namespace

extern const packed_read_table packed_read;
constinit const packed_read_table packed_read{
    {unpack_blocks<std::uint32_t>, unpack_blocks<std::uint64_t>},
    {sum_blocks<std::int32_t>, sum_blocks<std::uint32_t>, sum_blocks<std::int64_t>, sum_blocks<std::uint64_t>},
};

// the other units' tables
extern const packed_query_table packed_query;
extern const packed_scan_table packed_largest;
extern const packed_scan_table packed_smallest;
extern const packed_write_table packed_write;

extern const packed_table packed_functions;
constinit const packed_table packed_functions{
    name, packed_read, packed_query, packed_largest, packed_smallest, packed_write,
};

}  // namespace zenith::cpu_backend::ZENITH_ISA

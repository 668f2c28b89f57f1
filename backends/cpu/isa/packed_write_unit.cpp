// One instruction set's unit for packing columns, compiled once for each with ZENITH_ISA_<NAME> defined, under the
// same rules as unit.cpp.

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
#include <backends/cpu/isa/packed_walk.hpp>
#include <backends/cpu/isa/packed_word.hpp>
#include <backends/cpu/isa/pack_block.hpp>
#include <backends/cpu/isa/pack_measure.hpp>
#include <backends/cpu/isa/pack_measure_group.hpp>
#include <backends/cpu/isa/pack_bits.hpp>
#include <backends/cpu/isa/pack_words.hpp>
#include <backends/cpu/isa/pack_rows.hpp>
#include <backends/cpu/isa/pack_group.hpp>
// clang-format on

}  // namespace

extern const packed_write_table packed_write;
constinit const packed_write_table packed_write{
    {measure_frames<std::int32_t>, measure_frames<std::uint32_t>, measure_frames<std::int64_t>,
     measure_frames<std::uint64_t>},
    {measure_deltas<std::uint32_t>, measure_deltas<std::uint64_t>},
    {write_group<std::uint32_t>, write_group<std::uint64_t>},
    finish_rows,
};

}  // namespace zenith::cpu_backend::ZENITH_ISA

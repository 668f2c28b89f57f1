// One family's kernels for one instruction set: nothing in it but what the family lists. Compiled with
// ZENITH_ISA_<NAME>, ZENITH_FAMILY and ZENITH_FAMILY_HEADER defined.

// first: what it defines is for all that follows
#include <backends/cpu/isa/arch.hpp>

#include ZENITH_FAMILY_HEADER

#include <backends/cpu/isa/kernel_team.hpp>
#include <core/device/list.hpp>

namespace zenith::cpu_backend::ZENITH_ISA::ZENITH_FAMILY {

extern const kernel_entry* const family_kernels;
constinit const kernel_entry* const family_kernels = entries_of<zenith::ZENITH_FAMILY::kernels>::entries;

}  // namespace zenith::cpu_backend::ZENITH_ISA::ZENITH_FAMILY

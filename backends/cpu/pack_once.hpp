#pragma once

/// \file
/// Packing in one pass over the values: by frame of reference or delta with nothing outside the payload, of which every
/// section's begin is known before any size is.

#include <backends/cpu/isa/packed_table.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::cpu_backend {

/// Packs if that can be had in one pass. Otherwise, maybe after a part of it, returns false and has allocated nothing
/// that `call.allocate` does not replace: another encoding was asked for, there is no memory for a column whose size is
/// not known, or outliers stand better outside.
[[nodiscard]] bool pack_once(const pack_call& call, const packed_table& isa, int workers);

}  // namespace zenith::cpu_backend

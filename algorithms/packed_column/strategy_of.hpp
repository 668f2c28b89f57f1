#pragma once

#include <string_view>

#include <zenith/packed_call.hpp>

namespace zenith::packed {

/// The strategy of an operation, by the name under which backends offer it; packed_call.hpp says what each does.
[[nodiscard]] constexpr std::string_view strategy_of(std::string_view operation) {
  if (operation == unpack_call::operation) return "block_decode";
  if (operation == packed_sum_call::operation || operation == packed_extremes_call::operation) return "fused_reduce";
  if (operation == packed_select_call::operation) return "fused_bitmap";
  if (operation == packed_top_k_call::operation) return "filter";
  return "group_encode";
}

}  // namespace zenith::packed

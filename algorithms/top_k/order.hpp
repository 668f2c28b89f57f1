#pragma once

/// \file
/// The order that a call of top-k asks for.

#include <core/key_order.hpp>
#include <core/tile.hpp>
#include <zenith/top_k_call.hpp>

namespace zenith::top_k_detail {

using ordered::bits_t;
using ordered::key_order;

template <class T>
[[nodiscard]] inline key_order<T> order_of(const top_k_call& call) {
  return {call.select == selection::smallest, call.nan_first};
}

}  // namespace zenith::top_k_detail

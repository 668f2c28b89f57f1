#pragma once

/// \file
/// The operations over packed columns that are written over the device context. A backend that has its own of one lists
/// that in its kernel table instead.

#include <string_view>

#include <algorithms/packed_column/strategy_of.hpp>
#include <core/device/list.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::packed_column_family {

/// An operation, by its call. Each has one strategy.
template <class Call>
struct on_blocks {
  static constexpr std::string_view name = packed::strategy_of(Call::operation);
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const Call& call);
};

using strategies = device::list<on_blocks<unpack_call>, on_blocks<packed_sum_call>, on_blocks<packed_extremes_call>,
                                on_blocks<packed_select_call>>;

}  // namespace zenith::packed_column_family

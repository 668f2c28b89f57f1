#pragma once

/// \file
/// The operations over packed columns that are written over the device context. A backend that has its own of one lists
/// that in its kernel table instead.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/packed_call.hpp>

namespace zenith::packed_column_family {

/// An operation, by its call. All of them have one strategy.
template <class Call>
struct tiles {
  static constexpr std::string_view name = "tiles";
  using call_type = Call;
  template <class Context>
  static void run(Context& on, const Call& call);
};

using strategies =
    device::list<tiles<unpack_call>, tiles<packed_sum_call>, tiles<packed_extremes_call>, tiles<packed_select_call>>;

}  // namespace zenith::packed_column_family

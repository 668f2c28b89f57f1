#pragma once

/// \file
/// The strategies of operation "skyline" as a device runs them, on the sequential context. A unit for each kind of
/// method (skyline_by_*.cpp): they share little text, and all in one took a minute to compile.

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <algorithms/skyline/family.hpp>

namespace skyline_on_device {

/// The most bytes that a call has had at once since this was set to 0.
inline std::uint64_t most_bytes = 0;

/// Whether the filters of `bitmap_tiles` are left out. Where no point is dominated and no two are equal they take
/// nearly all of the time and find nothing.
inline bool skips_filters = false;

/// Whether keys of 32 bits are said to tell too little apart, whatever the points are.
inline bool finds_ties = false;

struct named_strategy {
  std::string_view name;
  void (*run)(const zenith::skyline_call& call);
};

/// Those whose member `how` is a Method: bitmap_method, value_method, tree_method.
template <class Method>
std::vector<named_strategy> strategies_with();

/// All.
inline std::vector<named_strategy> every_strategy() {
  std::vector<named_strategy> all;
  for (const auto& some : {strategies_with<zenith::skyline_family::bitmap_method>(),
                           strategies_with<zenith::skyline_family::value_method>(),
                           strategies_with<zenith::skyline_family::tree_method>()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace skyline_on_device

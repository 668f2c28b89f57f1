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

using only_bitmap_tiles = zenith::device::list<zenith::skyline_family::bitmap_tiles>;
using only_bskytree = zenith::device::list<zenith::skyline_family::bskytree>;
static_assert(
    std::is_same_v<zenith::skyline_family::by_bitmaps,
                   zenith::device::list<zenith::skyline_family::bitmap_tiles, zenith::skyline_family::bskytree,
                                        zenith::skyline_family::layers_by<zenith::skyline_family::bitmap_tiles>>>,
    "every_strategy() leaves one out");

struct named_strategy {
  std::string_view name;
  void (*run)(const zenith::skyline_call& call);
};

/// Those of a list.
template <class Strategies>
std::vector<named_strategy> strategies_with();

/// All.
inline std::vector<named_strategy> every_strategy() {
  std::vector<named_strategy> all;
  for (const auto& some : {strategies_with<only_bitmap_tiles>(), strategies_with<zenith::skyline_family::by_values>(),
                           strategies_with<only_bskytree>()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace skyline_on_device

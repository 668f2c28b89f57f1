#pragma once

/// \file
/// What there is of the skyline: its strategies. Their texts and kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/skyline_call.hpp>

namespace zenith::skyline_family {

/// Sort, filter, skyline: rows by a rising sum of their values; each is compared with the skyline found so far.
struct sfs {
  static constexpr std::string_view name = "sfs";
  using call_type = skyline_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// SkyAlign: rows by the cells of a static grid; masks of the cells are compared before values.
struct skyalign {
  static constexpr std::string_view name = "skyalign";
  using call_type = skyline_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The same order; a row is compared with 512 rows at a time by bitmaps of quantiles.
struct bitmap_tiles {
  static constexpr std::string_view name = "bitmap_tiles";
  using call_type = skyline_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// The skyband in the order of `sfs`: a row's dominators are counted in the band found so far.
struct band_by_sum {
  static constexpr std::string_view name = "sfs";
  using call_type = skyband_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Layers: `Skyline` again and again on what it leaves, in the order that it makes once.
template <class Skyline>
struct layers_by {
  static constexpr std::string_view name = Skyline::name;
  using call_type = skyline_layers_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<bitmap_tiles, skyalign, sfs, band_by_sum, layers_by<bitmap_tiles>, layers_by<skyalign>,
                                layers_by<sfs>>;

}  // namespace zenith::skyline_family

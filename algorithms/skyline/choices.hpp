#pragma once

/// \file
/// The strategies of the skyline with their cost models.

#include <array>
#include <cstdint>

#include <core/choose.hpp>
#include <zenith/skyline.hpp>

namespace zenith::skyline_detail {

[[nodiscard]] cost bitmap_tiles_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost skyalign_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost sfs_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost salsa_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost ggs_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost hybrid_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost bskytree_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost no_sync_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost no_quartile_cost(const skyline_problem& problem, const device_profile& on);
[[nodiscard]] cost padded_cost(const skyline_problem& problem, const device_profile& on);

using model = cost (*)(const skyline_problem&, const device_profile&);

/// What a strategy takes that goes group by group first where there are many (row_groups.hpp).
[[nodiscard]] cost by_groups(const skyline_problem& problem, const device_profile& on, model ungrouped);
template <model Ungrouped>
[[nodiscard]] cost by_groups(const skyline_problem& problem, const device_profile& on) {
  return by_groups(problem, on, Ungrouped);
}

using strategy = detail::modelled_strategy<skyline_problem>;

inline constexpr std::array strategies{
    strategy{"bitmap_tiles", by_groups<bitmap_tiles_cost>},
    strategy{"skyalign", by_groups<skyalign_cost>},
    strategy{"sfs", by_groups<sfs_cost>},
    strategy{"salsa", salsa_cost},
    strategy{"ggs", by_groups<ggs_cost>},
    strategy{"hybrid", by_groups<hybrid_cost>},
    strategy{"bskytree", by_groups<bskytree_cost>},
    strategy{"skyalign_no_sync", by_groups<no_sync_cost>},
    strategy{"skyalign_no_quartile", by_groups<no_quartile_cost>},
    strategy{"skyalign_padded", by_groups<padded_cost>},
};

inline constexpr detail::choosable<skyline_problem> choices{skyline_call::operation, "skyline", "the points lie",
                                                            strategies};

/// Layers take many skylines of the same points: the strategies rank as for one, of all groups together. Of small
/// groups, all strategies of a host are the same (group_layers.hpp).
[[nodiscard]] cost layers_by_groups(const skyline_problem& problem, const device_profile& on, model ungrouped);
template <model Ungrouped>
[[nodiscard]] cost layers_by_groups(const skyline_problem& problem, const device_profile& on) {
  return layers_by_groups(problem, on, Ungrouped);
}
inline constexpr std::array layer_strategies{
    strategy{"bitmap_tiles", layers_by_groups<bitmap_tiles_cost>},
    strategy{"skyalign", layers_by_groups<skyalign_cost>},
    strategy{"sfs", layers_by_groups<sfs_cost>},
};
inline constexpr detail::choosable<skyline_problem> layer_choices{skyline_layers_call::operation, "skyline_layers",
                                                                  "the points lie", layer_strategies};

/// A skyband.
struct band_problem : skyline_problem {
  std::uint32_t most = 1;  ///< rows that this many dominate are out

  [[nodiscard]] bool operator==(const band_problem&) const = default;
};

[[nodiscard]] cost band_by_bitmaps_cost(const band_problem& problem, const device_profile& on);
[[nodiscard]] cost band_by_sum_cost(const band_problem& problem, const device_profile& on);

using band_model = cost (*)(const band_problem&, const device_profile&);
/// What a strategy takes that goes group by group first on a host, where there are many (group_band.hpp).
[[nodiscard]] cost band_by_groups(const band_problem& problem, const device_profile& on, band_model ungrouped);
template <band_model Ungrouped>
[[nodiscard]] cost band_by_groups(const band_problem& problem, const device_profile& on) {
  return band_by_groups(problem, on, Ungrouped);
}

inline constexpr std::array band_strategies{
    detail::modelled_strategy<band_problem>{"bitmap_tiles", band_by_groups<band_by_bitmaps_cost>},
    detail::modelled_strategy<band_problem>{"sfs", band_by_groups<band_by_sum_cost>},
};
inline constexpr detail::choosable<band_problem> band_choices{skyband_call::operation, "skyband", "the points lie",
                                                              band_strategies};

}  // namespace zenith::skyline_detail

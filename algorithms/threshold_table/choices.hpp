#pragma once

/// \file
/// The strategies of threshold tables with their cost models.

#include <array>

#include <core/choose.hpp>
#include <zenith/threshold_table.hpp>

namespace zenith::threshold_table_detail {

/// The bounds, and the share of the rows that is expected to be evaluated.
[[nodiscard]] cost blocks_cost(const threshold_table_problem& problem, const device_profile& on);
/// One read of the columns that have a weight.
[[nodiscard]] cost scan_cost(const threshold_table_problem& problem, const device_profile& on);
/// Partitions evaluate several times as many rows as blocks do, and merge them.
[[nodiscard]] cost gta_shared_cost(const threshold_table_problem& problem, const device_profile& on);
[[nodiscard]] cost gta_cost(const threshold_table_problem& problem, const device_profile& on);

/// Every row as an entry, written and read again.
[[nodiscard]] cost full_cost(const threshold_table_problem& problem, const device_profile& on);

/// The lists, which are sorted where the table has none, and then several rows a rank.
[[nodiscard]] cost ta_cost(const threshold_table_problem& problem, const device_profile& on);

/// Of a table whose rows are on the host and its directory on this device: whether copying the columns and scanning
/// them should take less time than fetching the blocks that are opened.
[[nodiscard]] bool streams_rows(const threshold_table_problem& problem, const device_profile& on);

using strategy = detail::modelled_strategy<threshold_table_problem>;

inline constexpr std::array strategies{
    strategy{"blocks", blocks_cost}, strategy{"scan", scan_cost}, strategy{"gta_shared", gta_shared_cost},
    strategy{"gta", gta_cost},       strategy{"full", full_cost}, strategy{"ta", ta_cost},
};

inline constexpr detail::choosable<threshold_table_problem> choices{threshold_table_call::operation, "top_k",
                                                                    "the table lies", strategies};

}  // namespace zenith::threshold_table_detail

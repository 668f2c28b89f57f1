#pragma once

/// \file
/// What there is of threshold tables: the strategies of a query. Their texts and kernels are in strategies.hpp.

#include <string_view>

#include <core/device/list.hpp>
#include <zenith/threshold_table_call.hpp>

namespace zenith::threshold_table_family {

/// Blocks by falling bound, in rounds.
struct blocks {
  static constexpr std::string_view name = "blocks";
  using call_type = threshold_table_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Every row.
struct scan {
  static constexpr std::string_view name = "scan";
  using call_type = threshold_table_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Every partition in its order, until its own k best rows are found; the paper's GTA.
struct gta {
  static constexpr std::string_view name = "gta";
  using call_type = threshold_table_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Partitions by falling bound, which stop by the best k-th score of all of them.
struct gta_shared {
  static constexpr std::string_view name = "gta_shared";
  using call_type = threshold_table_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Every row's score is written, then the best are selected: what the paper compares with (GFTE, CFTE).
struct full {
  static constexpr std::string_view name = "full";
  using call_type = threshold_table_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

/// Fagin's Threshold Algorithm over sorted lists, the yardstick of them all.
struct ta {
  static constexpr std::string_view name = "ta";
  using call_type = threshold_table_call;
  template <class Context>
  static void run(Context& on, const call_type& call);
};

using strategies = device::list<blocks, scan, gta_shared, gta, full, ta>;

}  // namespace zenith::threshold_table_family

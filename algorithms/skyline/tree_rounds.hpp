#pragma once

/// \file
/// Memory for `bskytree`, and its one launch.

#include <algorithms/skyline/points.hpp>
#include <algorithms/skyline/region_tree.hpp>
#include <algorithms/skyline/round_log.hpp>

namespace zenith::skyline_family::detail {

/// What `skyline_rounds` does, by recursive partitions.
template <class Context, class Image>
class tree_rounds {
 public:
  tree_rounds(Context& on, u64 capacity)
      : masks_(make(on, capacity)),
        order_(make(on, capacity)),
        child_masks_(make(on, capacity)),
        child_nodes_(make(on, capacity)),
        partitions_(on.template buffer<u64>(1)) {}

  /// As that of `skyline_rounds`; returns the number of partitions. The points are lost.
  u64 mark(Context& on, const point_set<Image>& points, u64 count, u8* members, bool keeps_twins,
           const test_counters& counters, round_log<Context>& log) {
    on.for_each(1, find_by_region_tree<Image>{points.values, points.rows, count, points.columns, masks_, order_,
                                              child_masks_, child_nodes_, members, keeps_twins, partitions_, counters});
    log.add(on, count);
    return on.read(static_cast<const u64*>(partitions_));
  }

 private:
  static u32* make(Context& on, u64 capacity) {
    constexpr u64 padding = row_padding / sizeof(u32);
    u32* const made = on.template buffer<u32>(capacity + padding);
    on.fill_zero(made + capacity, padding);
    return made;
  }

  u32* masks_;
  u32* order_;
  u32* child_masks_;
  u32* child_nodes_;
  u64* partitions_;
};

}  // namespace zenith::skyline_family::detail

#pragma once

/// \file
/// Every row, by the filter of top-k: a sample of the rows gives a threshold, and one read keeps what reaches it. Where
/// a worker sees many rows the threshold rises on the way.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <algorithms/threshold_table/query.hpp>
#include <algorithms/top_k/filter_kernels.hpp>
#include <algorithms/top_k/filter_plan.hpp>
#include <core/device/context.hpp>
#include <core/device/list.hpp>

namespace zenith::threshold_table_family {

/// The scores of a table's rows by position, for the filter; its entries have the rows' ids.
template <class T>
struct table_source : columns_of<T> {
  const u32* ids;

  explicit table_source(const rows_of<T>& rows) : columns_of<T>(rows.scored), ids(rows.ids) {}

  /// What the filter calls for an item of this source. No template, so that it goes before the filter's own.
  ZENITH_FN friend entry_of<T> entry_at(const table_source& source, const ordered::key_order<score_of<T>>& order,
                                        u64 i) {
    return entry_of<T>::make(order.image(device::key_at(source, i)), source.ids[i]);
  }
};

template <class T, bool NanFirst>
using scan_rows = top_k_detail::scan_source<table_source<T>, top_k_detail::scan_order<score_of<T>, false, NanFirst>>;
template <class T>
using draw_rows = top_k_detail::draw_sample<table_source<T>>;

template <class T>
using scan_kernels = device::concat<
    std::conditional_t<std::is_floating_point_v<score_of<T>>, device::list<scan_rows<T, false>, scan_rows<T, true>>,
                       device::list<scan_rows<T, false>>>,
    device::list<draw_rows<T>, score_all<T>>>;

namespace detail {

/// How many rows reach the threshold of a sample, at the very most.
[[nodiscard]] inline u64 scan_capacity(const top_k_detail::filter_plan& plan, u64 rows, u64 k) {
  if (plan.samples == 0) return rows;
  // eight standard deviations above the mean
  const double most = plan.expected_survivors * (1 + 8 / std::sqrt(static_cast<double>(plan.rank)));
  return static_cast<u64>(std::clamp(std::ceil(most), static_cast<double>(k), static_cast<double>(rows)));
}

template <bool NanFirst, class T, class Context>
void scan_by(Context& on, query<T, Context>& asked) {
  const table_source<T> source(asked.rows());
  const u64 rows = source.size();
  const u64 k = asked.k();
  const auto plan = Context::samples_broadly ? top_k_detail::plan_broad_filter(rows, k, Context::most_samples)
                                             : top_k_detail::plan_filter(rows, k, Context::most_samples);
  const auto survivors = on.template collect<entry_of<T>>(rows, k, scan_capacity(plan, rows, k));
  if (plan.samples > 0) {
    auto* const sample = on.template buffer<entry_of<T>>(plan.samples);
    on.for_each(plan.samples, draw_rows<T>{source, asked.rows().order(), plan.samples, sample});
    on.kth_best(sample, plan.samples, plan.rank, survivors.bound);
  }
  on.for_tiles(scan_rows<T, NanFirst>{source, survivors});
  asked.count_scan();
  if (!on.decide(top_k_detail::misled<entry_of<T>>{survivors})) return asked.finish(on.select_best(survivors, k));
  // the sample misled: the entries of all rows are ranked
  auto* const entries = asked.keep_all();
  on.for_teams((rows + score_all<T>::piece - 1) / score_all<T>::piece,
               score_all<T>{asked.rows(), entries, asked.counters()});
  asked.rank();
  asked.finish();
}

/// Evaluates all rows, and ends the call.
template <class T, class Context>
void scan_all(Context& on, query<T, Context>& asked) {
  if constexpr (std::is_floating_point_v<score_of<T>>) {
    if (asked.rows().nan_first) return scan_by<true>(on, asked);
  }
  scan_by<false>(on, asked);
}

}  // namespace detail
}  // namespace zenith::threshold_table_family

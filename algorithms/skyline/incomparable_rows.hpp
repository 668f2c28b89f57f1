#pragma once

/// \file
/// Tables whose columns all are `different`: no row dominates another. All rows that take part are the skyline, the
/// band of every k, and the one layer there is, and only equal rows are to be found.

#include <algorithm>
#include <type_traits>

#include <algorithms/skyline/distinct_rows.hpp>
#include <algorithms/skyline/layers_of_two.hpp>
#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/phases.hpp>
#include <algorithms/skyline/round_log.hpp>
#include <algorithms/skyline/skyband.hpp>
#include <core/with_key_type.hpp>

namespace zenith::skyline_family {

/// Numbers of rows that are in the first layer.
struct write_first_layer {
  const u32* rows;
  u32* layers;  ///< of rows of the table

  ZENITH_FN void operator()(u64 i) const { layers[rows[i]] = 0; }
};

namespace detail {

/// Whether no row dominates another, whatever the values are.
[[nodiscard]] inline bool are_incomparable(const skyline_input& call) {
  const auto is_different = [](preference one) { return one == preference::different; };
  return std::all_of(call.preferences, call.preferences + call.column_count, is_different);
}

/// Calls use(flags, rows, count) with all rows that take part, ascending, or with the first of each like; flags of
/// other rows are 1. A NaN that is rejected ends the call.
template <class Context, class Use>
void with_incomparable_rows(Context& on, const skyline_input& call, duplicate_rows duplicates, const Use& use) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    const auto from = make_row_source<T>(on, call);
    u8* const flags = on.template buffer<u8>(call.rows);
    u64 count = 0;
    u32* const rows = no_prefilter{}.find_rows_left(on, call, from, flags, count);
    if (rows == nullptr) return;
    if (duplicates == duplicate_rows::keep_first) count = take_copies_out(on, from, rows, count, flags);
    use(flags, rows, count);
  });
  on.finish();
}

template <class Context>
void find_incomparable_skyline(Context& on, const skyline_call& call) {
  round_log<Context> log(on, call);
  const auto counters = make_counters(on, call);
  with_incomparable_rows(on, call, call.duplicates, [&](u8* flags, const u32* rows, u64 count) {
    log.begin(on, flags, count);
    on.for_each(count, mark_members{rows, flags});
    log.add(on, count);
    deliver_marks(on, call, flags);
    deliver_ids(on, call, rows, count, false);
    report(on, call, counters, count, 1);
  });
}

template <class Context>
void find_incomparable_band(Context& on, const skyband_call& call) {
  const auto counters = make_counters(on, call);
  with_incomparable_rows(on, call, call.duplicates, [&](u8* /*flags*/, const u32* rows, u64 count) {
    report(on, call, counters, count, 1);
    deliver_band(on, call, rows, count, on.template zeroed<u32>(call.rows));
  });
}

template <class Context>
void find_incomparable_layers(Context& on, const skyline_layers_call& call) {
  const auto counters = make_counters(on, call);
  with_incomparable_rows(on, call, call.duplicates, [&](u8* /*flags*/, const u32* rows, u64 count) {
    call.outcome->count = count == 0 ? 0 : 1;
    report(on, call, counters, count, 1);
    u32* const by_row = on.template buffer<u32>(call.rows);
    on.for_each(call.rows, write_no_layer{by_row});
    on.for_each(count, write_first_layer{rows, by_row});
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call.out_layers, call.rows, call.out_space), static_cast<const u32*>(by_row), call.rows);
  });
}

}  // namespace detail

}  // namespace zenith::skyline_family

#pragma once

/// \file
/// The strategies of a query of a threshold table.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <algorithms/threshold_table/best_first.hpp>
#include <algorithms/threshold_table/descent.hpp>
#include <algorithms/threshold_table/family.hpp>
#include <algorithms/threshold_table/first_blocks.hpp>
#include <algorithms/threshold_table/group_walk.hpp>
#include <algorithms/threshold_table/query.hpp>
#include <algorithms/threshold_table/scan.hpp>
#include <algorithms/threshold_table/walk.hpp>
#include <core/device/context.hpp>

namespace zenith::threshold_table_family {

template <class Entry>
using entry_kernels = device::list<gather_listed<Entry>, gather_left<Entry>, order_blocks<Entry>, split_images<Entry>,
                                   keep_best<Entry>, collect_entries<Entry>, order_partitions<Entry>, list_ids<Entry>>;
template <class... T>
struct kernels_for {
  using type = device::concat<
      scan_kernels<T>...,
      device::list<write_bounds<T>..., write_block_bounds<T>..., open_blocks<T>..., open_fetched<T>...,
                   begin_best_first<T>..., open_best_first<T>..., walk_partition<T>..., list_values<T>...,
                   open_ranks<T>..., find_end<T>..., write_rows<T, std::uint32_t>..., write_rows<T, std::uint64_t>...>>;
};
using kernels =
    device::concat<kernels_for<float, double, std::int32_t, std::uint32_t>::type, entry_kernels<ordered::entry32>,
                   entry_kernels<ordered::entry64>, device::list<number_groups, gather_begins>>;

namespace detail {

/// Calls use(std::type_identity<T>) with the type of the table's columns.
template <class Use>
void with_type(key_type type, const Use& use) {
  switch (type) {
    case key_type::float32: return use(std::type_identity<float>{});
    case key_type::float64: return use(std::type_identity<double>{});
    case key_type::int32: return use(std::type_identity<std::int32_t>{});
    default: return use(std::type_identity<std::uint32_t>{});
  }
}

template <class T, class Context>
[[nodiscard]] entry_of<T>* make_bounds(Context& on, query<T, Context>& asked, const bounds_of<T>& of) {
  auto* const to = on.template buffer<entry_of<T>>(of.size());
  on.for_teams((of.size() + write_bounds<T>::segment - 1) / write_bounds<T>::segment, write_bounds<T>{of, to});
  asked.count_bounds(of.size());
  return to;
}

/// *to = the rank-th best of the entries, which stay as they are.
template <class Context, class Entry>
void find_rank(Context& on, const Entry* entries, u64 n, u64 rank, Entry* to) {
  Entry* const moved = on.template buffer<Entry>(n);
  on.copy(moved, entries, n);
  on.kth_best(moved, n, rank, to);
}

// ---- blocks by falling bound

/// How many blocks the first round opens, and how much more each round after it.
struct round_plan {
  u64 blocks;
  u64 groups;
  u64 growth;
  u64 sorted;  ///< how many of the best are sorted first, and then four times as many

  /// Rounds that grow fast are few, and the last one opens more than it must: what that costs grows with the rounds.
  [[nodiscard]] u64 after(u64 wanted) const {
    return growth > 2 || wanted < 256 ? wanted * growth : wanted + wanted / 2;
  }

  /// A device is to be filled; a host stops as early as it can.
  /// What has to be fetched costs more than a round.
  [[nodiscard]] static round_plan of(bool is_device, bool fetches, u64 k, u64 block_rows) {
    const u64 needed = k / block_rows + 1;
    constexpr u64 all = ~u64{0};
    if (is_device && fetches) return {std::max<u64>(128, 2 * needed), std::max<u64>(64, needed / 8), 2, all};
    if (is_device) return {std::max<u64>(256, 2 * needed), std::max<u64>(64, needed / 8), 8, all};
    return {first_blocks(k, block_rows), std::max<u64>(4, needed / 8), 2, std::max<u64>(512, 4 * needed)};
  }
};

/// Blocks that may be opened, with their bounds.
template <class Entry>
struct block_list {
  const u32* blocks;
  const Entry* bounds;
  u64 count;
};

/// The candidates among the blocks of listed groups.
template <class T, class Context>
[[nodiscard]] block_list<entry_of<T>> list_blocks(Context& on, query<T, Context>& asked, const bounds_of<T>& of,
                                                  const u32* groups, u64 count,
                                                  const opened_before<entry_of<T>>& before) {
  using entry = entry_of<T>;
  const u64 places = count * group_blocks;
  if (count == 0) return {nullptr, nullptr, 0};
  auto* const bounds = on.template buffer<entry>(places);
  on.for_teams(count, write_block_bounds<T>{of, groups, bounds});
  asked.count_bounds(std::min(places, of.size()));
  auto* const chosen = on.template buffer<u32>(places);
  auto* const found = on.template buffer<u32>(1);
  const listed_blocks listed{groups, of.size()};
  on.compact(places, is_candidate<entry>{listed, bounds, asked.least(), before}, chosen, found);
  const u64 left = on.read(static_cast<const u32*>(found));
  auto* const to_blocks = on.template buffer<u32>(left);
  auto* const to_bounds = on.template buffer<entry>(left);
  on.for_each(left, gather_listed<entry>{listed, bounds, chosen, to_bounds, to_blocks});
  return {to_blocks, to_bounds, left};
}

/// Fetches the listed blocks that reach the cut from the host, and opens them.
template <class T, class Context>
void open_fetched_blocks(Context& on, query<T, Context>& asked, const block_list<entry_of<T>>& list,
                         const entry_of<T>* cut, const kept_rows<T>& kept) {
  auto* const chosen = on.template buffer<u32>(list.count);
  auto* const found = on.template buffer<u32>(1);
  on.compact(list.count, reaches<entry_of<T>>{list.bounds, cut}, chosen, found);
  const u64 count = on.read(static_cast<const u32*>(found));
  auto* const blocks = on.template buffer<u32>(count);
  auto* const begins = on.template buffer<u32>(count);
  on.for_each(count, gather_begins{list.blocks, chosen, asked.rows().begins, blocks, begins});
  const u64 length = asked.layout().block_rows;
  const auto rows = asked.fetch(begins, count, length);
  on.for_teams(count, open_fetched<T>{rows, blocks, length, asked.least(), kept, asked.counters()});
  asked.look();
}

/// Opens the `wanted` best of listed blocks, all where there are hardly more, and raises `least`. Blocks that are not
/// worse than *cut were opened.
template <class T, class Context>
void open_round(Context& on, query<T, Context>& asked, const block_list<entry_of<T>>& list, u64 wanted,
                entry_of<T>* cut) {
  const bool takes_all = list.count <= wanted + wanted / 4;
  if (takes_all) {
    on.fill_zero(cut, 1);
  } else {
    find_rank(on, list.bounds, list.count, wanted, cut);
  }
  const auto kept = asked.keep((takes_all ? list.count : wanted) * asked.layout().block_rows);
  if (asked.fetches_rows()) return open_fetched_blocks(on, asked, list, cut, kept);
  on.for_teams(list.count,
               open_blocks<T>{asked.rows(), list.blocks, list.bounds, cut, asked.least(), kept, asked.counters()});
  asked.look();
}

/// The listed blocks that are left after a round.
template <class T, class Context>
[[nodiscard]] block_list<entry_of<T>> list_left(Context& on, query<T, Context>& asked,
                                                const block_list<entry_of<T>>& list, const entry_of<T>* cut) {
  using entry = entry_of<T>;
  auto* const chosen = on.template buffer<u32>(list.count);
  auto* const found = on.template buffer<u32>(1);
  on.compact(list.count, is_left<entry>{list.bounds, cut, asked.least()}, chosen, found);
  const u64 left = on.read(static_cast<const u32*>(found));
  auto* const to_blocks = on.template buffer<u32>(left);
  auto* const to_bounds = on.template buffer<entry>(left);
  on.for_each(left, gather_left<entry>{list.bounds, list.blocks, chosen, to_bounds, to_blocks});
  return {to_blocks, to_bounds, left};
}

/// The best of listed blocks by falling bound; *cut is the worst of them, and the worst of all where they are all.
template <class T, class Context>
[[nodiscard]] block_list<entry_of<T>> sort_best(Context& on, const block_list<entry_of<T>>& list, u64 most,
                                                entry_of<T>* cut) {
  using entry = entry_of<T>;
  const u64 count = std::min(most, list.count);
  u32* chosen = nullptr;
  if (count < list.count) {
    find_rank(on, list.bounds, list.count, count, cut);
    chosen = on.template buffer<u32>(list.count);
    on.compact(list.count, reaches<entry>{list.bounds, cut}, chosen, on.template buffer<u32>(1));
  } else {
    on.fill_zero(cut, 1);
  }
  auto* const keys = on.template buffer<u64>(count);
  auto* const places = on.template buffer<u32>(count);
  on.for_each(count, order_blocks<entry>{list.bounds, chosen, keys, places});
  on.sort_pairs(keys, places, count);
  auto* const to_blocks = on.template buffer<u32>(count);
  auto* const to_bounds = on.template buffer<entry>(count);
  on.for_each(count, gather_left<entry>{list.bounds, list.blocks, places, to_bounds, to_blocks});
  return {to_blocks, to_bounds, count};
}

/// Opens those of listed blocks that reach `least`, and raises it.
template <class T, class Context>
void open_listed(Context& on, query<T, Context>& asked, const block_list<entry_of<T>>& list) {
  const auto kept = asked.keep(list.count * asked.layout().block_rows);
  if (asked.fetches_rows()) return open_fetched_blocks(on, asked, list, asked.least(), kept);
  on.for_teams(list.count, open_blocks<T>{asked.rows(), list.blocks, list.bounds, asked.least(), asked.least(), kept,
                                          asked.counters()});
  asked.look();
}

/// Opens listed blocks in rounds by falling bound, until no bound reaches `least`. A round that looked at the whole
/// list would cost more than the blocks that it opens, so the best of the list are sorted.
template <class T, class Context>
void open_in_rounds(Context& on, query<T, Context>& asked, block_list<entry_of<T>> list, u64 wanted,
                    const round_plan& plan) {
  auto* const cut = on.template buffer<entry_of<T>>(1);
  for (u64 most = plan.sorted; list.count > 0; most *= 4) {
    if (list.count <= wanted + wanted / 4) return open_listed(on, asked, list);
    const auto best = sort_best<T>(on, list, most, cut);
    for (u64 begin = 0; begin < best.count; wanted = plan.after(wanted)) {
      const u64 left = best.count - begin;
      const u64 some = left <= wanted + wanted / 4 ? left : wanted;
      open_listed(on, asked, {best.blocks + begin, best.bounds + begin, some});
      begin += some;
      if (begin < best.count && on.decide(is_below<entry_of<T>>{best.bounds + begin, asked.least()})) return;
    }
    if (best.count == list.count) return;
    list = list_left(on, asked, list, cut);
  }
}

template <class T, class Context>
void open_by_bound(Context& on, query<T, Context>& asked) {
  using entry = entry_of<T>;
  const auto& layout = asked.layout();
  const auto plan = round_plan::of(!Context::runs_on_host, asked.fetches_rows(), asked.k(), layout.block_rows);
  const auto of_blocks = asked.bounds(layout.of_blocks);
  const u64 group_count = layout.of_groups.count;
  const entry* const group_bounds = make_bounds(on, asked, asked.bounds(layout.of_groups));
  auto* const groups = on.template buffer<u32>(group_count);
  opened_before<entry> before{group_bounds, nullptr, nullptr};

  // the best blocks of the best groups give a threshold
  u64 listed = group_count;
  auto* const found = on.template buffer<u32>(1);
  if (plan.groups < group_count) {
    auto* const group_cut = on.template buffer<entry>(1);
    auto* const block_cut = on.template buffer<entry>(1);
    find_rank(on, group_bounds, group_count, plan.groups, group_cut);
    on.compact(group_count, reaches<entry>{group_bounds, group_cut}, groups, found);
    const auto first = list_blocks(on, asked, of_blocks, groups, plan.groups, before);
    open_round(on, asked, first, plan.blocks, block_cut);
    before.group_cut = group_cut;
    before.block_cut = block_cut;
    // the groups that reach it
    on.compact(group_count, reaches<entry>{group_bounds, asked.least()}, groups, found);
    listed = on.read(static_cast<const u32*>(found));
  } else {
    on.for_each(group_count, number_groups{groups});
  }
  // their blocks, until no bound reaches what is then the threshold
  open_in_rounds(on, asked, list_blocks(on, asked, of_blocks, groups, listed, before), plan.blocks, plan);
}

/// How many teams open the first groups, and how many blocks each; and how many teams then go through all groups.
struct group_walk_plan {
  u32 openers;
  u32 opened_blocks;
  u32 lists;  ///< each of so many teams as a group has parts
  u32 most_given;

  [[nodiscard]] static group_walk_plan of(u32 groups, u32 parts, u32 k, u32 block_rows) {
    constexpr u32 most_kept = 32768;  // what is selected from in one launch
    constexpr u32 most_teams = 512;
    constexpr u32 rows_of_class = 4;
    const u32 openers = std::min(std::clamp<u32>(groups / 128, 128, most_teams), groups);
    const u32 wanted_rows = rows_of_class * class_threshold::classes_for(k);
    const u32 lists = std::min(std::min(most_teams, most_kept / k) / parts, groups);
    return {openers, std::clamp<u32>(wanted_rows / (openers * block_rows) + 1, 2, group_blocks), lists,
            most_kept / (lists * parts)};
  }
};

/// Three launches, and no answer to the host.
template <class T, class Context>
void walk_all_groups(Context& on, query<T, Context>& asked) {
  const auto& layout = asked.layout();
  const auto k = static_cast<u32>(asked.k());
  const auto count = static_cast<u32>(layout.of_groups.count);
  constexpr u32 parts = open_reaching<T>::group_parts;
  const auto plan = group_walk_plan::of(count, parts, k, layout.block_rows);
  const u32 classes = class_threshold::classes_for(k);
  listed_groups groups{nullptr, count, plan.lists};
  groups.words = on.template buffer<u64>(u64{groups.length()} * plan.lists);
  const class_threshold threshold{on.template zeroed<u64>(classes), on.template zeroed<u64>(1), classes, k};
  const group_rows<T> in{asked.rows(), asked.bounds(layout.of_blocks),
                         groups,       static_cast<u32>(layout.block_rows),
                         threshold,    asked.counters()};
  const u32 walkers = plan.lists * parts;
  const u32 capacity = walkers * plan.most_given;
  const kept_rows<T> kept{on.template buffer<entry_of<T>>(capacity), on.template zeroed<u32>(1), capacity};
  on.for_teams(plan.openers, open_best_groups<T>{in, asked.bounds(layout.of_groups), plan.openers, plan.opened_blocks});
  asked.count_bounds(count);
  on.for_teams(walkers, open_reaching<T>{in, k, plan.most_given, kept});
  asked.finish_by([&]<class Index>(const write_rows<T, Index>& writer) {
    on.for_teams(1, finish_walk<T, Index>{threshold, kept, writer});
  });
}

/// For k that few blocks have: one team, and then as many as there is work for.
template <class T, class Context>
void walk_best_first(Context& on, query<T, Context>& asked, u32 first_blocks) {
  const auto& layout = asked.layout();
  const u64 k = asked.k();
  const u64 groups = layout.of_groups.count;
  auto* const best = on.template buffer<entry_of<T>>(k);
  auto* const state = on.template buffer<walk_state<T>>(1);
  asked.count_round();
  const best_first_walk<T> walk{asked.rows(),
                                asked.bounds(layout.of_groups),
                                asked.bounds(layout.of_blocks),
                                on.template buffer<score_of<T>>(groups),
                                on.template buffer<u32>(groups),
                                on.template buffer<u32>(bound_buckets<score_of<T>>::count),
                                on.template buffer<listed_block<score_of<T>>>(layout.of_blocks.count),
                                best,
                                state,
                                static_cast<u32>(k),
                                layout.block_rows,
                                first_blocks,
                                asked.counters(),
                                asked.tuples()};
  on.for_teams(1, begin_best_first<T>{walk, static_cast<u32>(on.threads())});
  const u32 teams = on.read(static_cast<const walk_state<T>*>(state)).teams;
  if (teams > 1) on.for_teams(teams, open_best_first<T>{walk});
  asked.finish(on.select_best(best, k, k));
}

/// Strategy "blocks".
template <class T, class Context>
void run_blocks(Context& on, query<T, Context>& asked) {
  const bool is_scan = needs_nearly_all_blocks(asked.k(), asked.layout().rows);
  if (is_scan || !asked.fetches_rows()) asked.see_rows();
  if constexpr (!Context::runs_on_host) {
    if (!is_scan && !asked.fetches_rows() && asked.k() <= most_group_walk_k) {
      return walk_all_groups(on, asked);
    }
  }
  if (is_scan) return scan_all(on, asked);
  if constexpr (Context::runs_on_host && scoring<T>::is_weighted_sum) {
    const u64 first = first_blocks(asked.k(), asked.layout().block_rows);
    if (!asked.rows().nan_first && !asked.fetches_rows() && first <= most_first_blocks) {
      return walk_best_first(on, asked, static_cast<u32>(first));
    }
  }
  open_by_bound(on, asked);
  asked.finish();
}

// ---- partitions

template <class T, class Context>
void walk(Context& on, query<T, Context>& asked, bool is_shared) {
  using entry = entry_of<T>;
  using image = typename entry::image_t;
  const auto& layout = asked.layout();
  walk_partition<T> run{};
  run.rows = asked.rows();
  run.behind = asked.bounds(layout.behind_blocks);
  run.partition_begins = asked.template part<u32>(layout.partition_begins, layout.partitions + 1);
  run.k = static_cast<u32>(asked.k());
  run.counters = asked.counters();
  run.tuples = asked.tuples();
  if (is_shared) {
    run.bounds = make_bounds(on, asked, asked.bounds(layout.of_partitions));
    auto* const keys = on.template buffer<image>(layout.partitions);
    auto* const order = on.template buffer<u32>(layout.partitions);
    on.for_each(layout.partitions, order_partitions<entry>{run.bounds, keys, order});
    on.sort_pairs(keys, order, layout.partitions);
    run.order = order;
    run.shared.at = on.template buffer<image>(1);
    on.fill_zero(run.shared.at, 1);
  }
  run.kept = asked.keep(std::min<u64>(layout.rows, layout.partitions * asked.k()));
  on.for_teams(layout.partitions, run);
  asked.look();
}

// ---- sorted lists

template <class T, class Context>
void walk_lists(Context& on, query<T, Context>& asked) {
  const u64 rows = asked.layout().rows;
  const auto lists = asked.lists();
  const u64 columns = lists.scored.columns;
  bounds_of<T> unseen{};
  unseen.nan_first = asked.rows().nan_first;
  unseen.used = 1;
  unseen.upper = asked.weighted(1);
  unseen.lower = unseen.upper;
  auto* const shown = on.template buffer<T>(columns);
  auto* const last = on.template buffer<T>(columns);
  auto* const nans = on.template buffer<u64>(1);
  auto* const first_id = on.template buffer<u32>(1);
  for (u64 j = 0; j < columns; ++j) {
    unseen.upper.column[j] = shown + j;
    unseen.lower.column[j] = last + j;
  }
  unseen.nans = nans;
  unseen.first_ids = first_id;
  auto* const is_end = on.template buffer<u32>(1);
  // a device is to be filled; a host goes hardly further than it must
  constexpr bool is_device = !Context::runs_on_host;
  const u64 least_ranks = std::max<u64>(is_device ? 4096 : 4, asked.k() / columns);
  for (u64 begin = 0; begin < rows;) {
    const u64 end = std::min(rows, begin + std::max(least_ranks, is_device ? begin : begin / 8));
    const auto kept = asked.keep((end - begin) * columns);
    on.for_each((end - begin) * columns,
                open_ranks<T>{asked.rows(), lists, begin, end, asked.least(), kept, asked.counters()});
    asked.look();
    if (end == rows) break;
    on.for_each(1, find_end<T>{lists, end, shown, last, nans, first_id, unseen, asked.least(), is_end});
    asked.count_bounds(1);
    if (on.read(static_cast<const u32*>(is_end)) != 0) break;
    begin = end;
  }
}

}  // namespace detail

template <class Context>
void blocks::run(Context& on, const threshold_table_call& call) {
  detail::with_type(call.layout->type, [&]<class T>(std::type_identity<T>) {
    query<T, Context> asked(on, call);
    detail::run_blocks(on, asked);
  });
}

template <class Context>
void scan::run(Context& on, const threshold_table_call& call) {
  detail::with_type(call.layout->type, [&]<class T>(std::type_identity<T>) {
    query<T, Context> asked(on, call);
    asked.see_rows();
    detail::scan_all(on, asked);
  });
}

template <class Context>
void gta::run(Context& on, const threshold_table_call& call) {
  detail::with_type(call.layout->type, [&]<class T>(std::type_identity<T>) {
    query<T, Context> asked(on, call);
    asked.see_rows();
    if (asked.k() > most_walk_k) return detail::scan_all(on, asked);
    detail::walk(on, asked, false);
    asked.finish();
  });
}

template <class Context>
void gta_shared::run(Context& on, const threshold_table_call& call) {
  detail::with_type(call.layout->type, [&]<class T>(std::type_identity<T>) {
    query<T, Context> asked(on, call);
    asked.see_rows();
    if (asked.k() > most_walk_k) return detail::scan_all(on, asked);
    detail::walk(on, asked, true);
    asked.finish();
  });
}

template <class Context>
void full::run(Context& on, const threshold_table_call& call) {
  detail::with_type(call.layout->type, [&]<class T>(std::type_identity<T>) {
    query<T, Context> asked(on, call);
    asked.see_rows();
    auto* const entries = asked.keep_all();
    on.for_teams((asked.layout().rows + score_all<T>::piece - 1) / score_all<T>::piece,
                 score_all<T>{asked.rows(), entries, asked.counters()});
    asked.rank();
    asked.finish();
  });
}

template <class Context>
void ta::run(Context& on, const threshold_table_call& call) {
  detail::with_type(call.layout->type, [&]<class T>(std::type_identity<T>) {
    query<T, Context> asked(on, call);
    asked.see_rows();
    detail::walk_lists(on, asked);
    asked.finish();
  });
}

}  // namespace zenith::threshold_table_family

#pragma once

/// \file
/// Threshold tables of clusters, built where the columns lie. A sample of the rows gives the cuts of a k-d tree, whose
/// leaves are cells of some hundred rows; rows go down it, and are sorted by their cell; a team splits each cell into
/// blocks. What is left is extremes.

#include <algorithm>
#include <bit>

#include <algorithms/threshold_build/cluster.hpp>
#include <algorithms/threshold_build/family.hpp>
#include <algorithms/threshold_build/parts.hpp>
#include <algorithms/threshold_build/route.hpp>
#include <algorithms/threshold_build/tree.hpp>
#include <core/device/context.hpp>

namespace zenith::threshold_build_family {

using kernels = device::concat<tree_kernels<float, double, std::int32_t, std::uint32_t>,
                               route_kernels<float, double, std::int32_t, std::uint32_t>, part_kernels,
                               cluster_kernels<float, double, std::int32_t, std::uint32_t>>;

namespace detail {

/// The cuts of a tree, and how far the columns' values are apart.
template <class T>
struct cell_tree {
  const cell_cut<T>* nodes = nullptr;
  double* extents = nullptr;
  u32 levels = 0;
};

/// A tree of so many levels from a sample of the rows. A team cuts a few levels of one cell; the cells of the sampled
/// rows then are sorted, and each is cut further.
template <class T, class Context>
[[nodiscard]] cell_tree<T> grow_tree(Context& on, const input_columns<T>& from, u64 rows, u32 levels) {
  if (levels == 0) return {};
  using cutter = cut_cells<T>;
  const u64 count = std::min(rows, u64{cutter::samples_of_a_leaf} << levels);
  const row_list<T> samples{on.template buffer<T>(count * row_list<T>::padded(from.columns)),
                            row_list<T>::padded(from.columns)};
  auto* const numbers = on.template buffer<u32>(count);
  auto* const cells = on.template buffer<u32>(count);
  auto* const keys = on.template buffer<u32>(count);
  auto* const order = on.template buffer<u32>(count);
  auto* const begins = on.template buffer<u32>((u64{1} << levels) + 1);
  auto* const nodes = on.template zeroed<cell_cut<T>>(u64{1} << levels);
  auto* const extents = on.template buffer<double>(from.columns);
  on.for_each(count, draw_rows<T>{from, rows, count, samples, numbers, cells});
  // what a team can cut with as many samples a leaf
  const u32 leaves = cutter::splitter::most_rows / cutter::samples_of_a_leaf;
  const u32 most_levels = std::min<u32>(static_cast<u32>(std::bit_width(leaves)) - 1, cutter::splitter::most_levels);
  u32 stages = (levels + most_levels - 1) / most_levels;
  for (u32 above = 0; above < levels; --stages) {
    const u32 now = (levels - above) / stages;
    const u64 known = u64{1} << above;
    on.for_each(count, number_samples{cells, keys, order});
    if (above > 0) on.sort_pairs(keys, order, count, static_cast<int>(above));
    on.for_each(known + 1, find_cells{keys, static_cast<u32>(count), begins});
    on.for_teams(known, cutter{samples, from.columns, numbers, order, begins, above, now, nodes, extents});
    on.for_each(count, route_samples<T>{samples, numbers, nodes, above, now, cells});
    above += now;
  }
  return {nodes, extents, levels};
}

/// Of all rows, by their ids. `rows` and `listed` are memory for as many.
template <class Context>
void write_positions(Context& on, const u32* ids, u64 count, u32* rows, u32* listed, u32* positions) {
  on.for_each(count, list_positions{ids, rows, listed});
  on.sort_pairs(rows, listed, count, static_cast<int>(std::bit_width(count - 1)), put_positions::window_bits);
  on.for_teams(put_positions::windows(count), put_positions{rows, listed, count, positions});
}

template <class T, class Context>
void write_table(Context& on, const input_columns<T>& from, const threshold_build_call& call) {
  const u64 n = call.rows;
  const bool is_narrow = from.columns <= few_columns;
  constexpr u32 most_rows = most_split_rows;
  const u32 block_rows = std::min(call.block_rows, most_rows);
  const part_sizes sizes{most_rows / block_rows * block_rows, block_rows};
  // cells differ in size, and few have more rows than a part
  u32 levels = 0;
  while (n > sizes.rows && n >> levels > most_rows / 2) ++levels;
  const auto tree = grow_tree<T>(on, from, n, levels);
  const u64 cells = u64{1} << levels;

  const row_list<T> rows{on.template buffer<T>(n * row_list<T>::padded(from.columns)),
                         row_list<T>::padded(from.columns)};
  auto* const cell_of = on.template buffer<u32>(n);
  auto* const order = on.template buffer<u32>(n);
  auto* const columns = on.template buffer<const T*>(from.columns);
  on.for_each(from.columns, list_columns<T>{from, columns});
  const u64 nodes = levels > 0 ? u64{1} << levels : 0;
  const auto word_places = word_order::of(levels);
  auto* const words = on.template zeroed<u32>(levels > 0 ? word_places.size() : 0);
  on.for_each(nodes, shorten_cuts<T>{tree.nodes, word_places, words});
  if (is_narrow) {
    using route = route_short_rows<T>;
    on.for_teams(route::parts(n),
                 route{from, columns, tree.nodes, words, word_places, levels, n, rows, cell_of, order});
  } else {
    using route = route_long_rows<T>;
    on.for_teams(route::parts(n),
                 route{from, columns, tree.nodes, words, word_places, levels, n, rows, cell_of, order});
  }
  if (levels > 0) on.sort_pairs(cell_of, order, n, static_cast<int>(levels));
  auto* const begins = on.template buffer<u32>(cells + 1);
  auto* const counts = on.template buffer<u32>(2 * cells);
  auto* const parts_before = on.template buffer<u32>(cells + 1);
  auto* const blocks_before = on.template buffer<u32>(cells + 1);
  on.for_each(cells + 1, find_cells{cell_of, static_cast<u32>(n), begins});
  on.for_each(cells, count_parts{begins, sizes, counts, counts + cells});
  on.exclusive_scan(static_cast<const u32*>(counts), cells, parts_before);
  on.exclusive_scan(static_cast<const u32*>(counts + cells), cells, blocks_before);
  const u64 parts = on.read(static_cast<const u32*>(parts_before + cells));
  const u64 blocks = on.read(static_cast<const u32*>(blocks_before + cells));
  auto* const part_list = on.template buffer<table_part>(parts + 1);
  on.for_each(parts + 1, find_parts{begins, parts_before, blocks_before, sizes, static_cast<u32>(cells), part_list});

  const auto given = call.provide(call.state, blocks);
  const table_memory to{on.output(reinterpret_cast<unsigned char*>(given.table), given.layout->bytes, call.out_space),
                        *given.layout};
  on.for_each(clear_ends::parts(from.columns), clear_ends{to, sizeof(T)});
  // a device's caches have the positions of so many rows
  constexpr u64 few_rows = u64{1} << 22;
  auto* const positions = to.part<u32>(to.of.positions);
  const bool are_sorted = !Context::runs_on_host && n > few_rows;
  u32* const at_once = are_sorted ? nullptr : positions;
  const auto split_parts = [&](auto part) {
    part = {rows, from.columns, order, part_list, block_rows, tree.extents, to, {}, at_once};
    for (u32 j = 0; j < from.columns; ++j) part.column[j] = to.column<T>(j);
    on.for_teams(parts, part);
  };
  if (is_narrow) {
    split_parts(cluster_few_columns<T>{});
  } else {
    split_parts(cluster_columns<T>{});
  }
  if (are_sorted) {
    write_positions(on, to.part<u32>(to.of.ids), n, cell_of, order, positions);
  }
  on.for_teams(to.of.of_groups.count, sum_up_group<T>{to});
  on.for_each(to.of.of_groups.count + 1, sum_up_words{to});
  constexpr auto host = memory_space::host;
  const u64 sampled = given.sample_rows * from.columns;
  const u64 sampled_blocks = given.sample_blocks * from.columns;
  on.for_each(sampled, write_sample<T>{to, given.sample_rows, given.sample_blocks,
                                       on.output(static_cast<T*>(given.sample_values), sampled, host),
                                       on.output(static_cast<T*>(given.sample_maxima), sampled_blocks, host),
                                       on.output(static_cast<T*>(given.sample_minima), sampled_blocks, host)});
  const u64 block_values = sampled_blocks * given.sample_block_rows;
  on.for_each(block_values,
              write_sampled_blocks<T>{to, given.sample_blocks, given.sample_block_rows,
                                      on.output(static_cast<T*>(given.sample_block_values), block_values, host),
                                      on.output(given.sample_block_counts, given.sample_blocks, host)});
  on.finish();
}

}  // namespace detail

template <class Context>
void clusters::run(Context& on, const threshold_build_call& call) {
  const auto build = [&]<class T>(std::type_identity<T>) {
    input_columns<T> from{};
    from.columns = call.column_count;
    for (u32 j = 0; j < from.columns; ++j) {
      from.column[j] = on.input(static_cast<const T*>(call.columns[j]), call.rows, call.space);
    }
    detail::write_table<T>(on, from, call);
  };
  switch (call.type) {
    case key_type::float32: return build(std::type_identity<float>{});
    case key_type::float64: return build(std::type_identity<double>{});
    case key_type::int32: return build(std::type_identity<std::int32_t>{});
    default: return build(std::type_identity<std::uint32_t>{});
  }
}

}  // namespace zenith::threshold_build_family

#pragma once

/// \file
/// The strategies of spatial indexes, and every kernel that they launch.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <algorithms/spatial_index/all_pairs.hpp>
#include <algorithms/spatial_index/bulk_load.hpp>
#include <algorithms/spatial_index/curves.hpp>
#include <algorithms/spatial_index/family.hpp>
#include <algorithms/spatial_index/join.hpp>
#include <algorithms/spatial_index/node_pairs.hpp>
#include <algorithms/spatial_index/range.hpp>
#include <algorithms/spatial_index/tiles.hpp>
#include <algorithms/spatial_join/extents.hpp>
#include <core/device/context.hpp>

namespace zenith::spatial_index_family {

template <class T, unsigned D>
using kernels_of = device::concat<device::list<enter_contained<T, D>, descend<T, D>, open_pairs<T, D>,
                                               place_on_curve<z_order, T, D>, place_points<T, D>, fold_entries<T, D>>,
                                  all_pairs_kernels<T, D>, tile_kernels<T, D>>;
template <class T>
using column_kernels_of = device::concat<
    device::list<enter_items<T>, split_entries<T>, gather_images<ordered::bits_t<T>>, write_items<T, std::uint32_t>,
                 write_items<T, std::uint64_t>, rank_blocks<T>, count_reaching<ordered::bits_t<T>>>,
    spatial_join_family::best_pairs_kernels<T>, spatial_join_family::column_kernels<T>, tile_column_kernels<T>>;

using kernels = device::concat<
    kernels_of<float, 2>, kernels_of<float, 3>, kernels_of<double, 2>, kernels_of<double, 3>, column_kernels_of<float>,
    column_kernels_of<double>, tile_common_kernels,
    device::list<number_children, spatial_join_family::gather_begins, spatial_join_family::write_left<std::uint32_t>,
                 spatial_join_family::write_left<std::uint64_t>, spatial_join_family::write_tied,
                 spatial_join_family::number_places, spatial_join_family::write_pair_entries,
                 spatial_join_family::find_pair_range, spatial_join_family::write_pair_words,
                 spatial_join_family::set_count, spatial_join_family::begin_row>>;

namespace detail {

/// Calls use(T, D).
template <class Use>
void with_type(key_type type, unsigned dimensions, const Use& use) {
  const auto as = [&]<class T>(std::type_identity<T> one) {
    if (dimensions == 3) {
      use(one, std::integral_constant<unsigned, 3>{});
    } else {
      use(one, std::integral_constant<unsigned, 2>{});
    }
  };
  if (type == key_type::float32) {
    as(std::type_identity<float>{});
  } else {
    as(std::type_identity<double>{});
  }
}

template <class T, class Context>
[[nodiscard]] const T* column_of(Context& on, const spatial_index_memory& index, u64 offset, u64 count) {
  return on.input(reinterpret_cast<const T*>(index.bytes + offset), count, index.space);
}

/// `lowest`: a node's best score is its least.
template <class T, unsigned D, class Context>
[[nodiscard]] tree_view<T, D> view_of(Context& on, const spatial_index_memory& index, bool lowest) {
  const auto& of = *index.layout;
  tree_view<T, D> tree{};
  tree.fanout = of.fanout;
  tree.count = of.items;
  tree.levels = of.levels;
  for (u32 level = 0; level <= of.levels; ++level) {
    tree.begins[level] = of.begins[level];
    tree.sizes[level] = of.sizes[level];
  }
  for (unsigned a = 0; a < D; ++a) {
    tree.nodes.low[a] = column_of<T>(on, index, of.node_low[a], of.begins[0]);
    tree.nodes.high[a] = column_of<T>(on, index, of.node_high[a], of.begins[0]);
    tree.items.low[a] = column_of<T>(on, index, of.low[a], of.items);
    tree.items.high[a] = of.has_boxes ? column_of<T>(on, index, of.high[a], of.items) : tree.items.low[a];
  }
  tree.nodes.best = column_of<T>(on, index, lowest ? of.node_least : of.node_most, of.begins[0]);
  tree.items.best = column_of<T>(on, index, of.scores, of.items);
  tree.ids = column_of<u32>(on, index, of.ids, of.items);
  return tree;
}

template <class T>
[[nodiscard]] nearness<T> nearness_of(bool intersects, double distance) {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  const T rounded = static_cast<T>(distance);
  return intersects ? nearness<T>{infinite, T{0}} : nearness<T>{rounded * rounded, infinite};
}

enum class method { leaves_by_score, items_by_score, nodes_by_place, nodes_by_bound };

/// The left side's items descend, unless they are far more than the right one's.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> join_by_score(Context& on, const top_k_spatial_join_call& call, joined_trees<T, D> sides,
                                           bool leaves) {
  constexpr u64 far_more = 8;
  if (sides.left.count / far_more > sides.right.count) sides.swap();
  const auto& left = sides.left;
  const auto order =
      order_blocks(on, leaves ? left.nodes.best + left.begins[1] : left.items.best, sides.left_weight,
                   leaves ? left.entries(1) : left.count, leaves ? left.fanout : 1, sides.scorer.smallest);
  return join_blocks(on, sides, order, call.k, {call.blocks_at_once, call.expected_pairs}, call.statistics);
}

/// Both trees, the caller's scores by row.
template <class T, unsigned D, class Context>
void join(Context& on, const top_k_spatial_join_call& call, const joined_trees<T, D>& sides,
          const spatial_join_family::pair_scores<T>& scores, method by) {
  if (by == method::leaves_by_score || by == method::items_by_score) {
    deliver(on, call, scores, sides.scorer, join_by_score(on, call, sides, by == method::leaves_by_score));
  } else {
    const auto order = by == method::nodes_by_place ? pair_order::by_place : pair_order::by_bound;
    node_pair_join<T, D, Context> nodes(on, sides, order, call.k);
    deliver(on, call, scores, sides.scorer, nodes.run(call.statistics));
  }
  on.finish();
}

/// The side of a score's range that is best.
[[nodiscard]] inline bool is_lowest(const top_k_spatial_join_call& call, double weight) {
  return (call.select == selection::smallest) != (weight < 0);
}

template <class Context>
void join(Context& on, const top_k_index_join_call& call, method by) {
  with_type(call.type, call.dimensions,
            [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
              *call.outcome = {};
              const joined_trees<T, D> sides{view_of<T, D>(on, call.left_index, is_lowest(call, call.left_weight)),
                                             view_of<T, D>(on, call.right_index, is_lowest(call, call.right_weight)),
                                             static_cast<T>(call.left_weight),
                                             static_cast<T>(call.right_weight),
                                             nearness_of<T>(call.intersects, call.distance),
                                             {call.score, call.select == selection::smallest}};
              const auto& left = *call.left_index.layout;
              const auto& right = *call.right_index.layout;
              join(on, call, sides,
                   {column_of<T>(on, call.left_index, left.scores_by_id, left.items),
                    column_of<T>(on, call.right_index, right.scores_by_id, right.items), sides.left_weight,
                    sides.right_weight},
                   by);
            });
}

/// Of the trees that are made for one join.
inline constexpr u32 fanout_for_points = 16;

template <class Context>
void join(Context& on, const top_k_spatial_join_call& call, method by) {
  constexpr u32 fanout = fanout_for_points;
  with_type(
      call.type, call.dimensions, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
        const auto input = spatial_join_family::read_input<T, D>(
            on, call, {true, call.score != pair_score::product, call.left_weight, call.right_weight});
        if (call.outcome->fault != spatial_fault::none) return on.finish();
        const auto load = [&](const spatial_join_family::point_columns<T, D>& side, unsigned first, double weight) {
          const auto known = spatial_join_family::extents_of<T, D>(input.known, first);
          return load_points(on, side, order_by_place(on, side, known, fanout), fanout, is_lowest(call, weight));
        };
        const joined_trees<T, D> sides{load(input.left, 0, call.left_weight),
                                       load(input.right, spatial_join_family::most_side_columns, call.right_weight),
                                       input.left.weight,
                                       input.right.weight,
                                       {input.squared, std::numeric_limits<T>::infinity()},
                                       {call.score, call.select == selection::smallest}};
        join(on, call, sides, {input.left.scores, input.right.scores, input.left.weight, input.right.weight}, by);
      });
}

template <class Context>
void join_all_pairs(Context& on, const index_join_call& call) {
  with_type(call.type, call.dimensions,
            [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
              *call.outcome = {};
              join_all(on, call, view_of<T, D>(on, call.left_index, false), view_of<T, D>(on, call.right_index, false),
                       nearness_of<T>(call.intersects, call.distance), call.first, call.rows);
              on.finish();
            });
}

/// Of columns: trees by Sort-Tile-Recursive, since a join that asks for trees has points that lie unevenly.
template <class Context>
void join_all_pairs(Context& on, const spatial_join_call& call) {
  with_type(call.type, call.dimensions,
            [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
              const auto input = spatial_join_family::read_input<T, D>(on, call, {});
              if (call.outcome->fault != spatial_fault::none) return on.finish();
              const auto load = [&](spatial_join_family::point_columns<T, D> side) {
                side.scores = side.at[0];  // none are asked for, and a tree has some
                return load_points(on, side, order_by_tiles(on, side, fanout_for_points), fanout_for_points, false);
              };
              const auto left = load(input.left);
              const auto right = load(input.right);
              join_all(on, call, left, right, nearness_of<T>(false, call.distance), 0, call.left.rows);
              on.finish();
            });
}

template <class Context>
void build(Context& on, const index_build_call& call, bool along_curve) {
  with_type(call.layout->type, call.layout->dimensions,
            [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
              build_tree<T, D>(on, call, along_curve);
              if (call.outcome->fault == spatial_fault::none) on.finish();
            });
}

}  // namespace detail

template <class Call>
template <class Context>
void ba<Call>::run(Context& on, const call_type& call) {
  detail::join(on, call, detail::method::leaves_by_score);
}

template <class Call>
template <class Context>
void sfa<Call>::run(Context& on, const call_type& call) {
  detail::join(on, call, detail::method::items_by_score);
}

template <class Call>
template <class Context>
void dfa<Call>::run(Context& on, const call_type& call) {
  detail::join(on, call, detail::method::nodes_by_place);
}

template <class Call>
template <class Context>
void rj<Call>::run(Context& on, const call_type& call) {
  detail::join(on, call, detail::method::nodes_by_bound);
}

template <class Context>
void sort_tile_recursive::run(Context& on, const call_type& call) {
  detail::build(on, call, /*along_curve=*/false);
}

template <class Context>
void hilbert::run(Context& on, const call_type& call) {
  detail::build(on, call, /*along_curve=*/true);
}

template <class Call>
template <class Context>
void index_nested_loop<Call>::run(Context& on, const call_type& call) {
  detail::join_all_pairs(on, call);
}

template <class Context>
void descent::run(Context& on, const call_type& call) {
  const auto& of = *call.index.layout;
  detail::with_type(
      of.type, of.dimensions, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
        const bool smallest = call.select == selection::smallest;
        const auto tree = detail::view_of<T, D>(on, call.index, smallest);
        region<T, D> wanted{{}, detail::nearness_of<T>(call.intersects, call.distance), {smallest, false}};
        for (unsigned a = 0; a < D; ++a) {
          wanted.at.low[a] = static_cast<T>(call.low[a]);
          wanted.at.high[a] = static_cast<T>(call.high[a]);
        }
        const auto found = find_items(on, tree, wanted, call.k);
        const u64 n = std::min(found.count, call.k);
        *call.found = n;
        const auto out = call.provide(call.provide_state, n);
        if (n == 0 || out.left == nullptr) return on.finish();
        const auto best = rank_items(on, tree, found, wanted.order, call.k);
        const T* const scores = detail::column_of<T>(on, call.index, of.scores_by_id, of.items);
        T* const to = on.output(static_cast<T*>(out.scores), n, call.out_space);
        spatial_join_family::with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
          auto* const ids = on.output(static_cast<Index*>(out.left), n, call.out_space);
          on.for_each(n, write_items<T, Index>{best.items, scores, ids, to});
        });
        on.finish();
      });
}

}  // namespace zenith::spatial_index_family

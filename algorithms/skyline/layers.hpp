#pragma once

/// \file
/// Layers (non-dominated sorting): the skyline, the skyline of the rest, and so on. The order of the points is made
/// once: what is left keeps it.

#include <utility>

#include <algorithms/skyline/phases.hpp>

namespace zenith::skyline_family {

struct write_no_layer {
  u32* layers;

  ZENITH_FN void operator()(u64 i) const { layers[i] = no_layer; }
};

/// Gives the points whose rows are marked a layer. Marks of earlier layers stay: their points are gone.
struct assign_layer {
  const u32* rows;
  const u8* members;
  u32 layer;
  u32* layers;

  ZENITH_FN void operator()(u64 i) const {
    const u32 row = rows[i];
    if (members[row] != 0) layers[row] = layer;
  }
};

struct has_no_layer {
  const u32* rows;
  const u8* members;

  ZENITH_FN bool operator()(u64 i) const { return members[rows[i]] == 0; }
};

using layer_kernels = device::list<write_no_layer, assign_layer>;

namespace detail {

/// The order must hold all points once: no stop point, no padding.
template <class Context, class Method>
void find_layers(Context& on, const skyline_layers_call& call, const Method& how) {
  with_images(on, call, [&]<class Image>(const image_table<Image>& table) {
    u64 count = 0;
    const u32* const left = rows_left(on, table.removed, call.rows, count);
    u32* const layers = on.template buffer<u32>(call.rows);
    on.for_each(call.rows, write_no_layer{layers});
    u8* const members = on.template buffer<u8>(call.rows);
    on.fill_zero(members, call.rows);
    const auto counters = make_counters(on, call);
    const u64 candidates = count;
    u64 blocks = 0;
    u32 layer = 0;
    if (count > 0) {
      in_order_of(how, on, table, left, count, [&](const point_set<Image>& placed, u64 /*count*/, auto& rounds) {
        // what is left, in turns in one place and the other
        point_set<Image> points = placed;
        point_set<Image> other = make_points(on, count, placed, rounds.padded());
        u32* const picked = on.template buffer<u32>(count);
        u32* const found = on.template buffer<u32>(1);
        while (count > 0 && layer < call.most_layers && candidates - count < call.enough_rows) {
          blocks += rounds.mark(on, points, count, members, true, counters);
          on.for_each(count, assign_layer{points.rows, members, layer, layers});
          on.compact(count, has_no_layer{points.rows, members}, picked, found);
          count = on.read(found);
          on.for_each(count, gather_points<Image>{points, picked, other});
          std::swap(points, other);
          ++layer;
        }
      });
    }
    call.outcome->count = layer;
    report(on, call, counters, candidates, blocks);
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call.out_layers, call.rows, call.out_space), layers, call.rows);
  });
}

}  // namespace detail

template <class Skyline>
template <class Context>
void layers_by<Skyline>::run(Context& on, const call_type& call) {
  detail::find_layers(on, call, Skyline::how);
}

}  // namespace zenith::skyline_family

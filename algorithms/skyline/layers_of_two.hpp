#pragma once

/// \file
/// Layers of one column or two, on a host. Rows are ordered by <first value, second value>: of two that differ only the
/// first can dominate the other, and it does if its second value is no larger. So all that matters of a layer is the
/// least second value of its rows so far. These rise from layer to layer, and a row belongs to the first layer whose
/// least value is larger than its own: patience sorting. n rows take n log n steps of one worker, however many layers
/// there are.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <algorithms/skyline/ordered_rows.hpp>
#include <algorithms/skyline/phases.hpp>

namespace zenith::skyline_family {

struct write_no_layer {
  u32* layers;

  ZENITH_FN void operator()(u64 i) const { layers[i] = no_layer; }
};

/// The images of rows in a column.
template <class T>
struct write_column {
  static constexpr u64 item_cost = 32;

  row_source<T> from;
  const u32* rows;
  u32 column;
  typename row_source<T>::image* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = from.at(rows[i], column); }
};

/// Gives all rows their layers: one item.
template <class Image>
struct assign_by_least {
  const Image* first;
  const Image* second;  ///< nullptr: there is one column
  const u32* rows;
  u64 count;
  u32 most;      ///< layers
  u64 enough;    ///< rows in layers
  Image* least;  ///< of up to so many layers as there are rows
  u32* sizes;    ///< of as many
  u32* layers;   ///< of rows of the table
  u32* found;    ///< how many layers there are

  ZENITH_FN void operator()(u64 /*i*/) const {
    u32 known = 0;
    u32 layer = 0;
    for (u64 i = 0; i < count; ++i) {
      const Image value = second == nullptr ? Image{0} : second[i];
      const bool is_twin = i > 0 && first[i] == first[i - 1] && (second == nullptr || value == second[i - 1]);
      if (!is_twin) {
        layer = layers_up_to(value, known);
        if (layer < most) {
          if (layer == known) sizes[known++] = 0;
          least[layer] = value;
        }
      }
      if (layer < most) ++sizes[layer];
      layers[rows[i]] = layer < most ? layer : no_layer;
    }
    u32 wanted = 0;
    for (u64 taken = 0; wanted < known && taken < enough; ++wanted) taken += sizes[wanted];
    for (u64 i = 0; i < count && wanted < known; ++i) {
      if (layers[rows[i]] >= wanted) layers[rows[i]] = no_layer;
    }
    *found = wanted;
  }

 private:
  ZENITH_FN u32 layers_up_to(Image value, u32 known) const {
    u32 low = 0;
    for (u32 high = known; low < high;) {
      const u32 middle = low + (high - low) / 2;
      if (least[middle] <= value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

template <class... T>
using layer_kernels_of_two =
    device::list<write_column<T>..., assign_by_least<std::uint32_t>, assign_by_least<std::uint64_t>>;

namespace detail {

/// Whether `find_layers_of_two` finds them.
[[nodiscard]] inline bool has_two_columns(const skyline_layers_call& call) {
  return call.column_count <= 2 && std::none_of(call.preferences, call.preferences + call.column_count,
                                                [](preference one) { return one == preference::different; });
}

template <class Context>
void find_layers_of_two(Context& on, const skyline_layers_call& call) {
  ::zenith::detail::with_key_type(call.type, [&]<class T>(std::type_identity<T>) {
    using image = typename row_source<T>::image;
    const auto from = make_row_source<T>(on, call);
    u64 count = 0;
    u8* const flags = on.template buffer<u8>(call.rows);
    u32* const rows = list_rows_left<T>(on, call, from, {}, flags, count);
    if (rows == nullptr) return;
    on.release(flags);
    image* const first = on.template buffer<image>(count);
    image* const second = from.columns == 1 ? nullptr : on.template buffer<image>(count);
    if (second != nullptr) {
      on.for_each(count, write_column<T>{from, rows, 1, second});
      on.sort_pairs(second, rows, count);
    }
    on.for_each(count, write_column<T>{from, rows, 0, first});
    on.sort_pairs(first, rows, count);
    if (second != nullptr) on.for_each(count, write_column<T>{from, rows, 1, second});

    u32* const layers = on.template buffer<u32>(call.rows);
    u32* const found = on.template buffer<u32>(1);
    const u64 most = std::min<u64>(call.most_layers, count);
    on.for_each(call.rows, write_no_layer{layers});
    on.for_each(1,
                assign_by_least<image>{first, second, rows, count, call.most_layers, call.enough_rows,
                                       on.template buffer<image>(most), on.template buffer<u32>(most), layers, found});
    call.outcome->count = on.read(static_cast<const u32*>(found));
    report(on, call, make_counters(on, call), count, 1);
    // last of all: the caller's memory stays untouched when anything fails
    on.copy(on.output(call.out_layers, call.rows, call.out_space), static_cast<const u32*>(layers), call.rows);
  });
  on.finish();
}

}  // namespace detail

}  // namespace zenith::skyline_family

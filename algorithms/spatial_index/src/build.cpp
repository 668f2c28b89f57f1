#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include <algorithms/spatial_index/src/storage.hpp>
#include <algorithms/spatial_index/tree.hpp>
#include <core/host_memory.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using u64 = std::uint64_t;

[[noreturn]] void reject(const std::string& message, error_code code = error_code::invalid_argument) {
  throw error(code, "spatial_index: " + message);
}

void check_shape(const index_input& input, const spatial_index_options& options) {
  const std::string items = input.has_boxes ? "boxes.low" : "points.coordinates";
  if (options.fanout < least_index_fanout || options.fanout > most_index_fanout) {
    reject("options.fanout is " + std::to_string(options.fanout) + "; it must be from 2 to 64");
  }
  const auto check_columns = [&](const spatial_points& side, const std::string& name) {
    if (side.columns.size() == input.dimensions) return;
    reject(name + " has " + std::to_string(side.columns.size()) + " columns; an index of " +
           std::to_string(input.dimensions) + " dimensions takes as many");
  };
  check_columns(input.low, items);
  if (input.has_boxes) check_columns(input.high, "boxes.high");
  if (input.low.rows >= std::numeric_limits<std::uint32_t>::max()) {
    reject(items + " has " + std::to_string(input.low.rows) + " rows; the most is 2^32 - 2", error_code::unsupported);
  }
  if (input.has_boxes && input.high.rows != input.low.rows) {
    reject("boxes.high has " + std::to_string(input.high.rows) + " rows and boxes.low " +
           std::to_string(input.low.rows) + "; they must be as many");
  }
  if (input.low.score_count != input.low.rows) {
    reject(std::string(input.has_boxes ? "boxes" : "points") + ".scores has " + std::to_string(input.low.score_count) +
           " elements and " + items + " " + std::to_string(input.low.rows) + " rows; they must be as many");
  }
}

template <class T>
const T* column(const spatial_points& from, unsigned a) {
  return static_cast<const T*>(from.columns[a]);
}

template <class T>
void check_values(const index_input& input) {
  const std::string items = input.has_boxes ? "boxes" : "points";
  const auto check_column = [&](const spatial_points& side, const std::string& name, unsigned a) {
    for (std::size_t i = 0; i < side.rows; ++i) {
      if (std::isfinite(column<T>(side, a)[i])) continue;
      reject(name + " has a NaN or an infinity in column " + std::to_string(a) + ", row " + std::to_string(i));
    }
  };
  for (unsigned a = 0; a < input.dimensions; ++a) {
    check_column(input.low, items + (input.has_boxes ? ".low" : ".coordinates"), a);
    if (!input.has_boxes) continue;
    check_column(input.high, "boxes.high", a);
    for (std::size_t i = 0; i < input.low.rows; ++i) {
      if (column<T>(input.low, a)[i] <= column<T>(input.high, a)[i]) continue;
      reject("boxes.low is above boxes.high in column " + std::to_string(a) + ", row " + std::to_string(i));
    }
  }
  for (std::size_t i = 0; i < input.low.rows; ++i) {
    if (std::isfinite(static_cast<const T*>(input.low.scores)[i])) continue;
    reject(items + ".scores[" + std::to_string(i) + "] is NaN or infinite");
  }
}

/// A new index's columns.
template <class T>
class writer {
 public:
  writer(const spatial_index_layout& of, std::byte* bytes) : of_(of), bytes_(bytes) {}

  void write_items(const index_input& input, const std::vector<std::uint32_t>& rows) const {
    std::copy(rows.begin(), rows.end(), at<std::uint32_t>(of_.ids));
    const T* const scores = static_cast<const T*>(input.low.scores);
    std::copy(scores, scores + of_.items, at(of_.scores_by_id));
    gather(scores, rows, of_.scores);
    for (unsigned a = 0; a < of_.dimensions; ++a) {
      gather(column<T>(input.low, a), rows, of_.low[a]);
      if (of_.has_boxes) gather(column<T>(input.high, a), rows, of_.high[a]);
    }
  }

  void write_nodes() const {
    for (std::uint32_t level = 1; level <= of_.levels; ++level) {
      const bool of_items = level == 1;
      const u64 end = of_items ? of_.items : of_.begins[level - 2] - of_.begins[level - 1];
      const u64 from = of_items ? 0 : of_.begins[level - 1];
      for (u64 p = 0; p * of_.fanout < end; ++p) {
        const u64 first = from + p * of_.fanout;
        const u64 last = from + std::min(end, (p + 1) * of_.fanout);
        const u64 node = of_.begins[level] + p;
        for (unsigned a = 0; a < of_.dimensions; ++a) {
          at(of_.node_low[a])[node] = *std::min_element(at(of_items ? of_.low[a] : of_.node_low[a]) + first,
                                                        at(of_items ? of_.low[a] : of_.node_low[a]) + last);
          at(of_.node_high[a])[node] = *std::max_element(at(of_items ? of_.high[a] : of_.node_high[a]) + first,
                                                         at(of_items ? of_.high[a] : of_.node_high[a]) + last);
        }
        at(of_.node_most)[node] = *std::max_element(at(of_items ? of_.scores : of_.node_most) + first,
                                                    at(of_items ? of_.scores : of_.node_most) + last);
        at(of_.node_least)[node] = *std::min_element(at(of_items ? of_.scores : of_.node_least) + first,
                                                     at(of_items ? of_.scores : of_.node_least) + last);
      }
    }
  }

 private:
  template <class U = T>
  [[nodiscard]] U* at(u64 offset) const {
    return reinterpret_cast<U*>(bytes_ + offset);
  }
  void gather(const T* from, const std::vector<std::uint32_t>& rows, u64 to) const {
    for (std::size_t i = 0; i < rows.size(); ++i) at(to)[i] = from[rows[i]];
  }

  const spatial_index_layout& of_;
  std::byte* bytes_;
};

template <class T>
std::shared_ptr<const index_storage> build(const index_input& input, const spatial_index_options& options) {
  check_values<T>(input);
  auto made = std::make_shared<index_storage>();
  auto& of = made->layout;
  of = place_index(input.type, input.dimensions, input.has_boxes, options.fanout, input.low.rows);
  std::vector<std::vector<T>> centres(of.dimensions, std::vector<T>(input.low.rows));
  for (unsigned a = 0; a < of.dimensions; ++a) {
    for (std::size_t i = 0; i < centres[a].size(); ++i) {
      const T low = column<T>(input.low, a)[i];
      // halves, so that no sum overflows
      centres[a][i] = input.has_boxes ? low / 2 + column<T>(input.high, a)[i] / 2 : low;
    }
  }
  const auto rows = tile_items(centres, of);
  std::byte* const bytes = allocate(*made, "spatial_index");
  std::fill_n(bytes, of.bytes, std::byte{0});  // what lies between the parts
  const writer<T> to(of, bytes);
  to.write_items(input, rows);
  to.write_nodes();
  write_header(of, bytes);
  return made;
}

}  // namespace

spatial_index_layout place_index(key_type type, unsigned dimensions, bool has_boxes, std::uint32_t fanout, u64 items) {
  spatial_index_layout of;
  of.type = type;
  of.dimensions = dimensions;
  of.fanout = fanout;
  of.has_boxes = has_boxes;
  of.items = items;
  spatial_index_family::number_levels(of, items);
  u64 at = 64;  // behind the header
  const auto place = [&](u64 count, u64 size) {
    const u64 begin = at;
    at += (count * size + 63) / 64 * 64;
    return begin;
  };
  const u64 size = size_of(type);
  const u64 nodes = of.begins[0];
  for (unsigned a = 0; a < dimensions; ++a) of.node_low[a] = place(nodes, size);
  for (unsigned a = 0; a < dimensions; ++a) of.node_high[a] = place(nodes, size);
  of.node_most = place(nodes, size);
  of.node_least = place(nodes, size);
  for (unsigned a = 0; a < dimensions; ++a) of.high[a] = of.low[a] = place(items, size);
  if (has_boxes) {
    for (unsigned a = 0; a < dimensions; ++a) of.high[a] = place(items, size);
  }
  of.scores = place(items, size);
  of.ids = place(items, 4);
  of.scores_by_id = place(items, size);
  of.bytes = at;
  return of;
}

std::shared_ptr<const index_storage> build_index(const index_input& input, const spatial_index_options& options) {
  check_shape(input, options);
  try {
    return input.type == key_type::float32 ? build<float>(input, options) : build<double>(input, options);
  } catch (const std::bad_alloc&) {
    reject("there is no memory for " + std::to_string(input.low.rows) + " items", error_code::out_of_memory);
  }
}

}  // namespace zenith::detail

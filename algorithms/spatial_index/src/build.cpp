#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <string>

#include <algorithms/spatial_index/fold.hpp>
#include <algorithms/spatial_index/src/storage.hpp>
#include <algorithms/spatial_index/tree.hpp>
#include <core/host_memory.hpp>
#include <core/message.hpp>
#include <core/workers.hpp>
#include <zenith/error.hpp>

namespace zenith::detail {
namespace {

using u64 = std::uint64_t;

[[noreturn]] void reject(const index_input& input, const std::string& message,
                         error_code code = error_code::invalid_argument) {
  throw error(code, std::string{input.function} + ": " + message);
}

template <class T>
const T* column(const spatial_points& from, unsigned a) {
  return static_cast<const T*>(from.columns[a]);
}

/// The first row for which is_bad(row); n: none.
template <class Test>
std::size_t find_bad(std::size_t n, int workers, const Test& is_bad) {
  constexpr std::size_t piece = std::size_t{1} << 14;
  std::atomic<std::size_t> first{n};
  share_out(workers, (n + piece - 1) / piece, [&](int, u64 p) {
    const std::size_t begin = p * piece;
    const std::size_t end = std::min(n, begin + piece);
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) any |= is_bad(i);
    if (!any) return;
    std::size_t row = begin;
    while (!is_bad(row)) ++row;
    for (auto known = first.load(); row < known && !first.compare_exchange_weak(known, row);) {
    }
  });
  return first;
}

template <class T>
void check_values(const index_input& input, int workers) {
  const std::string name = input.name;
  const std::size_t n = input.low.rows;
  const auto find_infinite = [&](const T* values) {
    return find_bad(n, workers, [values](std::size_t i) { return !(values[i] - values[i] == T{0}); });
  };
  const auto check_column = [&](const spatial_points& side, const std::string& part, unsigned a) {
    const std::size_t row = find_infinite(column<T>(side, a));
    if (row == n) return;
    reject(input, part + " has a NaN or an infinity in column " + std::to_string(a) + ", row " + std::to_string(row));
  };
  for (unsigned a = 0; a < input.dimensions; ++a) {
    check_column(input.low, name_of_low(input), a);
    if (!input.has_boxes) continue;
    check_column(input.high, name + ".high", a);
    const T* const low = column<T>(input.low, a);
    const T* const high = column<T>(input.high, a);
    const std::size_t row = find_bad(n, workers, [=](std::size_t i) { return high[i] < low[i]; });
    if (row == n) continue;
    reject(input,
           name + ".low is above " + name + ".high in column " + std::to_string(a) + ", row " + std::to_string(row));
  }
  const std::size_t row = find_infinite(static_cast<const T*>(input.low.scores));
  if (row < n) reject(input, name + ".scores[" + std::to_string(row) + "] is NaN or infinite");
}

/// A new index's columns.
template <class T>
class writer {
 public:
  writer(const spatial_index_layout& of, std::byte* bytes, int workers) : of_(of), bytes_(bytes), workers_(workers) {}

  void write_items(const index_input& input, const std::uint32_t* rows) const {
    each_piece(of_.items, [&](u64 begin, u64 end) {
      std::copy(rows + begin, rows + end, at<std::uint32_t>(of_.ids) + begin);
      const T* const scores = static_cast<const T*>(input.low.scores);
      std::copy(scores + begin, scores + end, at(of_.scores_by_id) + begin);
      const auto gather = [&](const T* from, u64 to) {
        for (u64 i = begin; i < end; ++i) at(to)[i] = from[rows[i]];
      };
      gather(scores, of_.scores);
      for (unsigned a = 0; a < of_.dimensions; ++a) {
        gather(column<T>(input.low, a), of_.low[a]);
        if (of_.has_boxes) gather(column<T>(input.high, a), of_.high[a]);
      }
    });
  }

  void write_nodes() const {
    for (std::uint32_t level = 1; level <= of_.levels; ++level) {
      const bool of_items = level == 1;
      const u64 entries = of_.sizes[level - 1];
      each_piece((entries + of_.fanout - 1) / of_.fanout, [&](u64 begin, u64 end) {
        const auto fold = [&](u64 from, u64 to, bool greatest) {
          const T* const values = at(from) + (of_items ? 0 : of_.begins[level - 1]);
          T* const nodes = at(to) + of_.begins[level];
          for (u64 p = begin; p < end; ++p) {
            const u64 first = p * of_.fanout;
            const u64 n = std::min<u64>(of_.fanout, entries - first);
            nodes[p] = spatial_index_family::folded(values + first, n, greatest);
          }
        };
        for (unsigned a = 0; a < of_.dimensions; ++a) {
          fold(of_items ? of_.low[a] : of_.node_low[a], of_.node_low[a], false);
          fold(of_items ? of_.high[a] : of_.node_high[a], of_.node_high[a], true);
        }
        fold(of_items ? of_.scores : of_.node_most, of_.node_most, true);
        fold(of_items ? of_.scores : of_.node_least, of_.node_least, false);
      });
    }
  }

 private:
  template <class U = T>
  [[nodiscard]] U* at(u64 offset) const {
    return reinterpret_cast<U*>(bytes_ + offset);
  }
  /// use(begin, end) for pieces of [0, count).
  template <class Use>
  void each_piece(u64 count, const Use& use) const {
    constexpr u64 piece = 4096;
    share_out(workers_, (count + piece - 1) / piece,
              [&](int, u64 p) { use(p * piece, std::min(count, (p + 1) * piece)); });
  }
  const spatial_index_layout& of_;
  std::byte* bytes_;
  int workers_;
};

/// Middles of boxes.
template <class T>
std::vector<std::vector<T>> centres_of(const index_input& input) {
  std::vector<std::vector<T>> made(input.dimensions, std::vector<T>(input.low.rows));
  for (unsigned a = 0; a < input.dimensions; ++a) {
    const T* const low = column<T>(input.low, a);
    const T* const high = column<T>(input.high, a);
    // halves, so that no sum overflows
    for (std::size_t i = 0; i < made[a].size(); ++i) made[a][i] = low[i] / 2 + high[i] / 2;
  }
  return made;
}

// What lies between the parts, in front of each.
void clear_gaps(const spatial_index_layout& of, std::byte* bytes) {
  const auto clear_before = [&](u64 offset) {
    if (offset >= 64) std::fill_n(bytes + offset - 64, 64, std::byte{0});
  };
  std::fill_n(bytes, 64, std::byte{0});  // the header's place
  for (unsigned a = 0; a < of.dimensions; ++a) {
    for (const u64 offset : {of.node_low[a], of.node_high[a], of.low[a], of.high[a]}) clear_before(offset);
  }
  for (const u64 offset : {of.node_most, of.node_least, of.scores, of.ids, of.scores_by_id, of.bytes}) {
    clear_before(offset);
  }
}

template <class T>
std::shared_ptr<const index_storage> build(const index_input& input, const spatial_index_options& options,
                                           int workers) {
  check_values<T>(input, workers);
  auto made = std::make_shared<index_storage>();
  auto& of = made->layout;
  of = place_index(input.type, input.dimensions, input.has_boxes, options, input.low.rows);
  std::vector<const T*> centres;
  std::vector<std::vector<T>> owned;
  if (input.has_boxes) owned = centres_of<T>(input);
  for (unsigned a = 0; a < input.dimensions; ++a) {
    centres.push_back(input.has_boxes ? owned[a].data() : column<T>(input.low, a));
  }
  const auto rows = order_items(centres, of, options.order, workers);
  owned.clear();
  std::byte* const bytes = allocate(*made, "spatial_index");
  made->without_header = bytes;
  clear_gaps(of, bytes);  // and the ends of the parts before them
  const writer<T> to(of, bytes, workers);
  to.write_items(input, rows.data());
  to.write_nodes();
  return made;
}

}  // namespace

void check_index_shape(const index_input& input, const spatial_index_options& options) {
  const std::string name = input.name;
  const std::string low = name_of_low(input);
  const char* const kind = input.has_boxes ? "boxes" : "points";
  if (options.fanout < least_index_fanout || options.fanout > most_index_fanout) {
    reject(input, "options.fanout is " + std::to_string(options.fanout) + "; it must be from 2 to 64");
  }
  require_known(input.function, "options.order", options.order, bulk_order::hilbert);
  require_known(input.function, "options.node_order", options.node_order, level_order::leaves_first);
  const auto check_columns = [&](const spatial_points& side, const std::string& part) {
    if (side.columns.size() == input.dimensions) return;
    reject(input, part + " has " + std::to_string(side.columns.size()) + " columns; " + kind + " of " +
                      std::to_string(input.dimensions) + " dimensions have as many");
  };
  check_columns(input.low, low);
  if (input.has_boxes) check_columns(input.high, name + ".high");
  if (input.low.rows >= std::numeric_limits<std::uint32_t>::max()) {
    reject(input, low + " has " + std::to_string(input.low.rows) + " rows; the most is 2^32 - 2",
           error_code::unsupported);
  }
  if (input.has_boxes && input.high.rows != input.low.rows) {
    reject(input, name + ".high has " + std::to_string(input.high.rows) + " rows and " + low + " " +
                      std::to_string(input.low.rows) + "; they must be as many");
  }
  if (input.low.score_count != input.low.rows) {
    reject(input, name + ".scores has " + std::to_string(input.low.score_count) + " elements and " + low + " " +
                      std::to_string(input.low.rows) + " rows; they must be as many");
  }
}

spatial_index_layout place_index(key_type type, unsigned dimensions, bool has_boxes,
                                 const spatial_index_options& options, u64 items) {
  spatial_index_layout of;
  of.type = type;
  of.dimensions = dimensions;
  of.fanout = options.fanout;
  of.has_boxes = has_boxes;
  of.leaves_first = options.node_order == level_order::leaves_first;
  of.items = items;
  spatial_index_family::number_levels(of, items, of.leaves_first);
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

std::shared_ptr<const index_storage> build_index(const index_input& input, const spatial_index_options& options,
                                                 const execution* on) {
  check_index_shape(input, options);
  // some ten thousand items are built before others wake up
  constexpr std::size_t items_of_worker = std::size_t{1} << 14;
  const int most = on == nullptr ? 1 : host_threads(*on);
  const int workers = std::clamp(static_cast<int>(input.low.rows / items_of_worker), 1, most);
  try {
    return input.type == key_type::float32 ? build<float>(input, options, workers)
                                           : build<double>(input, options, workers);
  } catch (const std::bad_alloc&) {
    reject(input, "there is no memory for " + std::to_string(input.low.rows) + " items", error_code::out_of_memory);
  }
}

}  // namespace zenith::detail

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/columns.hpp>
#include <zenith/cost.hpp>
#include <zenith/executor.hpp>
#include <zenith/machine.hpp>
#include <zenith/spatial_index_call.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/structure.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Spatial indexes: built once over points or boxes with scores, they answer ranked range queries and ranked joins.

namespace zenith {

/// Boxes as columns of their lowest and highest coordinates, x, y or x, y, z, and a score for each. Borrowed.
template <class Span>
struct basic_scored_boxes {
  basic_column_set<Span> low;
  basic_column_set<Span> high;
  Span scores;
};
/// In the host's memory.
template <class T>
using scored_boxes = basic_scored_boxes<std::span<const T>>;
/// In the memory of an executor's device.
template <class T>
using device_scored_boxes = basic_scored_boxes<device_span<const T>>;

/// How a spatial index's nodes are filled.
enum class bulk_order : std::uint8_t {
  sort_tile_recursive,  ///< by tiles, level by level: near squares, or cubes
  hilbert,              ///< by the items' places on a Hilbert curve
};

struct spatial_index_options {
  /// Entries of a node, 2 to 64.
  std::uint32_t fanout = 16;
  bulk_order order = bulk_order::sort_tile_recursive;
};

/// All points from `low` to `high`, both included.
template <class T, unsigned Dim>
struct spatial_box {
  std::array<T, Dim> low{};
  std::array<T, Dim> high{};
};

/// All points no farther than `distance` from the centre.
template <class T, unsigned Dim>
struct spatial_ball {
  std::array<T, Dim> centre{};
  double distance = 0;
};

/// Pairs of boxes that have a point in common.
struct intersects {};

struct top_k_range_options {
  selection select = selection::largest;
  /// "auto", or the name of a strategy: "descent".
  std::string_view strategy = "auto";
};

struct index_join_options {
  std::variant<within, intersects> predicate = within{};
  /// "auto", or the name of a strategy: "index_nested_loop".
  std::string_view strategy = "auto";
};

struct index_join_batch_options {
  std::variant<within, intersects> predicate = within{};
  /// "auto", or the name of a strategy: "index_nested_loop".
  std::string_view strategy = "auto";
  /// About so many pairs a batch, and never more than twice as many, but for one left id's partners; 1 and more.
  std::size_t batch_pairs = std::size_t{1} << 22;
};

/// As for ranked joins of columns, but for the predicate.
struct top_k_index_join_options {
  std::variant<within, intersects> predicate = within{};
  pair_score score = pair_score::sum;
  double left_weight = 1;
  double right_weight = 1;
  selection select = selection::largest;
  /// "auto", or the name of a strategy: "ba", "sfa", "dfa", "rj".
  std::string_view strategy = "auto";
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  spatial_join_statistics* statistics = nullptr;
};

/// A ranked range query as the cost models see it.
struct top_k_range_problem {
  std::uint64_t items = 0;
  std::uint64_t k = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;

  [[nodiscard]] bool operator==(const top_k_range_problem&) const = default;
};
/// All pairs of two indexes.
struct index_join_problem {
  std::uint64_t left_items = 0;
  std::uint64_t right_items = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;

  [[nodiscard]] bool operator==(const index_join_problem&) const = default;
};
/// A ranked join of indexes.
struct top_k_index_join_problem {
  std::uint64_t left_items = 0;
  std::uint64_t right_items = 0;
  std::uint64_t k = 0;
  key_type type = key_type::float32;
  memory_space space = memory_space::host;

  [[nodiscard]] bool operator==(const top_k_index_join_problem&) const = default;
};

namespace detail {

/// A built index in the host's memory; immutable.
using index_storage = owned_structure<spatial_index_layout>;

struct index_input {
  key_type type;
  unsigned dimensions;  ///< of the index's type
  bool has_boxes;
  spatial_points low;  ///< or points, with the scores
  spatial_points high;
};

[[nodiscard]] std::shared_ptr<const index_storage> build_index(const index_input& input,
                                                               const spatial_index_options& options,
                                                               const execution* on);
/// Of bytes that are copied or else borrowed.
[[nodiscard]] std::shared_ptr<const index_storage> read_index(key_type type, unsigned dimensions,
                                                              std::span<const std::byte> bytes, bool is_copied);
[[nodiscard]] inline std::span<const std::byte> bytes_of(const index_storage& index) { return index.bytes(); }

/// An index in an executor's memory.
struct device_index {
  spatial_index_layout layout;
  raw_array bytes;   ///< the header may be missing
  double least = 0;  ///< the smallest score
  double most = 0;   ///< the largest
  mutable std::mutex copying;
  mutable std::shared_ptr<const index_storage> host;  ///< nullptr: it was not asked for yet
};
/// Throws `invalid_argument` for an executor of the host's memory. Of nothing: nothing.
[[nodiscard]] std::shared_ptr<const device_index> copy_index(const executor& on,
                                                             const std::shared_ptr<const index_storage>& index);
/// Of columns in `space`, in the executor's memory, whichever that is.
[[nodiscard]] std::shared_ptr<const device_index> build_index_there(const executor& on, const index_input& input,
                                                                    memory_space space,
                                                                    const spatial_index_options& options);
/// The same index on the host. Copied once; waits for it.
[[nodiscard]] const std::shared_ptr<const index_storage>& host_copy(const device_index& of);

/// An index as a query gets it; no layout: it has no items.
struct index_argument {
  const spatial_index_layout* layout = nullptr;
  const std::byte* bytes = nullptr;  ///< in `space`
  memory_space space = memory_space::host;
  double least = 0;  ///< the smallest score
  double most = 0;   ///< the largest
  const void* index = nullptr;
  const index_storage* (*host)(const void* index) = nullptr;  ///< the index on the host
};

template <class Span>
[[nodiscard]] index_input input_of(unsigned dimensions, const basic_scored_points<Span>& points) {
  return {key_type_of<typename Span::value_type>, dimensions, false, spatial_points_of(points), {}};
}
template <class Span>
[[nodiscard]] index_input input_of(unsigned dimensions, const basic_scored_boxes<Span>& boxes) {
  auto low = spatial_points_of(boxes.low);
  low.scores = boxes.scores.data();
  low.score_count = boxes.scores.size();
  return {key_type_of<typename Span::value_type>, dimensions, true, std::move(low), spatial_points_of(boxes.high)};
}

struct range_arguments {
  key_type type;
  unsigned dimensions;
  index_argument index;
  bool is_ball;
  double low[3];  ///< or the centre
  double high[3];
  double distance;
  std::size_t k;
  int index_bytes;
  bool index_signed;
  spatial_output (*provide)(void* state, std::uint64_t count);
  void* state;
  spatial_target target = {};
};
spatial_run top_k_range(const executor& on, const range_arguments& given, const top_k_range_options& options);

struct index_join_arguments {
  key_type type;
  unsigned dimensions;
  index_argument left;
  index_argument right;
  std::size_t k;
  int index_bytes;
  bool index_signed;
  spatial_output (*provide)(void* state, std::uint64_t count);
  void* state;
  spatial_target target = {};
};
spatial_run top_k_index_join(const executor& on, const index_join_arguments& given,
                             const top_k_index_join_options& options);
/// All pairs; `given.k` is not looked at.
spatial_run index_join(const executor& on, const index_join_arguments& given, const index_join_options& options);
/// `given.provide` as ever; after each batch deliver(state, first): left ids count from `first`.
spatial_join_batches_result index_join_batches(const executor& on, const index_join_arguments& given,
                                               const index_join_batch_options& options,
                                               void (*deliver)(void* state, std::uint64_t first));

}  // namespace detail

template <std::floating_point T, unsigned Dim>
class device_spatial_index;

/// A linearised MAX aR-tree over points or boxes in 2 or 3 dimensions with a score each. Immutable; copies share the
/// data, so they cost a counter, and any number of threads may query one. The default index has no items and no bytes.
///
/// Nodes and items lie in one piece of memory, level by level and column by column; the entries of a node are
/// consecutive. A node has the box around its items, their largest and their smallest score.
template <std::floating_point T, unsigned Dim>
class spatial_index {
  static_assert((Dim == 2 || Dim == 3) && key<T>);

 public:
  using value_type = T;
  static constexpr unsigned dimensions = Dim;

  spatial_index() = default;

  /// Copies points and scores, which need not live longer. All nodes are full but the last of a level; the same input
  /// gives the same bytes, for any number of threads. The threads are those of `on`: an executor of the host's own,
  /// another one's all that the process may use.
  ///
  /// By Sort-Tile-Recursive, n log(n) / log(options.fanout) entries are sorted once along each axis, level by level
  /// from the items up; by Hilbert order the items are sorted once, by their place on a curve with 32 bits a
  /// coordinate, in 3-D 21. Sorts are by digits, so all is O(n) for a type. Memory: (Dim + 2) values and 4 bytes a
  /// point, and 2 Dim + 2 values for each of about n / (fanout - 1) nodes; while it builds, twice a coordinate and 8
  /// bytes a point more.
  ///
  /// Throws `invalid_argument` when the points do not have Dim columns, when points and scores differ in number, for a
  /// NaN or an infinity (the message names column and row), and for a fanout outside of 2 to 64; `unsupported` for
  /// 2^32 - 1 points or more; `out_of_memory`.
  ///
  /// Sources: Leutenegger, Lopez, Edgington: STR: a simple and efficient algorithm for R-tree packing, ICDE 1997;
  /// Åmdal: Top-k Spatial Join on GPU, master's thesis, NTNU 2020, chapter 6 (linearised aR-trees); Kamel, Faloutsos:
  /// On packing R-trees, CIKM 1993 (Hilbert order).
  [[nodiscard]] static spatial_index build(const executor& on, const scored_points<T>& points,
                                           const spatial_index_options& options = {}) {
    return built(points, options, &on.settings());
  }
  /// The same of boxes, whose memory is 2 Dim + 2 values and 4 bytes each; ordered by their middles. Throws also when a
  /// box has a lowest coordinate above its highest; both may be equal.
  [[nodiscard]] static spatial_index build(const executor& on, const scored_boxes<T>& boxes,
                                           const spatial_index_options& options = {}) {
    return built(boxes, options, &on.settings());
  }
  /// The same on the caller's thread.
  [[nodiscard]] static spatial_index build(const scored_points<T>& points, const spatial_index_options& options = {}) {
    return built(points, options, nullptr);
  }
  [[nodiscard]] static spatial_index build(const scored_boxes<T>& boxes, const spatial_index_options& options = {}) {
    return built(boxes, options, nullptr);
  }

  /// An index from what `serialized` gave; the bytes need not live longer. All that queries rely on is checked.
  /// Complexity: O(bytes). Throws `invalid_argument` for bytes of another type or number of dimensions, of another
  /// machine's byte order, of a wrong length, and when they are damaged; `out_of_memory`.
  [[nodiscard]] static spatial_index parse(std::span<const std::byte> bytes) {
    return spatial_index(detail::read_index(key_type_of<T>, Dim, bytes, true));
  }
  /// The same without a copy: of a mapped file, say. The bytes are borrowed by the index and all its copies; they must
  /// lie at a multiple of 64 bytes and not change. Checks and throws as `parse`.
  [[nodiscard]] static spatial_index map(std::span<const std::byte> bytes) {
    return spatial_index(detail::read_index(key_type_of<T>, Dim, bytes, false));
  }

  /// The index as bytes, in this machine's byte order, to be kept in a file. Valid as long as the index or a copy of
  /// it.
  [[nodiscard]] std::span<const std::byte> serialized() const {
    return held_ ? held_->bytes() : std::span<const std::byte>{};
  }

  [[nodiscard]] std::size_t size() const { return held_ ? held_->layout.items : 0; }
  [[nodiscard]] std::size_t nodes() const { return held_ ? held_->layout.begins[0] : 0; }
  /// Levels of nodes.
  [[nodiscard]] std::uint32_t levels() const { return held_ ? held_->layout.levels : 0; }
  [[nodiscard]] std::uint32_t fanout() const { return held_ ? held_->layout.fanout : 0; }
  /// Bytes of the index in memory.
  [[nodiscard]] std::size_t bytes() const { return held_ ? held_->layout.bytes : 0; }

  /// For queries.
  [[nodiscard]] const detail::index_storage* storage() const noexcept { return held_.get(); }

 private:
  friend class device_spatial_index<T, Dim>;
  explicit spatial_index(std::shared_ptr<const detail::index_storage> held) : held_(std::move(held)) {}

  template <class Items>
  static spatial_index built(const Items& items, const spatial_index_options& options, const execution* on) {
    return spatial_index(detail::build_index(detail::input_of(Dim, items), options, on));
  }

  std::shared_ptr<const detail::index_storage> held_;
};

/// A spatial index with its bytes in the memory of an executor's device: queries copy nothing there. Immutable; copies
/// share the data.
template <std::floating_point T, unsigned Dim>
class device_spatial_index {
 public:
  using value_type = T;
  static constexpr unsigned dimensions = Dim;

  device_spatial_index() = default;
  /// Copies the index's bytes to the device of `on` and synchronises; throws `invalid_argument` for an executor of the
  /// host's memory, `out_of_memory`.
  device_spatial_index(const executor& on, const spatial_index<T, Dim>& index)
      : held_(detail::copy_index(on, index.held_)) {}

  /// An index of columns on the host or in the memory of the device of `on`, made there: the same bytes as
  /// `spatial_index::build` with `bulk_order::sort_tile_recursive`. Nothing is copied to the host but whether all is
  /// right. Complexity: sorts of all entries along each axis, level by level. Memory: that of the index, and while it
  /// builds about 20 bytes a point and twice the sorted keys. Waits for the columns' extremes, and is complete in the
  /// order of the executor's stream.
  ///
  /// Throws as `spatial_index::build`; `invalid_argument` also for an executor of the host's memory and for "auto";
  /// `unsupported` for another order.
  template <class Span>
  requires std::same_as<typename Span::value_type, T>
  [[nodiscard]] static device_spatial_index build(const executor& on, const basic_scored_points<Span>& points,
                                                  const spatial_index_options& options = {}) {
    return built(on, detail::input_of(Dim, points), detail::memory_of<Span>, options);
  }
  template <class Span>
  requires std::same_as<typename Span::value_type, T>
  [[nodiscard]] static device_spatial_index build(const executor& on, const basic_scored_boxes<Span>& boxes,
                                                  const spatial_index_options& options = {}) {
    return built(on, detail::input_of(Dim, boxes), detail::memory_of<Span>, options);
  }

  /// The index on the host; one that was built on the device is copied when it is first asked for, which synchronises.
  [[nodiscard]] spatial_index<T, Dim> host() const {
    return held_ ? spatial_index<T, Dim>(detail::host_copy(*held_)) : spatial_index<T, Dim>{};
  }
  [[nodiscard]] std::size_t size() const { return held_ ? held_->layout.items : 0; }
  /// Its bytes on the device.
  [[nodiscard]] const std::byte* data() const {
    return held_ ? static_cast<const std::byte*>(held_->bytes.data()) : nullptr;
  }

  /// For queries.
  [[nodiscard]] const detail::device_index* storage() const noexcept { return held_.get(); }

 private:
  static device_spatial_index built(const executor& on, const detail::index_input& input, memory_space space,
                                    const spatial_index_options& options) {
    detail::raw_array(on, 0).require(memory_space::device);
    device_spatial_index made;
    made.held_ = detail::build_index_there(on, input, space, options);
    return made;
  }

  std::shared_ptr<const detail::device_index> held_;
};

namespace detail {

template <class T>
inline constexpr bool is_spatial_index = false;
template <class T, unsigned Dim>
inline constexpr bool is_spatial_index<spatial_index<T, Dim>> = true;
template <class T, unsigned Dim>
inline constexpr bool is_spatial_index<device_spatial_index<T, Dim>> = true;

template <class T, unsigned Dim>
[[nodiscard]] index_argument argument_of(const spatial_index<T, Dim>& index) {
  const auto* const held = index.storage();
  if (held == nullptr) return {};
  index_argument given{&held->layout, held->data, memory_space::host, 0, 0, held, nullptr};
  given.host = [](const void* of) { return static_cast<const index_storage*>(of); };
  if (held->layout.items > 0) {  // the root's
    given.least = *reinterpret_cast<const T*>(held->data + held->layout.node_least);
    given.most = *reinterpret_cast<const T*>(held->data + held->layout.node_most);
  }
  return given;
}
template <class T, unsigned Dim>
[[nodiscard]] index_argument argument_of(const device_spatial_index<T, Dim>& index) {
  const auto* const held = index.storage();
  if (held == nullptr) return {nullptr, nullptr, memory_space::device, 0, 0, nullptr, nullptr};
  return {
      &held->layout,
      index.data(),
      memory_space::device,
      held->least,
      held->most,
      held,
      [](const void* of) -> const index_storage* { return host_copy(*static_cast<const device_index*>(of)).get(); }};
}

template <class Index, class T, std::size_t Dim>
[[nodiscard]] range_arguments range_of(const index_argument& index, const std::array<T, Dim>& low,
                                       const std::array<T, Dim>& high) {
  range_arguments given{key_type_of<T>,
                        static_cast<unsigned>(Dim),
                        index,
                        false,
                        {},
                        {},
                        0,
                        0,
                        static_cast<int>(sizeof(Index)),
                        std::is_signed_v<Index>,
                        nullptr,
                        nullptr};
  for (std::size_t a = 0; a < Dim; ++a) {
    given.low[a] = low[a];
    given.high[a] = high[a];
  }
  return given;
}
template <class Index, class T, unsigned Dim>
[[nodiscard]] range_arguments range_of(const index_argument& index, const spatial_box<T, Dim>& region) {
  return range_of<Index>(index, region.low, region.high);
}
template <class Index, class T, unsigned Dim>
[[nodiscard]] range_arguments range_of(const index_argument& index, const spatial_ball<T, Dim>& region) {
  auto given = range_of<Index>(index, region.centre, region.centre);
  given.is_ball = true;
  given.distance = region.distance;
  return given;
}

template <class Index, class T>
[[nodiscard]] top_k_result<T, Index> range_result(const executor& on, range_arguments given, std::size_t k,
                                                  const top_k_range_options& options) {
  using result_type = top_k_result<T, Index>;
  result_type result;
  given.k = k;
  given.provide = [](void* state, std::uint64_t count) -> spatial_output {
    auto& to = *static_cast<result_type*>(state);
    to.keys.resize(static_cast<std::size_t>(count));
    to.indices.resize(static_cast<std::size_t>(count));
    return {to.indices.data(), nullptr, to.keys.data()};
  };
  given.state = &result;
  auto run = detail::top_k_range(on, given, options);
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// An index on the host or on a device.
template <class Index>
concept any_spatial_index = is_spatial_index<Index>;

/// All pairs of two indexes; where they go is still to be said.
template <class Index, class Tree>
[[nodiscard]] index_join_arguments join_of(const Tree& left, const Tree& right) {
  return {key_type_of<typename Tree::value_type>,
          Tree::dimensions,
          argument_of(left),
          argument_of(right),
          0,
          static_cast<int>(sizeof(Index)),
          std::is_signed_v<Index>,
          nullptr,
          nullptr};
}

template <class Region, class Tree>
concept region_of = std::same_as<Region, spatial_box<typename Tree::value_type, Tree::dimensions>> ||
    std::same_as<Region, spatial_ball<typename Tree::value_type, Tree::dimensions>>;

}  // namespace detail

/// The k best items that intersect a box, by score and then by id: `keys` are their scores, `indices` their rows in the
/// input of the index; all such items when they are no more than k. The answer is unique and the same for every
/// backend. -0 equals +0.
///
/// Strategy "descent": a level of the tree at a time, the nodes that meet the region; once k nodes lie inside as a
/// whole, the k-th best of their scores bounds the result, and nodes that miss it are left out. Complexity: O(fanout *
/// nodes that are looked at); scratch: 4 bytes for each entry of those, at most about 12 bytes an item and 16 bytes for
/// each that is found. It synchronises once or twice a level. A GPU executor copies a host's index to the device at
/// each call; `device_spatial_index` keeps it there.
///
/// Throws `invalid_argument` when a coordinate of the region is NaN, when a lowest coordinate is above the highest,
/// when the ids' type cannot hold size() - 1, and for a device's index on an executor of the host; `unsupported` for a
/// strategy that the backend does not offer; `out_of_memory`.
///
/// Source: ranked range queries on MAX aR-trees, Åmdal 2020, section 4.3.2, there one item at a time.
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] auto top_k_range(const executor& on, const Tree& tree,
                               const spatial_box<typename Tree::value_type, Tree::dimensions>& region, std::size_t k,
                               const top_k_range_options& options = {})
    -> top_k_result<typename Tree::value_type, Index> {
  return detail::range_result<Index, typename Tree::value_type>(
      on, detail::range_of<Index>(detail::argument_of(tree), region), k, options);
}

/// The same of the items within a distance of a point. With g the gap between item and point on each axis, 0 where the
/// item's box holds the point's coordinate, an item is within the distance d when
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// where d is rounded to the coordinates' type, and every operation is rounded in this order. Throws as above, and
/// `invalid_argument` for a centre that is NaN or infinite and for a distance that is negative or NaN.
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] auto top_k_range(const executor& on, const Tree& tree,
                               const spatial_ball<typename Tree::value_type, Tree::dimensions>& region, std::size_t k,
                               const top_k_range_options& options = {})
    -> top_k_result<typename Tree::value_type, Index> {
  return detail::range_result<Index, typename Tree::value_type>(
      on, detail::range_of<Index>(detail::argument_of(tree), region), k, options);
}

/// Writes the scores and ids of the k = `keys_out` size best items in a box or a ball to the beginning of `keys_out`
/// and `indices_out`, which are as long as each other, and says how many they are; what is behind them stays. Both are
/// ranges on the host, or both `device_span`s. Results in device memory are complete in the order of the executor's
/// stream. Throws as above, and `invalid_argument` when both differ in length. Outputs are untouched then, unless
/// memory runs out while they are written.
template <detail::any_spatial_index Tree, detail::region_of<Tree> Region,
          detail::score_range<typename Tree::value_type> Keys, detail::id_range Ids>
requires(detail::are_together<Keys, Ids>) spatial_run
    top_k_range(const executor& on, const Tree& tree, const Region& region, Keys&& keys_out, Ids&& indices_out,
                const top_k_range_options& options = {}) {
  using Index = typename detail::output_of<Ids>::value_type;
  detail::require_same_length("top_k_range: indices_out", detail::size_of_range(indices_out), "keys_out",
                              detail::size_of_range(keys_out));
  auto given = detail::range_of<Index>(detail::argument_of(tree), region);
  given.k = detail::size_of_range(keys_out);
  given.target = {detail::spatial_target::kind::memory,
                  detail::output_of<Keys>::space,
                  {detail::data_of(indices_out), nullptr, detail::data_of(keys_out)},
                  given.k};
  return detail::top_k_range(on, given, options);
}

/// All pairs of items of two indexes that are near each other, by left id and then by right id: for points and boxes
/// alike. Two items are within the distance d when their gaps g on the axes, 0 where both overlap, fulfil
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// with the roundings of a join of columns; so for points the pairs are the same. With `intersects` they are those
/// without a gap: boxes that touch do intersect.
///
/// Strategy "index_nested_loop": each left item descends the right side's tree; pairs are counted and then written,
/// which takes a second descent for items of more than 8 partners. Complexity: O(n * nodes that an item is near to) and
/// a sort of each item's partners. Scratch: about 60 bytes a left item, and the pairs themselves. It synchronises. A
/// GPU executor copies a host's indexes to the device at each call; `device_spatial_index` keeps them there.
///
/// Throws `invalid_argument` for a distance that is negative or NaN, when the ids' type cannot hold the largest id, and
/// for a device's index on an executor of the host; `unsupported` for a strategy that the backend does not offer;
/// `out_of_memory`. The two indexes must lie in the same memory.
///
/// Source: an index nested-loop join, as in Brinkhoff, Kriegel, Seeger: Efficient processing of spatial joins using
/// R-trees, SIGMOD 1993, where both trees are descended at once.
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] spatial_join_result<Index> spatial_join(const executor& on, const Tree& left, const Tree& right,
                                                      const index_join_options& options = {}) {
  spatial_join_result<Index> result;
  auto given = detail::join_of<Index>(left, right);
  given.provide = [](void* state, std::uint64_t count) -> spatial_output {
    auto& to = *static_cast<spatial_join_result<Index>*>(state);
    to.left.resize(static_cast<std::size_t>(count));
    to.right.resize(static_cast<std::size_t>(count));
    return {to.left.data(), to.right.data()};
  };
  given.state = &result;
  auto run = detail::index_join(on, given, options);
  result.count = run.count;
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Writes the same pairs to the beginning of `left_out` and `right_out`, as the join of columns does.
template <detail::any_spatial_index Tree, detail::id_range Left, detail::id_range Right>
requires(detail::are_together<Left, Right>&& std::same_as<typename detail::output_of<Left>::value_type,
                                                          typename detail::output_of<Right>::value_type>) spatial_run
    spatial_join(const executor& on, const Tree& left, const Tree& right, Left&& left_out, Right&& right_out,
                 const index_join_options& options = {}) {
  auto given = detail::join_of<typename detail::output_of<Left>::value_type>(left, right);
  given.target = detail::pair_target("spatial_join", left_out, right_out);
  return detail::index_join(on, given, options);
}

/// How many pairs there are: `count` of the result. Throws as `spatial_join`.
template <detail::any_spatial_index Tree>
[[nodiscard]] spatial_run count_spatial_join(const executor& on, const Tree& left, const Tree& right,
                                             const index_join_options& options = {}) {
  auto given = detail::join_of<std::uint64_t>(left, right);
  given.target.is = detail::spatial_target::kind::nothing;
  return detail::index_join(on, given, options);
}

/// The same pairs in batches, as `spatial_join_batches` of columns: use(left, right) gets spans of left and of right
/// ids, the pairs of some consecutive left ids. Each batch reads the ids of all left items besides. Throws as above,
/// and `invalid_argument` for options.batch_pairs of 0.
template <index Index = std::uint32_t, detail::any_spatial_index Tree, class Use>
requires std::invocable<Use&, std::span<const Index>, std::span<const Index>> spatial_join_batches_result
spatial_join_batches(const executor& on, const Tree& left, const Tree& right, Use&& use,
                     const index_join_batch_options& options = {}) {
  using batch = detail::pair_batch<Index, std::remove_reference_t<Use>>;
  batch one{{}, {}, std::addressof(use)};
  auto given = detail::join_of<Index>(left, right);
  given.provide = batch::provide;
  given.state = &one;
  return detail::index_join_batches(on, given, options, batch::deliver);
}

/// The k best pairs of items of two indexes, by score, then by left id, then by right id: as `top_k_spatial_join` of
/// columns, for points and boxes alike. Two items are within the distance d when their gaps g on the axes, 0 where both
/// overlap, fulfil
///
///     gx * gx + gy * gy  [+ gz * gz]  <=  d * d
///
/// with the roundings of a join of columns; so for points the pairs are the same. With `intersects` they are those
/// without a gap: boxes that touch do intersect.
///
/// Strategies: "ba", the Block-based Algorithm, takes the left side's leaves by their best score, some more in each
/// round. Each item of a leaf descends the right side's tree, where subtrees are left out that are too far away or
/// cannot reach the score of the k-th best pair so far; that score rises after each round, and the join ends when the
/// next leaf cannot reach it. Where the left side has more than eight times the items of the right one, sides change.
/// "sfa", the Score-First Algorithm, takes items by their score in place of leaves. "dfa", the Distance-First
/// Algorithm, descends both trees at once, from pairs of nodes that are near to pairs of their children, depth first.
/// "rj", the ranked aR-tree join, opens the pairs of nodes with the best bounds first, and ends when no bound reaches
/// the k-th best score; in place of the thesis' queue of single pairs it has a bounded list for each height of the
/// trees, and opens some hundreds of pairs and more together. Both leave out pairs of nodes that are too far from each
/// other or cannot reach the k-th best score so far. None limits fanout, number of items or number of pairs.
///
/// Complexity: "ba" and "sfa" O(n log n) for the order of n blocks, and a descent for each left item whose score can
/// reach the bound with the right side's best; the others O(pairs of nodes that are near and reach the bound). Scratch:
/// about 50 bytes for each of 2 k + 2^20 pairs; O(n + m) for "ba" and "sfa", 2^18 pairs of nodes for each level of the
/// trees for the others. It synchronises in each round.
///
/// Throws as the join of columns; what is wrong with scores is found by their extremes, before anything is copied. The
/// two indexes must lie in the same memory.
///
/// Sources: Qi et al.: Efficient Top-k Spatial Distance Joins, SSTD 2013 (sfa, dfa, ba); Åmdal 2020, sections 4.4 (rj)
/// and 6.5 (ba).
template <index Index = std::uint32_t, detail::any_spatial_index Tree>
[[nodiscard]] auto top_k_spatial_join(const executor& on, const Tree& left, const Tree& right, std::size_t k,
                                      const top_k_index_join_options& options = {})
    -> top_k_spatial_join_result<typename Tree::value_type, Index> {
  using T = typename Tree::value_type;
  using result_type = top_k_spatial_join_result<T, Index>;
  result_type result;
  auto run =
      detail::top_k_index_join(on,
                               {key_type_of<T>, Tree::dimensions, detail::argument_of(left), detail::argument_of(right),
                                k, static_cast<int>(sizeof(Index)), std::is_signed_v<Index>,
                                [](void* state, std::uint64_t count) -> spatial_output {
                                  auto& to = *static_cast<result_type*>(state);
                                  to.left.resize(static_cast<std::size_t>(count));
                                  to.right.resize(static_cast<std::size_t>(count));
                                  to.scores.resize(static_cast<std::size_t>(count));
                                  return {to.left.data(), to.right.data(), to.scores.data()};
                                },
                                &result},
                               options);
  result.count = run.count;
  result.backend = std::move(run.backend);
  result.strategy = std::move(run.strategy);
  return result;
}

/// Writes the k = `left_out` size best pairs to the beginning of `left_out`, `right_out` and `scores_out`, as the join
/// of columns does.
template <detail::any_spatial_index Tree, detail::id_range Left, detail::id_range Right,
          detail::score_range<typename Tree::value_type> Scores>
requires(detail::are_together<Left, Right, Scores>&&
             std::same_as<typename detail::output_of<Left>::value_type, typename detail::output_of<Right>::value_type>)
    spatial_run
    top_k_spatial_join(const executor& on, const Tree& left, const Tree& right, Left&& left_out, Right&& right_out,
                       Scores&& scores_out, const top_k_index_join_options& options = {}) {
  using Index = typename detail::output_of<Left>::value_type;
  const auto target = detail::pair_target("top_k_spatial_join", left_out, right_out, scores_out);
  return detail::top_k_index_join(
      on,
      {key_type_of<typename Tree::value_type>, Tree::dimensions, detail::argument_of(left), detail::argument_of(right),
       target.size, static_cast<int>(sizeof(Index)), std::is_signed_v<Index>, nullptr, nullptr, target},
      options);
}

/// Chooses the device and strategy that will be fastest for `problem` on `on`. Pure. Throws `unsupported` when no
/// device can run it.
[[nodiscard]] decision decide(const index_join_problem& problem, const machine& on);
[[nodiscard]] decision decide(const top_k_range_problem& problem, const machine& on);
[[nodiscard]] decision decide(const top_k_index_join_problem& problem, const machine& on);

}  // namespace zenith

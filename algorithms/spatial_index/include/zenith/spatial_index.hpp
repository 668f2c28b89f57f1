#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

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
template <class T>
struct scored_boxes {
  column_set<T> low;
  column_set<T> high;
  std::span<const T> scores;
};

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

/// An index as a query gets it; no storage: it has no items.
struct index_argument {
  const index_storage* host;
  const std::byte* bytes;  ///< in `space`
  memory_space space;
};

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
  explicit spatial_index(std::shared_ptr<const detail::index_storage> held) : held_(std::move(held)) {}

  static detail::spatial_points scored(const column_set<T>& columns, std::span<const T> scores) {
    auto side = detail::spatial_points_of(columns);
    side.scores = scores.data();
    side.score_count = scores.size();
    return side;
  }
  static spatial_index built(const scored_points<T>& points, const spatial_index_options& options,
                             const execution* on) {
    return spatial_index(
        detail::build_index({key_type_of<T>, Dim, false, scored(points.coordinates, points.scores), {}}, options, on));
  }
  static spatial_index built(const scored_boxes<T>& boxes, const spatial_index_options& options, const execution* on) {
    return spatial_index(detail::build_index(
        {key_type_of<T>, Dim, true, scored(boxes.low, boxes.scores), detail::spatial_points_of(boxes.high)}, options,
        on));
  }

  std::shared_ptr<const detail::index_storage> held_;
};

/// A spatial index with its bytes in the memory of an executor's device: queries copy nothing there. Copies share the
/// data.
template <std::floating_point T, unsigned Dim>
class device_spatial_index : public detail::device_structure<spatial_index<T, Dim>> {
 public:
  static constexpr unsigned dimensions = Dim;

  device_spatial_index() = default;
  /// Copies the index's bytes to the device of `on` and synchronises; throws `invalid_argument` for an executor of the
  /// host's memory, `out_of_memory`.
  device_spatial_index(const executor& on, const spatial_index<T, Dim>& index)
      : detail::device_structure<spatial_index<T, Dim>>(on, index) {}
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
  return {held, held == nullptr ? nullptr : held->data, memory_space::host};
}
template <class T, unsigned Dim>
[[nodiscard]] index_argument argument_of(const device_spatial_index<T, Dim>& index) {
  return {index.host().storage(), index.data(), memory_space::device};
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

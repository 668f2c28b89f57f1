#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/columns.hpp>
#include <zenith/executor.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/spatial_index_call.hpp>
#include <zenith/spatial_join.hpp>
#include <zenith/structure.hpp>

/// \file
/// The structure of a spatial index: built once over points or boxes with scores, kept on the host or on a device.

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

/// In which order the levels of a spatial index's nodes lie in memory. Queries take as long either way.
enum class level_order : std::uint8_t {
  root_first,    ///< from the root down
  leaves_first,  ///< from the leaves up
};

struct spatial_index_options {
  /// Entries of a node, 2 to 64.
  std::uint32_t fanout = 16;
  bulk_order order = bulk_order::sort_tile_recursive;
  level_order node_order = level_order::root_first;
};

namespace detail {

/// A built index in the host's memory; immutable, but for a header that is made when all bytes are first asked for: no
/// query needs it, and its checksum takes a pass over them.
struct index_storage : owned_structure<spatial_index_layout> {
  std::byte* without_header = nullptr;  ///< the bytes of an index that was built here
  mutable std::once_flag header_made;

  [[nodiscard]] std::span<const std::byte> bytes() const;
};

struct index_input {
  key_type type;
  unsigned dimensions;  ///< of the index's type
  bool has_boxes;
  spatial_points low;  ///< or points, with the scores
  spatial_points high;
  const char* function = "spatial_index";             ///< messages begin with it
  const char* name = has_boxes ? "boxes" : "points";  ///< of the argument, in messages
  bool has_scores = true;                             ///< else its user has no scores: those of `low` stand for them
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
  ZENITH_NO_CONSTRUCTOR(spatial_index);  // `build` makes an index

  /// Copies points and scores, which may be freed afterwards. All nodes are full but the last of a level. It runs on
  /// the threads of `on` if that is an executor of the host, else on all threads that the process may use. The same
  /// input gives the same bytes, for any number of threads.
  ///
  /// By Sort-Tile-Recursive, n log(n) / log(options.fanout) entries are sorted once along each axis, level by level
  /// from the items up; by Hilbert order the items are sorted once, by their place on a curve with 32 bits a
  /// coordinate, in 3-D 21. Sorts are by digits, so building is O(n) for a given type. Memory: (Dim + 2) values and 4
  /// bytes a point, and 2 Dim + 2 values for each of about n / (fanout - 1) nodes; while it builds, 20
  /// bytes a point more, of doubles 36.
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
  ZENITH_NO_STATIC_OVERLOAD(build);

  /// An index from what `serialized` gave; the bytes may be freed afterwards. All that queries rely on is checked.
  /// Complexity: O(bytes). Throws `invalid_argument` for bytes of another type or number of dimensions, `corrupt_data`
  /// for all that is not a whole index of this version and byte order, and `out_of_memory`.
  [[nodiscard]] static spatial_index parse(std::span<const std::byte> bytes) {
    return spatial_index(detail::read_index(key_type_of<T>, Dim, bytes, true));
  }
  ZENITH_NO_STATIC_OVERLOAD(parse);
  /// The same without a copy: of a mapped file, say. The bytes are borrowed by the index and all its copies; they must
  /// lie at a multiple of 64 bytes and not change. Checks and throws as `parse`.
  [[nodiscard]] static spatial_index map(std::span<const std::byte> bytes) {
    return spatial_index(detail::read_index(key_type_of<T>, Dim, bytes, false));
  }
  ZENITH_NO_STATIC_OVERLOAD(map);

  /// The index as bytes, in this machine's byte order, to be kept in a file. Valid as long as the index or a copy of
  /// it. Of an index that was not built: no bytes. The first call makes a checksum: O(bytes). Any number of threads may
  /// call it.
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
  ZENITH_NO_CONSTRUCTOR(device_spatial_index);

  /// Builds an index on the device of `on`, from columns on the host or in that device's memory. The bytes are those of
  /// `spatial_index::build`. The host only learns whether the input has a fault, and in Hilbert order between what
  /// coordinates the items lie.
  /// Complexity: sorts of all entries along each axis, level by level; in Hilbert order one sort of the items. Memory:
  /// that of the index, and while it builds about 20 bytes a point and twice the sorted keys. Waits for the columns'
  /// extremes, and is complete in the order of the executor's stream.
  ///
  /// Throws as `spatial_index::build`; `invalid_argument` also for an executor of the host's memory and for "auto".
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
  ZENITH_NO_STATIC_OVERLOAD(build);

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

/// An index on the host or on a device.
template <class Index>
concept any_spatial_index = is_spatial_index<Index>;

/// nullptr: an index without items.
[[nodiscard]] index_argument argument_of(const index_storage* index);
[[nodiscard]] index_argument argument_of(const device_index* index);
template <any_spatial_index Tree>
[[nodiscard]] index_argument argument_of(const Tree& tree) {
  return argument_of(tree.storage());
}

}  // namespace detail

}  // namespace zenith

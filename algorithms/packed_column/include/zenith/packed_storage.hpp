#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <zenith/array.hpp>
#include <zenith/executor.hpp>
#include <zenith/no_overload.hpp>
#include <zenith/packed_block.hpp>
#include <zenith/packed_call.hpp>
#include <zenith/packed_layout.hpp>
#include <zenith/packed_operand.hpp>
#include <zenith/span.hpp>
#include <zenith/structure.hpp>
#include <zenith/top_k.hpp>

/// \file
/// Packed columns in memory: a view, one that owns its bytes, one on a device; and how values are packed.
///
/// Source: Shanbhag, Yogatama, Yu, Madden: Tile-based Lightweight Integer Compression in GPU, and chapter 5 of
/// Shanbhag's thesis, Interactive Analytics on GPUs (2020).

namespace zenith {

class packed_table;

struct pack_options {
  /// Lanes of `encoding::vertical`: 4, 8 or 16.
  int lanes = 4;
  /// Whether values that would widen their miniblock may stand outside the payload, where that takes fewer bytes.
  bool patches = true;
  /// Filled in when not nullptr, after the call succeeded. Borrowed.
  packed_statistics* statistics = nullptr;
};

/// A packed column in memory that somebody else owns: validated, read-only, as cheap to copy as a span.
template <packable T>
class packed_view {
 public:
  using value_type = T;

  /// No values.
  packed_view() noexcept = default;

  /// Borrows bytes that `pack` made, on this machine or another, at any alignment. Checks everything that decoding
  /// relies on, and the checksum, in one pass: O(bytes). Throws `corrupt_data` for all that is not a whole column, and
  /// `invalid_argument` for one of another type. A run of equal values takes a few bytes, however long it is. So
  /// compare the size() of an untrusted column with what you expect before you decode or query it.
  [[nodiscard]] static packed_view parse(std::span<const std::byte> bytes) {
    return packed_view(detail::parse_packed(bytes, key_type_of<T>));
  }
  ZENITH_NO_STATIC_OVERLOAD(parse);

  [[nodiscard]] std::size_t size() const noexcept { return layout_.count; }
  [[nodiscard]] bool empty() const noexcept { return layout_.count == 0; }
  [[nodiscard]] zenith::encoding encoding() const noexcept { return layout_.kind; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {layout_.bytes, layout_.total_bytes}; }
  [[nodiscard]] double bits_per_value() const noexcept {
    return empty() ? 0 : 8 * static_cast<double>(layout_.total_bytes) / static_cast<double>(layout_.count);
  }

  /// Value `i`. O(1); for `delta` and `null_suppression_variable` a part of a block is decoded; for `run_length` O(log
  /// runs). Throws `invalid_argument` for i >= size().
  [[nodiscard]] T get(std::size_t i) const {
    if (i >= layout_.count) detail::throw_packed_index(i, layout_.count);
    return static_cast<T>(packed::value_at<detail::packed_word<T>>(layout_, i));
  }

  /// values[j] = get(indices[j]), on the calling thread. Accesses of frame_of_reference wait for memory together, so a
  /// column that is not in cache is read up to twice as fast as value by value. Complexity: that of as many calls of
  /// `get`. Throws `invalid_argument`, with nothing written, when the lengths differ or an index is negative or >=
  /// size().
  template <detail::host_range Indices>
  requires index<detail::element_t<Indices>>
  void gather(Indices&& indices, std::span<T> values) const {
    using number = detail::element_t<Indices>;
    detail::gather(layout_, std::ranges::data(indices), std::ranges::size(indices), sizeof(number),
                   std::is_signed_v<number>, values.data(), values.size());
  }
  ZENITH_NO_CONST_OVERLOAD(gather);

  /// For kernels and loops of one's own: see <zenith/packed_block.hpp>.
  [[nodiscard]] const packed_layout& layout() const noexcept { return layout_; }

 private:
  template <packable>
  friend class packed_column;
  template <packable>
  friend class packed_device_column;
  friend class packed_table;
  friend struct detail::packing;
  explicit packed_view(const packed_layout& layout) noexcept : layout_(layout) {}

  packed_layout layout_{.type = key_type_of<T>};
};

/// A packed column that owns its bytes, in host memory. Moves, does not copy.
template <packable T>
class packed_column {
 public:
  using value_type = T;

  packed_column() noexcept = default;
  packed_column(packed_column&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), view_(std::exchange(other.view_, {})) {}
  packed_column& operator=(packed_column&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  packed_column(const packed_column&) = delete;
  packed_column& operator=(const packed_column&) = delete;
  ~packed_column() = default;

  [[nodiscard]] packed_view<T> view() const noexcept { return view_; }
  operator packed_view<T>() const noexcept { return view_; }  // NOLINT(google-explicit-constructor): as vector to span

  [[nodiscard]] std::size_t size() const noexcept { return view_.size(); }
  [[nodiscard]] bool empty() const noexcept { return view_.empty(); }
  [[nodiscard]] zenith::encoding encoding() const noexcept { return view_.encoding(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return view_.bytes(); }
  [[nodiscard]] double bits_per_value() const noexcept { return view_.bits_per_value(); }
  [[nodiscard]] T get(std::size_t i) const { return view_.get(i); }
  /// As packed_view::gather.
  template <detail::host_range Indices>
  requires index<detail::element_t<Indices>>
  void gather(Indices&& indices, std::span<T> values) const { view_.gather(indices, values); }
  ZENITH_NO_CONST_OVERLOAD(gather);
  [[nodiscard]] const packed_layout& layout() const noexcept { return view_.layout(); }

  /// Gives back memory that `pack_into` keeps for larger columns, as far as that takes no copy. The bytes stay where
  /// they are.
  void shrink_to_fit() noexcept { detail::shrink(bytes_, view_.layout().total_bytes); }

 private:
  friend struct detail::packing;

  detail::host_bytes bytes_;
  packed_view<T> view_;
};

/// A packed column in the memory of an executor's device. Moves, does not copy.
template <packable T>
class packed_device_column {
 public:
  using value_type = T;

  packed_device_column() = default;
  /// Copies the bytes, packed as they are, to the device of `on`, and synchronises; throws `invalid_argument` for an
  /// executor whose memory is the host's, and `out_of_memory`.
  packed_device_column(const executor& on, packed_view<T> column)
      : bytes_(on, column.bytes().size()), layout_(column.layout()) {
    layout_.bytes = nullptr;
    if (bytes_.bytes() == 0) return;
    bytes_.require(memory_space::device);
    bytes_.write(column.bytes().data());
    layout_.bytes = static_cast<const std::byte*>(bytes_.data());
  }
  ZENITH_NO_CONSTRUCTOR(packed_device_column);
  packed_device_column(packed_device_column&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), layout_(std::exchange(other.layout_, {.type = key_type_of<T>})) {}
  packed_device_column& operator=(packed_device_column&& other) noexcept {
    bytes_ = std::exchange(other.bytes_, {});
    layout_ = std::exchange(other.layout_, {.type = key_type_of<T>});
    return *this;
  }
  packed_device_column(const packed_device_column&) = delete;
  packed_device_column& operator=(const packed_device_column&) = delete;
  ~packed_device_column() = default;

  /// Packs values that lie on the device, where they and the column stay: only the column's size comes to the host. The
  /// bytes are those of `zenith::pack`; for what `kind` and `options` say see `pack_into`. Waits once, for the size;
  /// the bytes are complete in the order of the executor's stream. Throws as `pack_into` over device memory does.
  [[nodiscard]] static packed_device_column pack(const executor& on, device_span<const T> values,
                                                 zenith::encoding kind = zenith::encoding::automatic,
                                                 const pack_options& options = {}) {
    packed_device_column made;
    pack_into(on, values, made, kind, options);
    return made;
  }
  /// The same of values on the host, which are copied to the device as they are, and packed there. Synchronises.
  template <detail::host_range Values>
  requires std::same_as<detail::element_t<Values>, T>
  [[nodiscard]] static packed_device_column pack(const executor& on, const Values& values,
                                                 zenith::encoding kind = zenith::encoding::automatic,
                                                 const pack_options& options = {}) {
    packed_device_column made;
    pack_into(on, values, made, kind, options);
    return made;
  }
  ZENITH_NO_STATIC_OVERLOAD(pack);

  [[nodiscard]] std::size_t size() const noexcept { return layout_.count; }
  [[nodiscard]] bool empty() const noexcept { return layout_.count == 0; }
  [[nodiscard]] zenith::encoding encoding() const noexcept { return layout_.kind; }
  [[nodiscard]] double bits_per_value() const noexcept {
    return empty() ? 0 : 8 * static_cast<double>(layout_.total_bytes) / static_cast<double>(layout_.count);
  }
  /// For kernels of one's own; its `bytes` point into device memory.
  [[nodiscard]] const packed_layout& layout() const noexcept { return layout_; }

  /// A copy on the host, whose bytes can be saved. Synchronises. Throws `out_of_memory` and `device_failure`.
  [[nodiscard]] packed_column<T> to_host() const;

 private:
  friend struct detail::packing;

  detail::raw_array bytes_;  // perhaps more than the column's
  packed_layout layout_{.type = key_type_of<T>};
};

namespace detail {

// What can be queried: a view, a column, a column on a device.
template <class Column>
struct packed_source {
  static constexpr bool is_one = false;
};
template <packable T>
struct packed_source<packed_view<T>> {
  static constexpr bool is_one = true;
  using value = T;
  static constexpr memory_space space = memory_space::host;
};
template <packable T>
struct packed_source<packed_column<T>> : packed_source<packed_view<T>> {};
template <packable T>
struct packed_source<packed_device_column<T>> {
  static constexpr bool is_one = true;
  using value = T;
  static constexpr memory_space space = memory_space::device;
};

template <class Column>
concept packed_queryable = packed_source<std::remove_cvref_t<Column>>::is_one;

template <class Column>
using packed_value = typename packed_source<std::remove_cvref_t<Column>>::value;

template <class Column>
[[nodiscard]] packed_operand operand_of(const Column& column) noexcept {
  return {column.layout(), packed_source<Column>::space};
}

// The one that writes to a column.
struct packing {
  template <packable T>
  static void into(packed_column<T>& column, const executor& on, memory_space space, const T* values, std::size_t count,
                   encoding kind, const pack_options& options) {
    pack(on, key_type_of<T>, space, values, count, kind, options, column.bytes_, column.view_.layout_);
  }
  template <packable T>
  static void into(packed_device_column<T>& column, const executor& on, memory_space space, const T* values,
                   std::size_t count, encoding kind, const pack_options& options) {
    pack_on_device(on, key_type_of<T>, space, values, count, kind, options, column.bytes_, column.layout_);
  }
  template <packable T>
  static packed_column<T> to_host(const packed_device_column<T>& column) {
    packed_column<T> made;
    copy_to_host(column.bytes_, column.layout_, made.bytes_, made.view_.layout_);
    return made;
  }
};

}  // namespace detail

/// Packs `values` into `column`, in place of what it held, and into the same memory if that suffices. So a loop that
/// packs batch after batch neither allocates nor touches fresh pages; for columns larger than the caches, clearing
/// these takes much of the time of `pack`. Memory only grows; `column.shrink_to_fit()` gives it back.
///
/// `encoding::automatic` takes the encoding with the fewest bytes, the first in order of listing among equals, which is
/// also the rule of thumb of section 5.6.6 of the thesis. The bytes are the same whichever backend wrote them, and
/// whatever the memory held. O(n): one read of `values` and one write of the column where a CPU packs by frame of
/// reference or delta without patches, otherwise up to three reads.
///
/// Views of `column` from before are invalid afterwards; `values` must not lie in its bytes. Throws `invalid_argument`
/// for options that do not exist and `unsupported` when the backend cannot pack; then `column` is unchanged.
/// After `out_of_memory` or `device_failure` it is unchanged too, or holds no values if writing had begun.
template <detail::host_range Values>
requires packable<detail::element_t<Values>>
void pack_into(const executor& on, const Values& values, packed_column<detail::element_t<Values>>& column,
               encoding kind = encoding::automatic, const pack_options& options = {}) {
  detail::packing::into(column, on, memory_space::host, std::ranges::data(values), std::ranges::size(values), kind,
                        options);
}

/// The same over device memory; the column lies on the host. Synchronises.
template <class T>
requires packable<std::remove_const_t<T>>
void pack_into(const executor& on, device_span<T> values, packed_column<std::remove_const_t<T>>& column,
               encoding kind = encoding::automatic, const pack_options& options = {}) {
  using value = std::remove_const_t<T>;
  detail::packing::into<value>(column, on, memory_space::device, values.data(), values.size(), kind, options);
}

/// The same into a column that lies on the device of `on`: see `packed_device_column::pack`. Memory that `column` has
/// there, of the same executor, is used again when it suffices. Throws `invalid_argument` for an executor whose memory
/// is the host's.
template <class T>
requires packable<std::remove_const_t<T>>
void pack_into(const executor& on, device_span<T> values, packed_device_column<std::remove_const_t<T>>& column,
               encoding kind = encoding::automatic, const pack_options& options = {}) {
  using value = std::remove_const_t<T>;
  detail::packing::into<value>(column, on, memory_space::device, values.data(), values.size(), kind, options);
}
template <detail::host_range Values>
requires packable<detail::element_t<Values>>
void pack_into(const executor& on, const Values& values, packed_device_column<detail::element_t<Values>>& column,
               encoding kind = encoding::automatic, const pack_options& options = {}) {
  using value = detail::element_t<Values>;
  detail::packing::into<value>(column, on, memory_space::host, std::ranges::data(values), std::ranges::size(values),
                               kind, options);
}

template <packable T>
packed_column<T> packed_device_column<T>::to_host() const {
  return detail::packing::to_host(*this);
}

/// Packs `values` into a new column: see `pack_into`, also for what is thrown.
template <detail::host_range Values>
requires packable<detail::element_t<Values>>
[[nodiscard]] packed_column<detail::element_t<Values>> pack(const executor& on, const Values& values,
                                                            encoding kind = encoding::automatic,
                                                            const pack_options& options = {}) {
  packed_column<detail::element_t<Values>> made;
  pack_into(on, values, made, kind, options);
  made.shrink_to_fit();
  return made;
}

/// The same over device memory; the column lies on the host. Synchronises.
template <class T>
requires packable<std::remove_const_t<T>>
[[nodiscard]] packed_column<std::remove_const_t<T>> pack(const executor& on, device_span<T> values,
                                                         encoding kind = encoding::automatic,
                                                         const pack_options& options = {}) {
  packed_column<std::remove_const_t<T>> made;
  pack_into(on, values, made, kind, options);
  made.shrink_to_fit();
  return made;
}

/// Takes what no overload takes, so that the compiler's message is short: see the overloads above.
ZENITH_NO_OVERLOAD(pack);
ZENITH_NO_OVERLOAD(pack_into);

}  // namespace zenith

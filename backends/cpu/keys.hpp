#pragma once

/// \file
/// Where the filter's keys come from: an array, or a packed column whose decoded values are written nowhere.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <backends/cpu/isa/packed_table.hpp>
#include <backends/cpu/isa/table.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::cpu_backend {

// Keys have
//   gather(where, count, out)    those at positions where(0) … where(count - 1), for the sample
//   for_each(begin, end, use)    use(i, key) for each of a range
//   scan(request, begin, end)    the survivors of a range, or of its front: `request` lacks keys, count, first_index
//   staging                      the survivors that a request can hold

template <class T>
class plain_keys {
 public:
  static constexpr std::size_t staging = 2048;

  plain_keys(const T* keys, scan_function unit) : keys_(keys), scan_(unit) {}

  template <class Where>
  void gather(const Where& where, std::size_t count, T* out) const {
    for (std::size_t i = 0; i < count; ++i) out[i] = keys_[where(i)];
  }

  template <class Use>
  void for_each(std::uint64_t begin, std::uint64_t end, const Use& use) const {
    for (std::uint64_t i = begin; i < end; ++i) use(i, keys_[i]);
  }

  [[nodiscard]] scan_result scan(scan_request request, std::uint64_t begin, std::uint64_t end) const {
    request.keys = keys_ + begin;
    request.count = end - begin;
    request.first_index = static_cast<std::uint32_t>(begin);
    return scan_(request);
  }

 private:
  const T* keys_;
  scan_function scan_;
};

/// The values of a column from block `origin` on; their indices count from there.
template <class T>
class packed_keys {
 public:
  /// A scan takes no more blocks at a time than have their values fit here: it need not look.
  static constexpr std::size_t staging = std::size_t{packed_block_items} * 128;

  packed_keys(const packed_layout& column, std::uint64_t origin, const packed_table& isa, bool smallest)
      : column_(column),
        origin_(origin),
        scan_((smallest ? isa.smallest : isa.largest).scan[value_index(key_type_of<T>)]),
        unpack_(isa.read.unpack[sizeof(T) == 8 ? 1 : 0]) {}

  template <class Where>
  void gather(const Where& where, std::size_t count, T* out) const {
    const packed_layout of = column_;  // nothing that is written can be part of it
    const std::uint64_t first = origin_ * packed_block_items;
    if (of.kind == encoding::delta || of.kind == encoding::null_suppression_variable) {
      // a value that those before it in the block lead to takes longer alone than the whole block does
      for (std::size_t i = 0; i < count; ++i) out[i] = decoded_at(where(i));
    } else if (of.kind == encoding::frame_of_reference && of.one_width != mixed_widths && of.patches == 0) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t at = first + where(i);
        out[i] = static_cast<T>(packed::framed_value(of, at, packed::framed_place_of<word>(of, at)));
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(packed::value_at<word>(of, first + where(i)));
    }
  }

  template <class Use>
  void for_each(std::uint64_t begin, std::uint64_t end, const Use& use) const {
    while (begin < end) {
      const std::uint64_t block = begin / packed_block_items;
      const std::uint64_t first = block * packed_block_items;
      const std::uint64_t stop = std::min(end, first + packed_block_items);
      word values[packed_block_items];
      decode(block, values);
      for (; begin < stop; ++begin) use(begin, static_cast<T>(values[begin - first]));
    }
  }

  [[nodiscard]] scan_result scan(const scan_request& request, std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t blocks =
        std::min(end / packed_block_items - begin / packed_block_items, request.capacity / packed_block_items);
    if (begin % packed_block_items == 0 && blocks > 0) {
      const std::uint64_t block = origin_ + begin / packed_block_items;
      return {blocks * packed_block_items,
              scan_({&column_, block, block + blocks}, request, static_cast<std::uint32_t>(begin))};
    }
    // part of a block
    const std::uint64_t stop = std::min(end, begin + packed_block_items - begin % packed_block_items);
    std::uint64_t appended = 0;
    for_each(begin, stop, [&](std::uint64_t i, T value) {
      static_cast<T*>(request.out_keys)[appended] = value;
      request.out_indices[appended++] = static_cast<std::uint32_t>(i);
    });
    return {stop - begin, appended};
  }

 private:
  using word = std::make_unsigned_t<T>;

  [[nodiscard, gnu::noinline]] T decoded_at(std::uint64_t i) const {
    word values[packed_block_items];
    decode(i / packed_block_items, values);
    return static_cast<T>(values[i % packed_block_items]);
  }

  void decode(std::uint64_t block, word* values) const {
    block += origin_;
    if (column_.items_of(block) == packed_block_items) {
      unpack_({&column_, block, block + 1}, values, false);
    } else {
      packed::unpack_block(column_, block, values);
    }
  }

  const packed_layout& column_;
  std::uint64_t origin_;
  packed_scan_function scan_;
  void (*unpack_)(const packed_blocks& of, void* out, bool past_caches);
};

}  // namespace zenith::cpu_backend

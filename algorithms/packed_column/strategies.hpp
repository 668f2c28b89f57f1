#pragma once

/// \file
/// Decoding, sum, extremes and selection over a packed column, once for every device context. Blocks of 128 values are
/// decoded where they are used:
///
///   sum, extremes    one pass over the column's tiles; a lane keeps its own and adds it to all at its end
///   select           1. a bit for each value and how many bits a block has, 2. the sums before each block, 3. the
///                    bits are copied to a bitmap, or every block writes its indices from its sum on, out of its bits
///
/// Each is one read of the packed bytes. O(n).

#include <cstdint>
#include <string>
#include <type_traits>

#include <algorithms/packed_column/family.hpp>
#include <algorithms/packed_column/source.hpp>
#include <core/device/atomics.hpp>
#include <core/device/context.hpp>

namespace zenith::packed_column_family {

using device::u32;
using device::u64;

/// *to += the values, widened by their sign.
template <class T>
struct sum_tiles {
  using source_type = packed::column_source<T>;

  source_type source;
  u64* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    u64 sum = 0;
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      team.each_item(items, [&](T value) ZENITH_BODY { sum += static_cast<u64>(value); });
    });
    (void)device::atomic_add(to, sum);
  }
};

/// Unsigned words in the order of the values.
template <class T>
ZENITH_FN u64 image_of(T value) {
  using word = std::make_unsigned_t<T>;
  constexpr word turn = std::is_signed_v<T> ? word{1} << (sizeof(T) * 8 - 1) : word{0};
  return static_cast<word>(static_cast<word>(value) ^ turn);
}
template <class T>
ZENITH_FN T value_of(u64 image) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(image_of(static_cast<T>(image))));
}

/// to[0] = the greatest image, to[1] = the complement of the least; zeros at first.
template <class T>
struct find_extremes {
  using source_type = packed::column_source<T>;

  source_type source;
  u64* to;

  template <class Team>
  ZENITH_FN void operator()(Team& team) const {
    u64 greatest = 0;
    u64 least = ~u64{0};
    team.each_tile(source, [&](const auto& items) ZENITH_BODY {
      team.each_item(items, [&](T value) ZENITH_BODY {
        const u64 image = image_of(value);
        greatest = image > greatest ? image : greatest;
        least = image < least ? image : least;
      });
    });
    (void)device::atomic_max(to, greatest);
    (void)device::atomic_max(to + 1, ~least);
  }
};

inline constexpr u64 block_cost = 1024;  ///< bytes that take as long to read as a block to decode

/// Values [first, first + count) of a column from block `origin` on, which `first` lies in.
template <class T>
struct unpack_block {
  static constexpr u64 item_cost = block_cost;

  packed::column_source<T> source;
  u64 first;
  u64 count;
  T* to;

  ZENITH_FN void operator()(u64 block) const {
    T values[packed_block_items];
    source.decode(block, values);
    const u64 at = (source.origin + block) * packed_block_items;
    const u64 left = first + count - at;
    const u32 begin = at < first ? static_cast<u32>(first - at) : 0;
    const u32 end = left < packed_block_items ? static_cast<u32>(left) : packed_block_items;
    T* const out = to + (at + begin - first);
    for (u32 i = begin; i < end; ++i) out[i - begin] = values[i];
  }
};

inline constexpr u32 words_of_block = packed_block_items / 64;

/// A bit for each value in [low, high], and how many a block has.
template <class T>
struct select_block {
  static constexpr u64 item_cost = block_cost;

  packed::column_source<T> source;
  T low;
  T high;
  u64* words;
  u64* counts;

  ZENITH_FN void operator()(u64 block) const {
    T values[packed_block_items];
    source.decode(block, values);
    const u64 left = source.count - block * packed_block_items;
    const u32 items = left < packed_block_items ? static_cast<u32>(left) : packed_block_items;
    u64 matches = 0;
    for (u32 word = 0; word * 64 < items; ++word) {
      const u32 length = items - word * 64 < 64 ? items - word * 64 : 64;
      u64 bits = 0;
      for (u32 i = 0; i < length; ++i) {
        const T value = values[word * 64 + i];
        const auto is_in = static_cast<u64>(value >= low && value <= high);
        bits |= is_in << i;
        matches += is_in;
      }
      words[block * words_of_block + word] = bits;
    }
    counts[block] = matches;
  }
};

struct copy_words {
  static constexpr u64 item_cost = 16;

  const u64* from;
  u64* to;

  ZENITH_FN void operator()(u64 i) const { to[i] = from[i]; }
};

/// The indices of a block's bits, rising, behind those of the blocks before.
template <class Index>
struct write_indices {
  static constexpr u64 item_cost = 64;

  const u64* words;
  u64 word_count;
  const u64* before;
  Index* to;

  ZENITH_FN void operator()(u64 block) const {
    u64 at = before[block];
    for (u64 word = block * words_of_block; word < (block + 1) * words_of_block && word < word_count; ++word) {
      u64 bits = words[word];
      for (u32 i = 0; bits != 0; ++i, bits >>= 1) {
        if ((bits & 1) != 0) to[at++] = static_cast<Index>(word * 64 + i);
      }
    }
  }
};

template <class T>
using kernels_of = device::list<sum_tiles<T>, find_extremes<T>, unpack_block<T>, select_block<T>>;
using kernels =
    device::concat<kernels_of<std::int32_t>, kernels_of<std::uint32_t>, kernels_of<std::int64_t>,
                   kernels_of<std::uint64_t>, device::list<copy_words, write_indices<u32>, write_indices<u64>>>;

/// Runs function(source of the column's values from block `origin` on) with the type that they have.
template <class Context, class Function>
void with_source(Context& on, packed_layout column, memory_space space, u64 origin, const Function& function) {
  column.bytes = on.input(column.bytes, column.total_bytes, space);
  const auto as = [&]<class T>(std::type_identity<T>) {
    function(packed::column_source<T>{column, origin, column.count - origin * packed_block_items});
  };
  switch (column.type) {
    case key_type::int32: return as(std::type_identity<std::int32_t>{});
    case key_type::uint32: return as(std::type_identity<std::uint32_t>{});
    case key_type::int64: return as(std::type_identity<std::int64_t>{});
    default: return as(std::type_identity<std::uint64_t>{});
  }
}

template <class Context>
void report(const Context& on, packed_statistics* to) {
  if (to != nullptr) *to = {std::string{on.variant()}, on.threads()};
}

template <class Context>
void run_call(Context& on, const unpack_call& call) {
  const u64 origin = call.first / packed_block_items;
  const u64 end = (call.first + call.count - 1) / packed_block_items + 1;
  with_source(on, call.column, call.space, origin, [&]<class T>(const packed::column_source<T>& source) {
    T* const out = on.output(static_cast<T*>(call.out), call.count, call.space);
    on.for_each(end - origin, unpack_block<T>{source, call.first, call.count, out});
    on.finish();
  });
}

template <class Context>
void run_call(Context& on, const packed_sum_call& call) {
  with_source(on, call.column, call.space, 0, [&]<class T>(const packed::column_source<T>& source) {
    auto* const sum = on.template buffer<u64>(1);
    on.fill_zero(sum, 1);
    on.for_tiles(sum_tiles<T>{source, sum});
    *call.sum = on.read(sum);
  });
}

template <class Context>
void run_call(Context& on, const packed_extremes_call& call) {
  with_source(on, call.column, call.space, 0, [&]<class T>(const packed::column_source<T>& source) {
    using word = std::make_unsigned_t<T>;
    auto* const found = on.template buffer<u64>(2);
    on.fill_zero(found, 2);
    on.for_tiles(find_extremes<T>{source, found});
    *call.maximum = static_cast<word>(value_of<T>(on.read(found)));
    *call.minimum = static_cast<word>(value_of<T>(~on.read(found + 1)));
  });
}

template <class Index, class Context>
void write_matches(Context& on, const packed_select_call& call, const u64* words, const u64* before, u64 blocks) {
  Index* const out = on.output(static_cast<Index*>(call.indices), *call.matches, call.space);
  on.for_each(blocks, write_indices<Index>{words, (call.column.count + 63) / 64, before, out});
}

template <class Context>
void run_call(Context& on, const packed_select_call& call) {
  with_source(on, call.column, call.space, 0, [&]<class T>(const packed::column_source<T>& source) {
    const u64 word_count = (call.column.count + 63) / 64;
    const u64 blocks = call.column.blocks();
    u64* const bitmap = call.bitmap != nullptr ? on.output(call.bitmap, word_count, call.space) : nullptr;
    auto* const words = on.template buffer<u64>(word_count);
    auto* const before = on.template buffer<u64>(blocks + 1);
    on.for_each(blocks, select_block<T>{source, static_cast<T>(call.low), static_cast<T>(call.high), words, before});
    on.exclusive_scan(before, blocks, before);
    *call.matches = on.read(before + blocks);
    if (bitmap != nullptr) {
      // last, so that nothing is written when a step finds no memory
      on.for_each(word_count, copy_words{words, bitmap});
    } else if (*call.matches <= call.capacity && *call.matches > 0) {
      call.index_bytes == 4 ? write_matches<u32>(on, call, words, before, blocks)
                            : write_matches<u64>(on, call, words, before, blocks);
    }
    on.finish();
  });
}

template <class Call>
template <class Context>
void on_blocks<Call>::run(Context& on, const Call& call) {
  run_call(on, call);
  report(on, call.statistics);
}

}  // namespace zenith::packed_column_family

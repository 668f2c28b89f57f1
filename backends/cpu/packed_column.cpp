#include <backends/cpu/packed_column.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <algorithms/top_k/run.hpp>
#include <backends/cpu/for_blocks.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/scratch.hpp>
#include <backends/cpu/top_k.hpp>
#include <core/with_key_type.hpp>
#include <zenith/packed_block.hpp>

namespace zenith::cpu_backend {
namespace {

template <class Function>
void with_value_type(key_type type, Function&& function) {
  detail::with_key_type(type, [&]<class T>(std::type_identity<T> one) {
    if constexpr (std::is_integral_v<T>) function(one);
  });
}

template <class T>
using word = std::make_unsigned_t<T>;

void report(packed_statistics* to, const char* variant, int workers) {
  if (to != nullptr) *to = {variant, workers};
}

/// From here on an output leaves the caches before it is complete, so that nothing is lost by going around them.
constexpr std::uint64_t past_caches_bytes = 32 * 1024 * 1024;

/// Blocks of 128 values; the last of a column may have fewer, and is decoded by plain code.
std::uint64_t whole_blocks(const packed_layout& column) { return column.count / packed_block_items; }

/// Calls use(first value, its word) … for the values of the last block, when it is not whole.
template <class T, class Use>
void for_tail(const packed_layout& column, const Use& use) {
  const std::uint64_t block = whole_blocks(column);
  if (block == column.blocks()) return;
  word<T> values[packed_block_items];
  const unsigned items = packed::unpack_block(column, block, values);
  for (unsigned i = 0; i < items; ++i) use(block * packed_block_items + i, static_cast<T>(values[i]));
}

/// A worker's own, on a cache line that no other writes.
template <class T>
struct alignas(64) own {
  T value{};
};

template <class U>
void unpack_part(const packed_layout& column, std::uint64_t block, std::uint64_t first, std::uint64_t last, U* out) {
  U values[packed_block_items];
  packed::unpack_block(column, block, values);
  const std::uint64_t at = block * packed_block_items;
  const std::uint64_t from = std::max(at, first);
  const std::uint64_t to = std::min(at + packed_block_items, last);
  std::memcpy(out + (from - first), values + (from - at), (to - from) * sizeof(U));
}

template <class U>
void unpack_values(const unpack_call& call, const packed_table& isa, int workers) {
  const auto& column = call.column;
  U* out = static_cast<U*>(call.out);
  const std::uint64_t last = call.first + call.count;
  const bool past_caches = call.count * sizeof(U) >= past_caches_bytes;
  for_chunks(workers, call.first / packed_block_items, (last - 1) / packed_block_items + 1, chunk_blocks,
             [&](int, std::uint64_t begin, std::uint64_t end) {
               if (begin * packed_block_items < call.first) {
                 unpack_part(column, begin++, call.first, last, out);
               }
               if (begin < end && end * packed_block_items > last) {
                 unpack_part(column, --end, call.first, last, out);
               }
               if (begin < end) {
                 isa.read.unpack[sizeof(U) / 8]({&column, begin, end}, out + (begin * packed_block_items - call.first),
                                                past_caches);
               }
             });
}

template <class Index>
Index* write_indices(const std::uint64_t* bitmap, std::uint64_t words, std::uint64_t first, Index* to) {
  for (std::uint64_t w = 0; w < words; ++w) {
    for (auto bits = bitmap[w]; bits != 0; bits &= bits - 1) {
      *to++ = static_cast<Index>(first + w * 64 + static_cast<unsigned>(__builtin_ctzll(bits)));
    }
  }
  return to;
}

}  // namespace

void unpack(const execution& on, const unpack_call& call) {
  const auto& isa = find_packed(on.isa);
  const int workers = workers_for_blocks(on.threads, call.column, call.count, size_of(call.column.type));
  size_of(call.column.type) == 4 ? unpack_values<std::uint32_t>(call, isa, workers)
                                 : unpack_values<std::uint64_t>(call, isa, workers);
  report(call.statistics, isa.name, workers);
}

void packed_sum(const execution& on, const packed_sum_call& call) {
  const auto& column = call.column;
  const auto& isa = find_packed(on.isa);
  const int workers = workers_for_blocks(on.threads, column, column.count);
  std::vector<own<std::uint64_t>> sums(static_cast<std::size_t>(workers));
  for_chunks(workers, 0, whole_blocks(column), chunk_blocks, [&](int worker, std::uint64_t begin, std::uint64_t end) {
    sums[static_cast<std::size_t>(worker)].value += isa.read.sum[value_index(column.type)]({&column, begin, end});
  });
  std::uint64_t sum = 0;
  for (const auto& one : sums) sum += one.value;
  with_value_type(column.type, [&]<class T>(std::type_identity<T>) {
    for_tail<T>(column, [&](std::uint64_t, T value) { sum += static_cast<std::uint64_t>(value); });
  });
  *call.sum = sum;
  report(call.statistics, isa.name, workers);
}

void packed_extremes(const execution& on, const packed_extremes_call& call) {
  const auto& column = call.column;
  const auto& isa = find_packed(on.isa);
  const int workers = workers_for_blocks(on.threads, column, column.count);
  with_value_type(column.type, [&]<class T>(std::type_identity<T>) {
    struct range {
      T least = std::numeric_limits<T>::max();
      T greatest = std::numeric_limits<T>::min();
      void take(T low, T high) {
        least = std::min(least, low);
        greatest = std::max(greatest, high);
      }
    };
    std::vector<own<range>> found(static_cast<std::size_t>(workers));
    for_chunks(workers, 0, whole_blocks(column), chunk_blocks, [&](int worker, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t low = 0;
      std::uint64_t high = 0;
      isa.query.extremes[value_index(column.type)]({&column, begin, end}, &low, &high);
      found[static_cast<std::size_t>(worker)].value.take(static_cast<T>(low), static_cast<T>(high));
    });
    range all;
    for (const auto& one : found) all.take(one.value.least, one.value.greatest);
    for_tail<T>(column, [&](std::uint64_t, T value) { all.take(value, value); });
    *call.minimum = static_cast<word<T>>(all.least);
    *call.maximum = static_cast<word<T>>(all.greatest);
  });
  report(call.statistics, isa.name, workers);
}

void packed_select(const execution& on, const packed_select_call& call) {
  const auto& column = call.column;
  const auto& isa = find_packed(on.isa);
  constexpr std::uint64_t block_words = packed_block_items / 64;
  const int workers = workers_for_blocks(on.threads, column, column.count);
  scratch<std::uint64_t> own_bitmap;
  std::uint64_t* bitmap = call.bitmap;
  if (bitmap == nullptr) {
    own_bitmap = scratch<std::uint64_t>(scratch_resource(on), column.blocks() * block_words);
    bitmap = own_bitmap.data();
  }
  const std::uint64_t whole = whole_blocks(column);
  const std::uint64_t blocks = column.blocks();
  std::vector<std::uint64_t> before((blocks + chunk_blocks - 1) / chunk_blocks);
  for_chunks(workers, 0, whole, chunk_blocks, [&](int, std::uint64_t begin, std::uint64_t end) {
    before[begin / chunk_blocks] = isa.query.select[size_of(column.type) / 8]({&column, begin, end}, call.low,
                                                                              call.high, bitmap + begin * block_words);
  });
  std::fill(bitmap + whole * block_words, bitmap + (column.count + 63) / 64, 0);
  with_value_type(column.type, [&]<class T>(std::type_identity<T>) {
    for_tail<T>(column, [&](std::uint64_t i, T value) {
      if (value < static_cast<T>(call.low) || value > static_cast<T>(call.high)) return;
      bitmap[i / 64] |= std::uint64_t{1} << (i % 64);
      ++before.back();
    });
  });
  std::uint64_t total = 0;
  for (auto& one : before) one = std::exchange(total, total + one);
  *call.matches = total;
  report(call.statistics, isa.name, workers);
  if (call.bitmap != nullptr || total > call.capacity) return;
  for_chunks(workers, 0, blocks, chunk_blocks, [&](int, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t* from = bitmap + begin * block_words;
    const std::uint64_t first = begin * packed_block_items;
    const std::uint64_t words = (std::min(end * packed_block_items, column.count) - first + 63) / 64;
    if (call.index_bytes == 4) {
      write_indices(from, words, first, static_cast<std::uint32_t*>(call.indices) + before[begin / chunk_blocks]);
    } else {
      write_indices(from, words, first, static_cast<std::uint64_t*>(call.indices) + before[begin / chunk_blocks]);
    }
  });
}

void packed_top_k(const execution& on, const packed_top_k_call& call) {
  top_k_detail::run_segments(on, call.top_k, call.segment, [&](const top_k_call& part, std::uint64_t first) {
    filter_packed(on, part, call.column, first / packed_block_items);
  });
}

}  // namespace zenith::cpu_backend

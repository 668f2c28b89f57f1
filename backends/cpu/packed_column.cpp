#include <backends/cpu/packed_column.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <algorithms/packed_column/pack.hpp>
#include <algorithms/top_k/run.hpp>
#include <backends/cpu/for_blocks.hpp>
#include <backends/cpu/isa.hpp>
#include <backends/cpu/scratch.hpp>
#include <core/with_key_type.hpp>

namespace zenith::cpu_backend {
namespace {

/// What a worker takes at a time: 64 K values, 32 groups.
constexpr std::uint64_t chunk_blocks = 32 * packed_group_blocks;

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

/// A worker's own, on a cache line that no other writes.
template <class T>
struct alignas(64) own {
  T value{};
};

}  // namespace

void unpack(const execution& on, const unpack_call& call) {
  const auto& column = call.column;
  const std::uint64_t last = call.first + call.count;
  const int workers = workers_for_blocks(on.threads, column, call.count, size_of(column.type));
  with_value_type(column.type, [&]<class T>(std::type_identity<T>) {
    auto* out = static_cast<word<T>*>(call.out);
    for_chunks(workers, call.first / packed_block_items, (last - 1) / packed_block_items + 1, chunk_blocks,
               [&](int, std::uint64_t begin, std::uint64_t end) {
                 word<T> values[packed_block_items];
                 for (auto block = begin; block < end; ++block) {
                   packed::unpack_block(column, block, values);
                   const std::uint64_t at = block * packed_block_items;
                   const std::uint64_t from = std::max(at, call.first);
                   const std::uint64_t to = std::min(at + packed_block_items, last);
                   std::memcpy(out + (from - call.first), values + (from - at), (to - from) * sizeof(T));
                 }
               });
  });
  report(call.statistics, "plain", workers);
}

void packed_sum(const execution& on, const packed_sum_call& call) {
  const auto& column = call.column;
  const int workers = workers_for_blocks(on.threads, column, column.count);
  std::vector<own<std::uint64_t>> sums(static_cast<std::size_t>(workers));
  with_value_type(column.type, [&]<class T>(std::type_identity<T>) {
    for_chunks(workers, 0, column.blocks(), chunk_blocks, [&](int worker, std::uint64_t begin, std::uint64_t end) {
      word<T> values[packed_block_items];
      std::uint64_t sum = 0;
      for (auto block = begin; block < end; ++block) {
        const unsigned items = packed::unpack_block(column, block, values);
        for (unsigned i = 0; i < items; ++i) sum += static_cast<std::uint64_t>(static_cast<T>(values[i]));
      }
      sums[static_cast<std::size_t>(worker)].value += sum;
    });
  });
  *call.sum = 0;
  for (const auto& one : sums) *call.sum += one.value;
  report(call.statistics, "plain", workers);
}

void packed_extremes(const execution& on, const packed_extremes_call& call) {
  const auto& column = call.column;
  const int workers = workers_for_blocks(on.threads, column, column.count);
  with_value_type(column.type, [&]<class T>(std::type_identity<T>) {
    struct range {
      T least = std::numeric_limits<T>::max();
      T most = std::numeric_limits<T>::min();
    };
    std::vector<own<range>> found(static_cast<std::size_t>(workers));
    for_chunks(workers, 0, column.blocks(), chunk_blocks, [&](int worker, std::uint64_t begin, std::uint64_t end) {
      word<T> values[packed_block_items];
      auto& mine = found[static_cast<std::size_t>(worker)].value;
      for (auto block = begin; block < end; ++block) {
        const unsigned items = packed::unpack_block(column, block, values);
        for (unsigned i = 0; i < items; ++i) {
          mine.least = std::min(mine.least, static_cast<T>(values[i]));
          mine.most = std::max(mine.most, static_cast<T>(values[i]));
        }
      }
    });
    range all;
    for (const auto& one : found) {
      all.least = std::min(all.least, one.value.least);
      all.most = std::max(all.most, one.value.most);
    }
    *call.minimum = static_cast<word<T>>(all.least);
    *call.maximum = static_cast<word<T>>(all.most);
  });
  report(call.statistics, "plain", workers);
}

namespace {

template <class U>
std::uint64_t select_blocks(const packed_layout& column, std::uint64_t begin, std::uint64_t end, U low, U high,
                            std::uint64_t* bitmap) {
  U values[packed_block_items];
  std::uint64_t matches = 0;
  for (auto block = begin; block < end; ++block) {
    const unsigned items = packed::unpack_block(column, block, values);
    for (unsigned word = 0; word * 64 < items; ++word) {
      std::uint64_t bits = 0;
      for (unsigned i = 0; i < 64 && word * 64 + i < items; ++i) {
        const bool within = static_cast<U>(values[word * 64 + i] - low) <= static_cast<U>(high - low);
        bits |= std::uint64_t{within} << i;
      }
      *bitmap++ = bits;
      matches += static_cast<unsigned>(__builtin_popcountll(bits));
    }
  }
  return matches;
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

void packed_select(const execution& on, const packed_select_call& call) {
  const auto& column = call.column;
  constexpr std::uint64_t block_words = packed_block_items / 64;
  const int workers = workers_for_blocks(on.threads, column, column.count);
  scratch<std::uint64_t> own_bitmap;
  std::uint64_t* bitmap = call.bitmap;
  if (bitmap == nullptr) {
    own_bitmap = scratch<std::uint64_t>(scratch_resource(on), column.blocks() * block_words);
    bitmap = own_bitmap.data();
  }
  const std::uint64_t blocks = column.blocks();
  std::vector<std::uint64_t> matches((blocks + chunk_blocks - 1) / chunk_blocks);
  for_chunks(workers, 0, blocks, chunk_blocks, [&](int, std::uint64_t begin, std::uint64_t end) {
    auto& mine = matches[begin / chunk_blocks];
    if (size_of(column.type) == 4) {
      mine = select_blocks(column, begin, end, static_cast<std::uint32_t>(call.low),
                           static_cast<std::uint32_t>(call.high), bitmap + begin * block_words);
    } else {
      mine = select_blocks(column, begin, end, call.low, call.high, bitmap + begin * block_words);
    }
  });
  std::uint64_t total = 0;
  for (auto& one : matches) one = std::exchange(total, total + one);
  *call.matches = total;
  report(call.statistics, "plain", workers);
  if (call.bitmap != nullptr || total > call.capacity) return;
  for_chunks(workers, 0, blocks, chunk_blocks, [&](int, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t* from = bitmap + begin * block_words;
    const std::uint64_t words =
        (std::min(end * packed_block_items, column.count) - begin * packed_block_items + 63) / 64;
    const std::uint64_t first = begin * packed_block_items;
    if (call.index_bytes == 4) {
      write_indices(from, words, first, static_cast<std::uint32_t*>(call.indices) + matches[begin / chunk_blocks]);
    } else {
      write_indices(from, words, first, static_cast<std::uint64_t*>(call.indices) + matches[begin / chunk_blocks]);
    }
  });
}

void packed_top_k(const execution& on, const packed_top_k_call& call) {
  const auto& column = call.column;
  const scratch<std::byte> values(scratch_resource(on), column.count * size_of(column.type));
  unpack(on, {column, memory_space::host, 0, column.count, values.data(), nullptr});
  auto inner = call.top_k;
  inner.keys = values.data();
  top_k_detail::run(on, "filter", inner, false);
}

void pack(const execution& on, const pack_call& call) {
  const int workers = workers_for(on.threads, call.count * size_of(call.type));
  const auto for_groups = [&](std::uint64_t groups, const auto& work) {
    for_chunks(workers, 0, groups, 32, [&](int, std::uint64_t begin, std::uint64_t end) {
      for (auto g = begin; g < end; ++g) work(g);
    });
  };
  size_of(call.type) == 4 ? packed::pack_groups(call, packed::plain_encoder<std::uint32_t>(call), for_groups)
                          : packed::pack_groups(call, packed::plain_encoder<std::uint64_t>(call), for_groups);
  report(call.statistics, "plain", workers);
}

}  // namespace zenith::cpu_backend

#include <cstring>

#include <algorithms/threshold_table/src/extremes.hpp>
#include <core/workers.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace

template <class T>
void write_block_extremes(const std::byte* table, const threshold_layout& of, u64 b, std::byte* to_table,
                          const extremes_layout& to) {
  const extremes_writer<T> blocks(to_table, to, of.columns);
  const auto* const begins = reinterpret_cast<const u32*>(table + of.begins);
  const auto* const ids = reinterpret_cast<const u32*>(table + of.ids);
  blocks.begin(b);
  for (u64 i = begins[b]; i < begins[b + 1]; ++i) blocks.add_id(b, ids[i]);
  for (u64 j = 0; j < of.columns; ++j) {
    const auto* const column = reinterpret_cast<const T*>(table + of.values) + j * of.row_stride;
    blocks.set(b, j, range_of_values<T>::of(column + begins[b], begins[b + 1] - begins[b]));
  }
}

// Items that are several blocks, and a backward segmented maximum over the blocks.
template <class T>
void write_directory(std::byte* table, const threshold_layout& of, int workers) {
  const extremes_writer<T> blocks(table, of.of_blocks, of.columns);
  const extremes_writer<T> groups(table, of.of_groups, of.columns);
  const extremes_writer<T> partitions(table, of.of_partitions, of.columns);
  const extremes_writer<T> behind(table, of.behind_blocks, of.columns);
  const auto* const begins = reinterpret_cast<const u32*>(table + of.partition_begins);
  constexpr u64 together = 16;  // that a worker takes at a time
  share_out(workers, (of.of_groups.count + together - 1) / together, [&](int, u64 taken) {
    const u64 end = std::min(of.of_groups.count, (taken + 1) * together);
    for (u64 g = taken * together; g < end; ++g) {
      groups.sum_up(g, blocks, g * group_blocks, std::min<u64>(of.of_blocks.count, (g + 1) * group_blocks));
    }
  });
  share_out(workers, (of.partitions + together - 1) / together, [&](int, u64 taken) {
    const u64 end = std::min(of.partitions, (taken + 1) * together);
    for (u64 p = taken * together; p < end; ++p) {
      partitions.sum_up(p, blocks, begins[p], begins[p + 1]);
      behind.sum_up_behind(blocks, begins[p], begins[p + 1]);
    }
  });
}

template <class T>
void draw_sample(table_storage& whole) {
  constexpr u64 most_rows = 1024;
  constexpr u64 most_blocks = 256;
  const auto& of = whole.layout;
  auto& to = sample_of<T>(whole);
  const u64 drawn_blocks = of.of_blocks.count < most_blocks ? of.of_blocks.count : most_blocks;
  to.rows = of.rows < most_rows ? of.rows : most_rows;
  const auto* const ids = reinterpret_cast<const u32*>(whole.data + of.ids);
  const auto* const first_ids = reinterpret_cast<const u32*>(whole.data + of.of_blocks.first_ids);
  for (u64 s = 0; s < drawn_blocks; ++s) {
    to.blocks.push_back(static_cast<u32>(s * of.of_blocks.count / drawn_blocks));
    to.first_ids.push_back(first_ids[to.blocks.back()]);
  }
  for (u64 s = 0; s < to.rows; ++s) to.ids.push_back(ids[s * of.rows / to.rows]);
  const auto* const maxima = reinterpret_cast<const T*>(whole.data + of.of_blocks.maxima);
  const auto* const minima = reinterpret_cast<const T*>(whole.data + of.of_blocks.minima);
  for (u64 j = 0; j < of.columns; ++j) {
    const auto* const column = reinterpret_cast<const T*>(whole.data + of.values) + j * of.row_stride;
    for (u64 s = 0; s < to.rows; ++s) to.values.push_back(column[s * of.rows / to.rows]);
    for (const auto b : to.blocks) {
      to.maxima.push_back(maxima[j * of.of_blocks.stride + b]);
      to.minima.push_back(minima[j * of.of_blocks.stride + b]);
    }
  }
}

template <class T>
std::shared_ptr<table_storage> arrange(const input_columns<T>& input, const arrangement& order, u32 block_rows,
                                       int workers) {
  const unfinished_table made(key_type_of<T>,
                              {input.column.size(), input.rows, input.rows, order.begins.size() - 1,
                               order.partition_begins.size() - 1, block_rows},
                              order.begins, order.partition_begins);
  const auto& of = made.storage->layout;
  auto* const ids = made.part<u32>(of.ids);
  auto* const positions = made.part<u32>(of.positions);
  auto* const values = made.part<T>(of.values);
  constexpr u64 piece = 256;  // blocks that a worker takes at a time
  share_out(workers, (of.of_blocks.count + piece - 1) / piece, [&](int, u64 taken) {
    const u64 end = std::min(of.of_blocks.count, (taken + 1) * piece);
    for (u64 i = order.begins[taken * piece]; i < order.begins[end]; ++i) {
      ids[i] = order.ids[i];
      positions[ids[i]] = static_cast<u32>(i);
    }
    for (u64 j = 0; j < of.columns; ++j) {
      T* const column = values + j * of.row_stride;
      for (u64 i = order.begins[taken * piece]; i < order.begins[end]; ++i) column[i] = input.at(j, ids[i]);
    }
    for (u64 b = taken * piece; b < end; ++b) write_block_extremes<T>(made.table, of, b, made.table, of.of_blocks);
  });
  write_directory<T>(made.table, of, workers);
  draw_sample<T>(*made.storage);
  return made.storage;
}

#define ZENITH_TABLE_OF(T)                                                                                 \
  template void write_block_extremes<T>(const std::byte* table, const threshold_layout& of, u64 b,         \
                                        std::byte* to_table, const extremes_layout& to);                   \
  template void write_directory<T>(std::byte * table, const threshold_layout& of, int workers);            \
  template void draw_sample<T>(table_storage & of);                                                        \
  template std::shared_ptr<table_storage> arrange(const input_columns<T>& input, const arrangement& order, \
                                                  u32 block_rows, int workers);
ZENITH_TABLE_OF(float)
ZENITH_TABLE_OF(double)
ZENITH_TABLE_OF(std::int32_t)
ZENITH_TABLE_OF(u32)
#undef ZENITH_TABLE_OF

}  // namespace zenith::detail

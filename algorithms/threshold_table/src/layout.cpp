#include <cstring>

#include <algorithms/threshold_table/src/storage.hpp>
#include <core/host_memory.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 line = 64;

/// Hands out places one after another, each at a multiple of a cache line.
class places {
 public:
  [[nodiscard]] u64 take(u64 bytes) {
    const u64 at = used_;
    used_ += (bytes + line - 1) / line * line;
    return at;
  }
  [[nodiscard]] u64 used() const { return used_; }

 private:
  u64 used_ = 0;
};

[[nodiscard]] u64 padded(u64 count, u64 size) {
  const u64 fit = line / size;
  return (count + fit - 1) / fit * fit;
}

[[nodiscard]] extremes_layout place_extremes(places& in, u64 count, u64 columns, u64 size) {
  extremes_layout of;
  of.count = count;
  of.stride = padded(count, size);
  of.maxima = in.take(columns * of.stride * size);
  of.minima = in.take(columns * of.stride * size);
  of.nans = in.take(count * sizeof(u64));
  of.first_ids = in.take(count * sizeof(u32));
  return of;
}

/// Zeros from the end of a part of so many bytes to the next line.
void end_part(std::byte* table, u64 at, u64 bytes) {
  if (bytes % line != 0) std::memset(table + at + bytes, 0, line - bytes % line);
}

void end_columns(std::byte* table, u64 at, u64 columns, u64 stride_bytes, u64 bytes) {
  for (u64 j = 0; j < columns; ++j) end_part(table, at + j * stride_bytes, bytes);
}

}  // namespace

threshold_layout place_table(key_type type, const table_counts& counts) {
  const u64 size = size_of(type);
  places in;
  threshold_layout of;
  of.type = type;
  of.columns = static_cast<u32>(counts.columns);
  of.block_rows = counts.block_rows;
  of.rows = counts.rows;
  of.id_limit = counts.id_limit;
  of.partitions = counts.partitions;
  of.row_stride = padded(counts.rows, size);
  of.values = in.take(counts.columns * of.row_stride * size);
  of.ids = in.take(counts.rows * sizeof(u32));
  of.positions = in.take(counts.id_limit * sizeof(u32));
  of.begins = in.take((counts.blocks + 1) * sizeof(u32));
  of.partition_begins = in.take((of.partitions + 1) * sizeof(u32));
  of.of_blocks = place_extremes(in, counts.blocks, counts.columns, size);
  of.of_groups = place_extremes(in, (counts.blocks + group_blocks - 1) / group_blocks, counts.columns, size);
  of.of_partitions = place_extremes(in, of.partitions, counts.columns, size);
  of.behind_blocks = place_extremes(in, counts.blocks, counts.columns, size);
  of.bytes = in.used();
  return of;
}

unfinished_table::unfinished_table(key_type type, const table_counts& counts, std::span<const u32> begins,
                                   std::span<const u32> partition_begins)
    : storage(std::make_shared<table_storage>()) {
  auto& of = storage->layout;
  of = place_table(type, counts);
  table = allocate(*storage, "threshold table");
  std::memcpy(table + of.begins, begins.data(), begins.size_bytes());
  std::memcpy(table + of.partition_begins, partition_begins.data(), partition_begins.size_bytes());
  const u64 size = size_of(type);
  end_columns(table, of.values, of.columns, of.row_stride * size, of.rows * size);
  end_part(table, of.ids, of.rows * sizeof(u32));
  end_part(table, of.positions, of.id_limit * sizeof(u32));
  end_part(table, of.begins, begins.size_bytes());
  end_part(table, of.partition_begins, partition_begins.size_bytes());
  for (const auto* extremes : {&of.of_blocks, &of.of_groups, &of.of_partitions, &of.behind_blocks}) {
    end_columns(table, extremes->maxima, of.columns, extremes->stride * size, extremes->count * size);
    end_columns(table, extremes->minima, of.columns, extremes->stride * size, extremes->count * size);
    end_part(table, extremes->nans, extremes->count * sizeof(u64));
    end_part(table, extremes->first_ids, extremes->count * sizeof(u32));
  }
}

}  // namespace zenith::detail

#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include <algorithms/threshold_table/src/storage.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Hands out places one after another, each at a multiple of a cache line.
class places {
 public:
  [[nodiscard]] u64 take(u64 bytes) {
    const u64 at = used_;
    used_ += (bytes + line - 1) / line * line;
    return at;
  }
  [[nodiscard]] u64 used() const { return used_; }

  static constexpr u64 line = 64;

 private:
  u64 used_ = 0;
};

[[nodiscard]] u64 padded(u64 count, u64 size) {
  const u64 line = places::line / size;
  return (count + line - 1) / line * line;
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

[[nodiscard]] threshold_layout place_all(key_type type, u64 rows, u64 columns, const arrangement& order,
                                         u32 block_rows) {
  const u64 size = size_of(type);
  const u64 blocks = order.begins.size() - 1;
  places in;
  threshold_layout of;
  of.type = type;
  of.columns = static_cast<u32>(columns);
  of.block_rows = block_rows;
  of.rows = rows;
  of.partitions = order.partition_begins.size() - 1;
  of.row_stride = padded(rows, size);
  of.values = in.take(columns * of.row_stride * size);
  of.ids = in.take(rows * sizeof(u32));
  of.positions = in.take(rows * sizeof(u32));
  of.begins = in.take((blocks + 1) * sizeof(u32));
  of.partition_begins = in.take((of.partitions + 1) * sizeof(u32));
  of.of_blocks = place_extremes(in, blocks, columns, size);
  of.of_groups = place_extremes(in, (blocks + group_blocks - 1) / group_blocks, columns, size);
  of.of_partitions = place_extremes(in, of.partitions, columns, size);
  of.behind_blocks = place_extremes(in, blocks, columns, size);
  of.bytes = in.used();
  return of;
}

/// Extremes in the table.
template <class T>
class extremes {
 public:
  extremes(std::byte* table, const extremes_layout& of, u32 columns)
      : of_(of),
        columns_(columns),
        maxima_(reinterpret_cast<T*>(table + of.maxima)),
        minima_(reinterpret_cast<T*>(table + of.minima)),
        nans_(reinterpret_cast<u64*>(table + of.nans)),
        first_ids_(reinterpret_cast<u32*>(table + of.first_ids)) {}

  void begin(u64 item) const {
    using limits = std::numeric_limits<T>;
    for (u64 j = 0; j < columns_; ++j) {
      maxima_[j * of_.stride + item] = limits::has_infinity ? -limits::infinity() : limits::lowest();
      minima_[j * of_.stride + item] = limits::has_infinity ? limits::infinity() : limits::max();
    }
    nans_[item] = 0;
    first_ids_[item] = ~u32{0};
  }
  void add_value(u64 item, u64 column, T value) const {
    if (value != value) nans_[item] |= u64{1} << column;
    T& most = maxima_[column * of_.stride + item];
    T& least = minima_[column * of_.stride + item];
    if (value > most) most = value;
    if (value < least) least = value;
  }
  void add_id(u64 item, u32 id) const {
    if (id < first_ids_[item]) first_ids_[item] = id;
  }
  /// What another one's item has.
  void add(u64 item, const extremes& other, u64 from) const {
    for (u64 j = 0; j < columns_; ++j) {
      T& most = maxima_[j * of_.stride + item];
      T& least = minima_[j * of_.stride + item];
      const T more = other.maxima_[j * other.of_.stride + from];
      const T less = other.minima_[j * other.of_.stride + from];
      if (more > most) most = more;
      if (less < least) least = less;
    }
    nans_[item] |= other.nans_[from];
    add_id(item, other.first_ids_[from]);
  }

  [[nodiscard]] T most(u64 item, u64 column) const { return maxima_[column * of_.stride + item]; }
  [[nodiscard]] T least(u64 item, u64 column) const { return minima_[column * of_.stride + item]; }

 private:
  const extremes_layout& of_;
  u32 columns_;
  T* maxima_;
  T* minima_;
  u64* nans_;
  u32* first_ids_;
};

template <class T>
void write_rows(std::byte* table, const threshold_layout& of, const input_columns<T>& input, const arrangement& order,
                const extremes<T>& blocks) {
  auto* const ids = reinterpret_cast<u32*>(table + of.ids);
  auto* const positions = reinterpret_cast<u32*>(table + of.positions);
  for (u64 i = 0; i < of.rows; ++i) {
    ids[i] = order.ids[i];
    positions[order.ids[i]] = static_cast<u32>(i);
  }
  for (u64 b = 0; b < of.of_blocks.count; ++b) {
    blocks.begin(b);
    for (u64 i = order.begins[b]; i < order.begins[b + 1]; ++i) blocks.add_id(b, ids[i]);
  }
  for (u64 j = 0; j < of.columns; ++j) {
    auto* const column = reinterpret_cast<T*>(table + of.values) + j * of.row_stride;
    for (u64 b = 0; b < of.of_blocks.count; ++b) {
      for (u64 i = order.begins[b]; i < order.begins[b + 1]; ++i) {
        column[i] = input.at(j, ids[i]);
        blocks.add_value(b, j, column[i]);
      }
    }
  }
}

/// Items that are several blocks, or a backward segmented maximum over them.
template <class T>
void write_directory(std::byte* table, const threshold_layout& of, const arrangement& order,
                     const extremes<T>& blocks) {
  const extremes<T> groups(table, of.of_groups, of.columns);
  for (u64 g = 0; g < of.of_groups.count; ++g) groups.begin(g);
  for (u64 b = 0; b < of.of_blocks.count; ++b) groups.add(b / group_blocks, blocks, b);

  const extremes<T> partitions(table, of.of_partitions, of.columns);
  const extremes<T> behind(table, of.behind_blocks, of.columns);
  for (u64 p = 0; p < of.partitions; ++p) {
    partitions.begin(p);
    for (u64 b = order.partition_begins[p + 1]; b-- > order.partition_begins[p];) {
      behind.begin(b);
      behind.add(b, partitions, p);  // all blocks after b so far
      partitions.add(p, blocks, b);
    }
  }
}

template <class T>
void draw_sample(table_sample<T>& to, const std::byte* table, const threshold_layout& of, const extremes<T>& blocks) {
  constexpr u64 most_rows = 1024;
  constexpr u64 most_blocks = 256;
  const u64 drawn_blocks = of.of_blocks.count < most_blocks ? of.of_blocks.count : most_blocks;
  to.rows = of.rows < most_rows ? of.rows : most_rows;
  for (u64 s = 0; s < drawn_blocks; ++s) to.blocks.push_back(static_cast<u32>(s * of.of_blocks.count / drawn_blocks));
  for (u64 j = 0; j < of.columns; ++j) {
    const auto* const column = reinterpret_cast<const T*>(table + of.values) + j * of.row_stride;
    for (u64 s = 0; s < to.rows; ++s) to.values.push_back(column[s * of.rows / to.rows]);
    for (const auto b : to.blocks) {
      to.maxima.push_back(blocks.most(b, j));
      to.minima.push_back(blocks.least(b, j));
    }
  }
}

}  // namespace

template <class T>
std::shared_ptr<const table_storage> arrange(const input_columns<T>& input, const arrangement& order, u32 block_rows) {
  auto made = std::make_shared<table_storage>();
  auto& of = made->layout;
  of = place_all(key_type_of<T>, input.rows, input.column.size(), order, block_rows);
  const u64 size = of.bytes > 0 ? of.bytes : places::line;
  made->bytes.reset(static_cast<std::byte*>(std::aligned_alloc(places::line, size)));
  if (made->bytes == nullptr) throw std::bad_alloc();
  std::byte* const table = made->bytes.get();
  std::memcpy(table + of.begins, order.begins.data(), order.begins.size() * sizeof(u32));
  std::memcpy(table + of.partition_begins, order.partition_begins.data(), order.partition_begins.size() * sizeof(u32));
  const extremes<T> blocks(table, of.of_blocks, of.columns);
  write_rows(table, of, input, order, blocks);
  write_directory(table, of, order, blocks);
  draw_sample(sample_of<T>(*made), table, of, blocks);
  return made;
}

template std::shared_ptr<const table_storage> arrange(const input_columns<float>& input, const arrangement& order,
                                                      u32 block_rows);
template std::shared_ptr<const table_storage> arrange(const input_columns<double>& input, const arrangement& order,
                                                      u32 block_rows);
template std::shared_ptr<const table_storage> arrange(const input_columns<std::int32_t>& input,
                                                      const arrangement& order, u32 block_rows);
template std::shared_ptr<const table_storage> arrange(const input_columns<u32>& input, const arrangement& order,
                                                      u32 block_rows);

}  // namespace zenith::detail

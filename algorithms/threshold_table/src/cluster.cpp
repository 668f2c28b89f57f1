#include <algorithm>
#include <bit>

#include <algorithms/threshold_table/src/lower_tree.hpp>
#include <algorithms/threshold_table/src/storage.hpp>
#include <algorithms/threshold_table/src/transpose.hpp>
#include <core/host_memory.hpp>
#include <core/key_order.hpp>
#include <core/workers.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A row by its value in the column of a cut. Equal values are told apart by the row, so rows that are all equal make
/// blocks of consecutive rows.
template <class T>
struct wide_key {
  ordered::bits_t<T> image;
  u32 row;

  [[nodiscard]] bool operator<(const wide_key& other) const {
    return image < other.image || (image == other.image && row < other.row);
  }
  /// As an addend, without a branch.
  [[nodiscard]] u32 reaches(const wide_key& cut) const {
    return 1U - (static_cast<u32>(image < cut.image) | (static_cast<u32>(image == cut.image) & u32{row < cut.row}));
  }
};
/// The same in one word.
struct narrow_key {
  u64 word;

  [[nodiscard]] bool operator<(const narrow_key& other) const { return word < other.word; }
  [[nodiscard]] u32 reaches(const narrow_key& cut) const { return u32{word >= cut.word}; }
};
template <class T>
using cut_key = std::conditional_t<sizeof(T) == 4, narrow_key, wide_key<T>>;

/// An order of all values, NaN and both zeros too: what is equal must not be, but it is cheap.
template <class T>
[[nodiscard]] ordered::bits_t<T> rank_of(T value) {
  using bits = ordered::bits_t<T>;
  constexpr auto sign = static_cast<bits>(bits{1} << (8 * sizeof(T) - 1));
  const auto raw = std::bit_cast<bits>(value);
  if constexpr (std::is_floating_point_v<T>) {
    return raw ^ (static_cast<bits>(static_cast<std::make_signed_t<bits>>(raw) >> (8 * sizeof(T) - 1)) | sign);
  } else {
    return std::is_signed_v<T> ? raw ^ sign : raw;
  }
}
template <class T>
[[nodiscard]] cut_key<T> make_key(T value, u64 row) {
  if constexpr (sizeof(T) == 4) {
    return {u64{rank_of(value)} << 32 | row};
  } else {
    return {rank_of(value), static_cast<u32>(row)};
  }
}
[[nodiscard]] u32 row_of(const narrow_key& key) { return static_cast<u32>(key.word); }
template <class T>
[[nodiscard]] u32 row_of(const wide_key<T>& key) {
  return key.row;
}

/// The upper levels of the k-d tree, from a sample: which rows go on together.
template <class T>
class upper_tree {
 public:
  using key = cut_key<T>;

  upper_tree(const input_columns<T>& input, unsigned levels)
      : columns_(input.column.size()), levels_(levels), nodes_(std::size_t{1} << levels) {
    constexpr std::size_t samples_of_a_leaf = 32;
    const std::size_t samples = std::min(input.rows, samples_of_a_leaf << levels);
    std::vector<key> drawn(samples);
    std::vector<u32> numbers(samples);
    for (std::size_t s = 0; s < samples; ++s) {
      numbers[s] = static_cast<u32>(s);
      rows_.push_back(static_cast<u32>(s * input.rows / samples));
    }
    for (std::size_t j = 0; j < columns_; ++j) {
      for (const u32 row : rows_) values_.push_back(input.at(j, row));
      scales_.push_back(scale_of(values_.data() + j * samples, samples, 1));
    }
    split(numbers, drawn, 1, 0);
  }

  [[nodiscard]] const std::vector<column_scale>& scales() const { return scales_; }
  [[nodiscard]] std::size_t leaves() const { return std::size_t{1} << levels_; }

  /// Rows that pass the tree together.
  static constexpr std::size_t batch = 1024;

  /// to[i] = the leaf of row first + i, for i < count <= batch. `keys`: batch a column.
  void find_leaves(const input_columns<T>& input, std::size_t first, std::size_t count, key* keys, u32* to) const {
    for (std::size_t j = 0; j < columns_; ++j) {
      key* const column = keys + j * batch;
      if (input.stride == 1) {
        const T* const values = input.column[j] + first;
        for (std::size_t i = 0; i < count; ++i) column[i] = make_key(values[i], first + i);
      } else {
        for (std::size_t i = 0; i < count; ++i) column[i] = make_key(input.at(j, first + i), first + i);
      }
    }
    // some rows at a time, so that their loads overlap; what lies behind the last row is of no use
    constexpr std::size_t together = 8;
    for (std::size_t begin = 0; begin < count; begin += together) {
      u32 at[together];
      for (u32& one : at) one = 1;
      for (unsigned level = 0; level < levels_; ++level) {
        for (std::size_t i = 0; i < together; ++i) {
          const auto& here = nodes_[at[i]];
          at[i] = 2 * at[i] + keys[here.keys + begin + i].reaches(here.cut);
        }
      }
      const std::size_t some = std::min(together, count - begin);
      for (std::size_t i = 0; i < some; ++i) to[begin + i] = at[i] - static_cast<u32>(leaves());
    }
  }

 private:
  struct node {
    key cut{};
    u32 keys = 0;  ///< of the column, in a batch
  };

  /// The column in which sampled rows differ most.
  [[nodiscard]] std::size_t widest_column(std::span<const u32> numbers) const {
    constexpr std::size_t most_looked_at = 64;
    const std::size_t looked_at = std::min(numbers.size(), most_looked_at);
    std::size_t widest = 0;
    double extent = -1;
    for (std::size_t j = 0; j < columns_; ++j) {
      const T* const values = values_.data() + j * rows_.size();
      double least = 1;
      double most = 0;
      for (std::size_t s = 0; s < looked_at; ++s) {
        const double x = scales_[j](static_cast<double>(values[numbers[s * numbers.size() / looked_at]]));
        least = std::min(least, x);
        most = std::max(most, x);
      }
      if (most - least > extent) {
        extent = most - least;
        widest = j;
      }
    }
    return widest;
  }
  void split(std::span<u32> numbers, std::span<key> drawn, std::size_t at, unsigned level) {
    if (level == levels_) return;
    auto& here = nodes_[at];
    const std::size_t column = widest_column(numbers);
    const T* const values = values_.data() + column * rows_.size();
    // the number of a sampled row tells equal values apart as the row does
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      drawn[i] = make_key(values[numbers[i]], numbers[i]);
    }
    const std::size_t middle = numbers.size() / 2;
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(middle), drawn.end());
    const u32 number = row_of(drawn[middle]);
    here = {make_key(values[number], rows_[number]), static_cast<u32>(column * batch)};
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = row_of(drawn[i]);
    split(numbers.first(middle), drawn.first(middle), 2 * at, level + 1);
    split(numbers.subspan(middle), drawn.subspan(middle), 2 * at + 1, level + 1);
  }

  std::size_t columns_;
  unsigned levels_;
  std::vector<node> nodes_;
  std::vector<u32> rows_;  ///< sampled
  std::vector<T> values_;  ///< theirs, column by column
  std::vector<column_scale> scales_;
};

/// The rows, leaf by leaf, and in a leaf by rising number.
template <class T>
struct grouped_rows {
  std::size_t stride;  ///< values from a row to the next; what is behind the columns repeats the last one
  host_bytes memory;
  T* values = nullptr;  ///< row by row
  u32* ids = nullptr;
  std::vector<u64> begins;  ///< of leaves, and the end

  grouped_rows(const input_columns<T>& input, const upper_tree<T>& tree, int workers)
      : stride(square<T>::padded(input.column.size())),
        memory(host_memory(input.rows * (stride * sizeof(T) + 2 * sizeof(u32)), "threshold table")),
        values(reinterpret_cast<T*>(memory.data.get())),
        ids(reinterpret_cast<u32*>(values + input.rows * stride)),
        begins(tree.leaves() + 1) {
    u32* const leaf_of = ids + input.rows;
    const std::size_t columns = input.column.size();
    // few enough chunks for a count a leaf each; the result does not depend on them
    const u64 chunk_rows = std::max<u64>(u64{1} << 14, (input.rows / 256 / tree.batch + 1) * tree.batch);
    const u64 chunks = (input.rows + chunk_rows - 1) / chunk_rows;
    std::vector<u32> next(chunks * tree.leaves());
    share_out(workers, chunks, [&](int, u64 chunk) {
      std::vector<typename upper_tree<T>::key> keys(tree.batch * columns);
      u32* const counts = next.data() + chunk * tree.leaves();
      const u64 end = std::min<u64>(input.rows, (chunk + 1) * chunk_rows);
      for (u64 first = chunk * chunk_rows; first < end; first += tree.batch) {
        const std::size_t count = std::min<std::size_t>(tree.batch, end - first);
        tree.find_leaves(input, first, count, keys.data(), leaf_of + first);
        for (std::size_t i = 0; i < count; ++i) ++counts[leaf_of[first + i]];
      }
    });
    u64 sum = 0;
    for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      begins[leaf] = sum;
      for (u64 chunk = 0; chunk < chunks; ++chunk) {
        u32& place = next[chunk * tree.leaves() + leaf];
        const u32 count = place;
        place = static_cast<u32>(sum);
        sum += count;
      }
    }
    begins.back() = sum;
    share_out(workers, chunks, [&](int, u64 chunk) {
      u32* const next_of = next.data() + chunk * tree.leaves();
      u32 places[upper_tree<T>::batch];
      const u64 end = std::min<u64>(input.rows, (chunk + 1) * chunk_rows);
      for (u64 first = chunk * chunk_rows; first < end; first += tree.batch) {
        const auto count = static_cast<u32>(std::min<u64>(tree.batch, end - first));
        // the places lie far apart: they are asked for some rows before they are written
        for (u32 i = 0; i < count; ++i) {
          places[i] = next_of[leaf_of[first + i]]++;
          ids[places[i]] = static_cast<u32>(first + i);
          __builtin_prefetch(values + u64{places[i]} * stride, 1);
        }
        write_rows(input, first, count, places);
      }
    });
  }

 private:
  /// Rows first … first + count - 1 to their places.
  void write_rows(const input_columns<T>& input, u64 first, u32 count, const u32* places) const {
    constexpr std::size_t side = square<T>::side;
    const std::size_t last = input.column.size() - 1;
    u32 i = 0;
    if (input.stride == 1) {
      for (; i + side <= count; i += side) {
        for (std::size_t j = 0; j < stride; j += side) {
          const T* from[side];
          T* to[side];
          for (std::size_t s = 0; s < side; ++s) {
            from[s] = input.column[std::min(j + s, last)] + first + i;
            to[s] = values + places[i + s] * stride + j;
          }
          square<T>::transpose(from, to);
        }
      }
    }
    for (; i < count; ++i) {
      for (std::size_t j = 0; j < stride; ++j) values[places[i] * stride + j] = input.at(std::min(j, last), first + i);
    }
  }
};

/// Where blocks begin: those of a leaf are full but for its last one.
struct block_places {
  std::vector<u32> begins;
  std::vector<u32> first_of_leaf;
  std::vector<u32> partition_begins;

  block_places(std::span<const u64> leaf_begins, u32 block_rows) {
    for (std::size_t leaf = 0; leaf + 1 < leaf_begins.size(); ++leaf) {
      first_of_leaf.push_back(static_cast<u32>(begins.size()));
      for (u64 at = leaf_begins[leaf]; at < leaf_begins[leaf + 1]; at += block_rows) {
        begins.push_back(static_cast<u32>(at));
      }
    }
    const auto blocks = static_cast<u32>(begins.size());
    first_of_leaf.push_back(blocks);
    begins.push_back(static_cast<u32>(leaf_begins.back()));
    for (u32 block = 0; block < blocks; block += group_blocks) partition_begins.push_back(block);
    partition_begins.push_back(blocks);
  }
};

/// Rows that begin at such places of `from`, column by column.
template <class T>
void write_columns(const T* from, std::span<const u64> places, std::size_t columns, T* to, u64 to_stride) {
  constexpr std::size_t side = square<T>::side;
  std::size_t i = 0;
  for (; i + side <= places.size(); i += side) {
    for (std::size_t j = 0; j < columns; j += side) {
      T behind[side];
      const T* rows[side];
      T* column[side];
      for (std::size_t s = 0; s < side; ++s) {
        rows[s] = from + places[i + s] + j;
        column[s] = j + s < columns ? to + (j + s) * to_stride + i : behind;
      }
      square<T>::transpose(rows, column);
    }
  }
  for (; i < places.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) to[j * to_stride + i] = from[places[i] + j];
  }
}

}  // namespace

template <class T>
std::shared_ptr<table_storage> build_clusters(const input_columns<T>& input, u32 block_rows, int workers) {
  // what the lower tree takes at a time; a leaf has one block that is not full
  const std::size_t leaf_rows = std::max<std::size_t>(8192, std::size_t{64} * block_rows);
  const auto levels = static_cast<unsigned>(std::bit_width(input.rows / leaf_rows));
  const upper_tree<T> upper(input, levels);
  const grouped_rows<T> rows(input, upper, workers);
  const block_places blocks(rows.begins, block_rows);
  const std::size_t columns = input.column.size();
  const unfinished_table made(
      key_type_of<T>,
      {columns, input.rows, input.rows, blocks.begins.size() - 1, blocks.partition_begins.size() - 1, block_rows},
      blocks.begins, blocks.partition_begins);
  const auto& of = made.storage->layout;
  auto* const ids = made.part<u32>(of.ids);
  auto* const positions = made.part<u32>(of.positions);
  auto* const values = made.part<T>(of.values);
  std::vector<lower_tree<T>> trees(static_cast<std::size_t>(workers), lower_tree<T>(upper.scales(), block_rows));
  share_out(workers, upper.leaves(), [&](int worker, u64 leaf) {
    const u64 first = rows.begins[leaf];
    const T* const from = rows.values + first * rows.stride;
    u64 places[most_block_rows];
    const auto order =
        trees[static_cast<std::size_t>(worker)].order(from, static_cast<u32>(rows.begins[leaf + 1] - first));
    const u32 end_block = blocks.first_of_leaf[leaf + 1];
    for (u32 b = blocks.first_of_leaf[leaf]; b < end_block; ++b) {
      const u64 begin = blocks.begins[b];
      const auto count = static_cast<u32>(blocks.begins[b + 1] - begin);
      const u64* const here = order.data() + (begin - first);
      const u32* const leaf_ids = rows.ids + first;
      // the next block's places are asked for while this one is written: they are far apart
      if (b + 1 < end_block) {
        const u64 next_end = blocks.begins[b + 2];
        for (u64 i = begin + count; i < next_end; ++i) {
          __builtin_prefetch(positions + leaf_ids[static_cast<u32>(order[i - first])], 1);
        }
        for (u64 j = 0; j < columns; ++j) {
          const T* const column = values + j * of.row_stride;
          for (u64 i = begin + count; i < next_end; i += 64 / sizeof(T)) __builtin_prefetch(column + i, 1);
        }
      }
      for (u32 i = 0; i < count; ++i) {
        const u32 id = leaf_ids[static_cast<u32>(here[i])];
        ids[begin + i] = id;
        positions[id] = static_cast<u32>(begin + i);
        places[i] = static_cast<u32>(here[i]) * rows.stride;
      }
      write_columns(from, std::span<const u64>(places, count), columns, values + begin, of.row_stride);
      write_block_extremes<T>(made.table, of, b, made.table, of.of_blocks);
    }
  });
  write_directory<T>(made.table, of);
  draw_sample<T>(*made.storage);
  return made.storage;
}

#define ZENITH_CLUSTERS_OF(T) \
  template std::shared_ptr<table_storage> build_clusters(const input_columns<T>& input, u32 block_rows, int workers);
ZENITH_CLUSTERS_OF(float)
ZENITH_CLUSTERS_OF(double)
ZENITH_CLUSTERS_OF(std::int32_t)
ZENITH_CLUSTERS_OF(u32)
#undef ZENITH_CLUSTERS_OF

}  // namespace zenith::detail

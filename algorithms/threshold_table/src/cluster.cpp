#include <algorithm>
#include <bit>

#include <algorithms/threshold_table/src/storage.hpp>
#include <core/key_order.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;

/// A row by its value in the column of a split. Equal values are told apart by the row, so rows that are all equal make
/// blocks of consecutive rows.
template <class T>
struct split_key {
  ordered::bits_t<T> image;
  u32 row;

  [[nodiscard]] bool operator<(const split_key& other) const {
    return image < other.image || (image == other.image && row < other.row);
  }
};

/// The column in which rows differ most. `value(j, i)` for i < count.
template <class Value>
std::size_t widest_column(const std::vector<column_scale>& scales, std::size_t count, const Value& value) {
  constexpr std::size_t most_looked_at = 64;
  const std::size_t looked_at = std::min(count, most_looked_at);
  std::size_t widest = 0;
  double extent = -1;
  for (std::size_t j = 0; j < scales.size(); ++j) {
    double least = 1;
    double most = 0;
    for (std::size_t s = 0; s < looked_at; ++s) {
      const double x = scales[j](static_cast<double>(value(j, s * count / looked_at)));
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

/// The upper levels of the k-d tree, from a sample: which rows go on together. Every row passes it once, in the order
/// of the input.
template <class T>
class upper_tree {
 public:
  upper_tree(const input_columns<T>& input, const std::vector<column_scale>& scales, unsigned levels)
      : input_(input), scales_(scales), levels_(levels), nodes_(std::size_t{1} << levels) {
    constexpr std::size_t samples_of_a_leaf = 32;
    const std::size_t samples = std::min(input.rows, samples_of_a_leaf << levels);
    std::vector<split_key<T>> drawn(samples);
    for (std::size_t s = 0; s < samples; ++s) drawn[s].row = static_cast<u32>(s * input.rows / samples);
    split(drawn, 1, 0);
  }

  [[nodiscard]] std::size_t leaf_of(u32 row) const {
    std::size_t at = 1;
    for (unsigned level = 0; level < levels_; ++level) {
      const auto& here = nodes_[at];
      at = 2 * at + (key(here.column, row) < here.cut ? 0 : 1);
    }
    return at - (std::size_t{1} << levels_);
  }

 private:
  struct node {
    std::size_t column = 0;
    split_key<T> cut{};
  };

  [[nodiscard]] split_key<T> key(std::size_t column, u32 row) const {
    return {ordered::key_order<T>{}.image(input_.at(column, row)), row};
  }
  void split(std::span<split_key<T>> drawn, std::size_t at, unsigned level) {
    if (level == levels_) return;
    auto& here = nodes_[at];
    here.column =
        widest_column(scales_, drawn.size(), [&](std::size_t j, std::size_t i) { return input_.at(j, drawn[i].row); });
    for (auto& one : drawn) one = key(here.column, one.row);
    const std::size_t middle = drawn.size() / 2;
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(middle), drawn.end());
    here.cut = drawn[middle];
    split(drawn.first(middle), 2 * at, level + 1);
    split(drawn.subspan(middle), 2 * at + 1, level + 1);
  }

  const input_columns<T>& input_;
  const std::vector<column_scale>& scales_;
  unsigned levels_;
  std::vector<node> nodes_;
};

/// The lower levels: a leaf of the upper tree, whose rows fit a cache, cut into full blocks and one that may be less.
template <class T>
class lower_tree {
 public:
  lower_tree(const input_columns<T>& input, const std::vector<column_scale>& scales, u32 block_rows, arrangement& to)
      : input_(input), scales_(scales), block_rows_(block_rows), to_(to), values_(scales.size()) {}

  void add(std::span<const u32> rows) {
    rows_ = rows;
    keys_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) keys_[i].row = static_cast<u32>(i);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      values_[j].resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) values_[j][i] = input_.at(j, rows[i]);
    }
    if (!rows.empty()) split(keys_);
  }

 private:
  void split(std::span<split_key<T>> part) {
    if (part.size() <= block_rows_) {
      to_.begins.push_back(static_cast<u32>(to_.ids.size()));
      for (const auto& one : part) to_.ids.push_back(rows_[one.row]);
      return;
    }
    const auto& column = values_[widest_column(scales_, part.size(),
                                               [&](std::size_t j, std::size_t i) { return values_[j][part[i].row]; })];
    for (auto& one : part) one.image = ordered::key_order<T>{}.image(column[one.row]);
    const std::size_t blocks = (part.size() + block_rows_ - 1) / block_rows_;
    const std::size_t middle = blocks / 2 * block_rows_;
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(middle), part.end());
    split(part.first(middle));
    split(part.subspan(middle));
  }

  const input_columns<T>& input_;
  const std::vector<column_scale>& scales_;
  u32 block_rows_;
  arrangement& to_;
  std::span<const u32> rows_;
  std::vector<std::vector<T>> values_;
  std::vector<split_key<T>> keys_;
};

}  // namespace

template <class T>
arrangement cluster(const input_columns<T>& input, u32 block_rows) {
  const auto scales = scales_of(input);
  // what the lower tree takes at a time; a leaf has one block that is not full
  const std::size_t leaf_rows = std::max<std::size_t>(8192, std::size_t{64} * block_rows);
  const auto levels = static_cast<unsigned>(std::bit_width(input.rows / leaf_rows));
  const upper_tree<T> upper(input, scales, levels);
  std::vector<u32> leaf(input.rows);
  std::vector<u32> begins((std::size_t{1} << levels) + 1);
  for (std::size_t row = 0; row < input.rows; ++row) {
    leaf[row] = static_cast<u32>(upper.leaf_of(static_cast<u32>(row)));
    ++begins[leaf[row] + 1];
  }
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::vector<u32> rows(input.rows);
  auto next = begins;
  for (std::size_t row = 0; row < input.rows; ++row) rows[next[leaf[row]]++] = static_cast<u32>(row);

  arrangement made;
  made.ids.reserve(input.rows);
  lower_tree<T> lower(input, scales, block_rows, made);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    lower.add(std::span<const u32>(rows).subspan(begins[i], begins[i + 1] - begins[i]));
  }
  for (std::size_t block = 0; block < made.begins.size(); block += group_blocks) {
    made.partition_begins.push_back(static_cast<u32>(block));
  }
  made.partition_begins.push_back(static_cast<u32>(made.begins.size()));
  made.begins.push_back(static_cast<u32>(made.ids.size()));
  return made;
}

template arrangement cluster(const input_columns<float>& input, u32 block_rows);
template arrangement cluster(const input_columns<double>& input, u32 block_rows);
template arrangement cluster(const input_columns<std::int32_t>& input, u32 block_rows);
template arrangement cluster(const input_columns<std::uint32_t>& input, u32 block_rows);

}  // namespace zenith::detail

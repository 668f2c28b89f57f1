#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include <algorithms/threshold_table/src/storage.hpp>

namespace zenith::detail {
namespace {

using u32 = std::uint32_t;

/// Where partitions of a list of rows begin, and its end.
struct partitioned_rows {
  std::vector<u32> rows;
  std::vector<u32> begins;
};

partitioned_rows by_position(std::size_t rows, std::size_t partitions) {
  partitioned_rows made;
  made.rows.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) made.rows[i] = static_cast<u32>(i);
  for (std::size_t p = 0; p <= partitions; ++p) made.begins.push_back(static_cast<u32>(p * rows / partitions));
  return made;
}

/// tan(phi) of equation 4, from the corner of the columns' maxima: angle j of row i at [j * rows + i].
template <class T>
std::vector<float> angles_of(const input_columns<T>& input) {
  std::vector<column_scale> scales;
  for (const T* column : input.column) scales.push_back(scale_of(column, input.rows, input.stride));
  const std::size_t columns = input.column.size();
  std::vector<float> angles((columns - 1) * input.rows);
  for (std::size_t i = 0; i < input.rows; ++i) {
    const auto below = [&](std::size_t j) { return 1 - scales[j](static_cast<double>(input.at(j, i))); };
    double squares = 0;  // of the columns behind j
    for (std::size_t j = columns - 1; j > 0; --j) {
      squares += below(j) * below(j);
      const double before = below(j - 1);
      angles[(j - 1) * input.rows + i] = squares == 0 ? 0.0F : static_cast<float>(std::sqrt(squares) / before);
    }
  }
  return angles;
}

/// Of all rows: splits at medians, until there are so many partitions: a power of two.
class median_splits {
 public:
  median_splits(const std::vector<float>& angles, std::size_t rows, partitioned_rows& to)
      : angles_(angles), count_(angles.size() / rows), rows_(rows), to_(to) {
    to_.rows.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) to_.rows[i] = static_cast<u32>(i);
  }

  void split(std::size_t begin, std::size_t end, std::size_t partitions, std::size_t level) {
    if (partitions == 1) {
      to_.begins.push_back(static_cast<u32>(begin));
      return;
    }
    const float* const angle = angles_.data() + level % count_ * rows_;
    const auto at = [&](std::size_t i) { return to_.rows.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t middle = begin + (end - begin) / 2;
    std::nth_element(at(begin), at(middle), at(end),
                     [&](u32 a, u32 b) { return angle[a] < angle[b] || (angle[a] == angle[b] && a < b); });
    split(begin, middle, partitions / 2, level + 1);
    split(middle, end, partitions / 2, level + 1);
  }

 private:
  const std::vector<float>& angles_;
  std::size_t count_;
  std::size_t rows_;
  partitioned_rows& to_;
};

partitioned_rows by_medians(const std::vector<float>& angles, std::size_t rows, std::size_t partitions) {
  partitioned_rows made;
  median_splits(angles, rows, made).split(0, rows, partitions, 0);
  made.begins.push_back(static_cast<u32>(rows));
  return made;
}

/// A grid of equal angles: the cells of all rows, and then the rows by cell. A cell's number has a bit for each split,
/// so cells that are near one another have partitions near one another.
partitioned_rows by_grid(const std::vector<float>& angles, std::size_t rows, std::size_t partitions) {
  const auto levels = static_cast<std::size_t>(std::countr_zero(partitions));
  const std::size_t used = std::min(levels, angles.size() / rows);
  std::vector<u32> cells(rows);
  std::vector<u32> begins(partitions + 1);
  std::vector<double> place(used);  // of a row's angles, as shares of what is left to split
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < used; ++j) {
      constexpr double of_right_angle = 2 / std::numbers::pi;
      place[j] = std::atan(static_cast<double>(angles[j * rows + i])) * of_right_angle;
    }
    for (std::size_t level = 0; level < levels; ++level) {
      double& share = place[level % used];
      share *= 2;
      const bool is_above = share >= 1;
      if (is_above) share -= 1;
      cells[i] = 2 * cells[i] + (is_above ? 1 : 0);
    }
    ++begins[cells[i] + 1];
  }
  for (std::size_t p = 0; p < partitions; ++p) begins[p + 1] += begins[p];
  partitioned_rows made{std::vector<u32>(rows), begins};
  for (std::size_t i = 0; i < rows; ++i) made.rows[begins[cells[i]]++] = static_cast<u32>(i);
  return made;
}

template <class T>
partitioned_rows by_angle(const input_columns<T>& input, std::size_t partitions, angle_splits splits) {
  const auto angles = angles_of(input);
  return splits == angle_splits::regular ? by_grid(angles, input.rows, partitions)
                                         : by_medians(angles, input.rows, partitions);
}

/// What a partition is ordered by; NaN counts as the least.
template <class T>
double rank_of(const input_columns<T>& input, const table_options& options, std::size_t row) {
  constexpr double least = -std::numeric_limits<double>::infinity();
  double rank = options.order == table_order::largest_attribute ? least : 0;
  for (std::size_t j = 0; j < input.column.size(); ++j) {
    const auto value = static_cast<double>(input.at(j, row));
    switch (options.order) {
      case table_order::largest_attribute: rank = value > rank ? value : rank; break;
      case table_order::sum: rank += value; break;
      case table_order::weighted_sum: rank += options.order_weights[j] * value; break;
    }
  }
  return rank == rank ? rank : least;
}

}  // namespace

template <class T>
arrangement partition(const input_columns<T>& input, const table_options& options) {
  arrangement made;
  const std::size_t most = std::max<std::size_t>(1, input.rows / options.block_rows);
  std::size_t count = std::min<std::size_t>(options.partitions, most);
  const bool has_angles = options.partitioning == table_partitioning::angle && input.column.size() > 1;
  if (has_angles) {
    count = std::bit_ceil(count);
    if (count > most) count /= 2;
  }
  auto rows = has_angles && input.rows > 0 ? by_angle(input, count, options.splits) : by_position(input.rows, count);

  struct ranked_row {
    double rank;
    u32 row;
  };
  std::vector<ranked_row> ranked;
  for (std::size_t p = 0; p + 1 < rows.begins.size(); ++p) {
    const std::size_t begin = rows.begins[p];
    const std::size_t end = rows.begins[p + 1];
    if (begin == end) continue;
    ranked.resize(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      ranked[i - begin] = {rank_of(input, options, rows.rows[i]), rows.rows[i]};
    }
    std::ranges::sort(ranked, [](const ranked_row& a, const ranked_row& b) {
      return a.rank > b.rank || (a.rank == b.rank && a.row < b.row);
    });
    made.partition_begins.push_back(static_cast<u32>(made.begins.size()));
    for (std::size_t i = begin; i < end; i += options.block_rows) made.begins.push_back(static_cast<u32>(i));
    for (std::size_t i = begin; i < end; ++i) rows.rows[i] = ranked[i - begin].row;
  }
  made.partition_begins.push_back(static_cast<u32>(made.begins.size()));
  made.begins.push_back(static_cast<u32>(input.rows));
  made.ids = std::move(rows.rows);
  return made;
}

template arrangement partition(const input_columns<float>& input, const table_options& options);
template arrangement partition(const input_columns<double>& input, const table_options& options);
template arrangement partition(const input_columns<std::int32_t>& input, const table_options& options);
template arrangement partition(const input_columns<std::uint32_t>& input, const table_options& options);

}  // namespace zenith::detail

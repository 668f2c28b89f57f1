#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <type_traits>

#include <algorithms/threshold_table/src/storage.hpp>

namespace zenith::detail {
namespace {

/// What scores of values are computed in, as near as the cost model needs them: of a short call the sample takes a good
/// part, and a register holds twice as many floats.
template <class T>
using score_type = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// Scores of sampled items. NaN counts as the least.
template <class T, class Column>
std::vector<score_type<T>> scores_of(std::size_t count, std::span<const std::uint32_t> columns,
                                     std::span<const double> weights, const Column& column) {
  using score = score_type<T>;
  std::vector<score> scores(count);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const T* const values = column(j);
    const auto weight = static_cast<score>(weights[j]);
    for (std::size_t i = 0; i < count; ++i) scores[i] += static_cast<score>(values[i]) * weight;
  }
  for (auto& one : scores) one = one == one ? one : -std::numeric_limits<score>::infinity();
  return scores;
}

/// In several lanes, which a compiler makes a vector of: one after the other each comparison waits for the last.
template <class Score>
Score greatest_of(std::span<const Score> scores) {
  constexpr std::size_t lanes = 16;
  Score best[lanes];
  std::ranges::fill(best, -std::numeric_limits<Score>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= scores.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      best[lane] = scores[i + lane] > best[lane] ? scores[i + lane] : best[lane];
    }
  }
  for (; i < scores.size(); ++i) best[0] = std::max(best[0], scores[i]);
  return std::ranges::max(best);
}

template <class Score>
Score rank_in(const std::vector<Score>& scores, std::size_t rank) {
  if (scores.size() < rank) return -std::numeric_limits<Score>::infinity();
  if (rank == 1) return greatest_of(std::span<const Score>(scores));
  auto parted = scores;
  const auto at = parted.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(parted.begin(), at, parted.end(), std::greater<>{});
  return *at;
}

/// The ids of some rows with a score, in rising order.
template <class Score>
std::vector<std::uint32_t> tied_ids(const std::vector<Score>& scores, Score tied, const std::uint32_t* ids) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == tied) found.push_back(ids[i]);
  }
  return found;
}

/// The id of the last of the `wanted` best among sampled rows that tie: those with the lowest ids are the best.
/// `wanted` may be a fraction; below 1 the id is scaled. Infinite where the sample has fewer.
double id_at(std::vector<std::uint32_t> ids, double wanted) {
  if (ids.empty() || wanted > static_cast<double>(ids.size())) return std::numeric_limits<double>::infinity();
  const auto at = static_cast<std::size_t>(std::ceil(std::max(wanted, 1.0))) - 1;
  std::ranges::nth_element(ids, ids.begin() + static_cast<std::ptrdiff_t>(at));
  return static_cast<double>(ids[at]) * std::min(wanted, 1.0);
}

template <class T>
double share_of(const table_storage& table, std::span<const std::uint32_t> columns, std::span<const double> weights,
                std::uint64_t k) {
  const auto& of = table.layout;
  const auto& sample = sample_of<T>(table);
  const std::size_t blocks = sample.blocks.size();
  const auto bounds = scores_of<T>(blocks, columns, weights, [&](std::size_t j) {
    return (weights[j] > 0 ? sample.maxima : sample.minima).data() + columns[j] * blocks;
  });
  // The k-th best of all is hardly below what stands at the same share of the sample. Where the sample has some of the
  // k best by chance, it has a few more or less: a threshold that is too high would promise that most blocks are
  // stopped.
  const auto same_share = static_cast<std::size_t>((k * sample.rows + of.rows - 1) / of.rows);
  const double of_all = static_cast<double>(sample.rows) / static_cast<double>(of.rows);
  const double wanted_rows = static_cast<double>(k) * of_all;
  const double chance = std::sqrt(wanted_rows * (1 - of_all));
  const auto with_chance = static_cast<std::size_t>(std::lround(wanted_rows + chance));
  const std::size_t rank = std::min(std::max(same_share, with_chance), sample.rows);
  // The k-th best of all is the farther above the sample's best row the more rows there are, so that fewer blocks reach
  // it: measured on 800 queries of 2^16 to 2^24 rows, five distributions.
  constexpr double correction = 0.07;
  const double seen = static_cast<double>(sample.rows) * static_cast<double>(k);
  const auto scores = scores_of<T>(sample.rows, columns, weights,
                                   [&](std::size_t j) { return sample.values.data() + columns[j] * sample.rows; });
  score_type<T> threshold = rank_in(scores, std::max<std::size_t>(rank, 1));
  // and not below the k-th best of the rows of any block
  const auto highest = greatest_of(std::span<const score_type<T>>(bounds));
  const bool has_ids = !sample.ids.empty();
  auto best = static_cast<std::size_t>(std::ranges::find(bounds, highest) - bounds.begin());
  for (std::size_t b = best + 1; has_ids && b < blocks; ++b) {
    if (bounds[b] == highest && sample.first_ids[b] < sample.first_ids[best]) best = b;
  }
  std::vector<score_type<T>> of_best;
  const auto raise = [&](std::size_t rows, const auto& column) {
    if (rows < k) return;
    of_best = scores_of<T>(rows, columns, weights, column);
    threshold = std::max(threshold, rank_in(of_best, static_cast<std::size_t>(k)));
  };
  if (table.data == nullptr) {
    raise(sample.block_counts[best],
          [&](std::size_t j) { return sample.block_values.data() + (columns[j] * blocks + best) * sample.block_rows; });
  } else {
    const auto* const begins = reinterpret_cast<const std::uint32_t*>(table.data + of.begins);
    const auto* const values = reinterpret_cast<const T*>(table.data + of.values);
    const std::uint32_t first = begins[sample.blocks[best]];
    raise(begins[sample.blocks[best] + 1] - first,
          [&](std::size_t j) { return values + columns[j] * of.row_stride + first; });
  }
  const auto above = std::ranges::count_if(bounds, [&](auto bound) { return bound > threshold; });
  auto tied = static_cast<double>(std::ranges::count(bounds, threshold));
  if (tied > 0 && has_ids) {
    // The blocks that have one of these: bounds carry the lowest id of the block.
    const auto wanted_of = [&](const auto& some, double rows) {
      return rows - static_cast<double>(std::ranges::count_if(some, [&](auto one) { return one > threshold; }));
    };
    double last_id = id_at(tied_ids(scores, threshold, sample.ids.data()),
                           std::max(wanted_of(scores, wanted_rows + chance), std::min(1.0, wanted_rows + chance)));
    if (!of_best.empty() && table.data != nullptr) {
      const auto* const begins = reinterpret_cast<const std::uint32_t*>(table.data + of.begins);
      const auto* const ids = reinterpret_cast<const std::uint32_t*>(table.data + of.ids);
      last_id = std::min(last_id, id_at(tied_ids(of_best, threshold, ids + begins[sample.blocks[best]]),
                                        wanted_of(of_best, static_cast<double>(k))));
    }
    std::size_t reached = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      reached += bounds[b] == threshold && static_cast<double>(sample.first_ids[b]) <= last_id ? 1 : 0;
    }
    tied = static_cast<double>(reached);
  } else if (tied > 0) {
    // Of rows with the threshold's score the k with the lowest ids are enough: few blocks have one of these.
    const double tied_rows = static_cast<double>(std::ranges::count(scores, threshold)) * static_cast<double>(of.rows) /
                             static_cast<double>(sample.rows);
    const double wanted = static_cast<double>(k) * static_cast<double>(of.block_rows);
    tied *= tied_rows > wanted ? wanted / tied_rows : 1;
  }
  const double share = (static_cast<double>(above) + tied + 0.5) / (static_cast<double>(blocks) + 0.5);
  return std::pow(share, 1 + correction * std::max(0.0, std::log2(static_cast<double>(of.rows) / seen)));
}

}  // namespace

double expected_share(const table_storage& table, std::span<const std::uint32_t> columns,
                      std::span<const double> weights, std::uint64_t k) {
  if (k == 0 || table.layout.rows == 0) return 1;
  switch (table.layout.type) {
    case key_type::float32: return share_of<float>(table, columns, weights, k);
    case key_type::float64: return share_of<double>(table, columns, weights, k);
    case key_type::int32: return share_of<std::int32_t>(table, columns, weights, k);
    default: return share_of<std::uint32_t>(table, columns, weights, k);
  }
}

}  // namespace zenith::detail

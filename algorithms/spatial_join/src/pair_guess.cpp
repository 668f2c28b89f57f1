#include <algorithms/spatial_join/src/pair_guess.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include <algorithms/spatial_join/geometry.hpp>
#include <algorithms/spatial_join/nearest_places.hpp>
#include <algorithms/spatial_join/usual_extents.hpp>
#include <core/device/plain_team.hpp>
#include <core/key_order.hpp>

namespace zenith::detail {
namespace {

namespace family = spatial_join_family;

/// Of some values, the share that equals one of them; 0 where so few do that they may be all there are.
double share_of(std::span<const double> values, double one) {
  constexpr std::ptrdiff_t some = 4;
  const auto count = std::ranges::count(values, one);
  return count < some ? 0 : static_cast<double>(count) / static_cast<double>(values.size());
}

/// Pearson's; 0 where one side's values are all the same.
double correlation_of(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double together = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    together += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  const double both = std::sqrt(square_a) * std::sqrt(square_b);
  return both > 0 ? together / both : 0;
}

/// Some rows of one side: coordinates, and scores where it has them.
template <class T>
struct side_sample {
  static constexpr std::size_t rows = 128;

  std::array<std::array<T, rows>, 3> at{};
  std::array<double, rows> scores{};

  /// Of a right side other rows are drawn: a side that is joined with itself would meet the same points.
  side_sample(const spatial_points& from, bool is_right) {
    std::array<std::size_t, rows> row;
    const std::size_t first = is_right ? rows : 0;
    for (std::size_t i = 0; i < rows; ++i) row[i] = family::sampled_row(first + i, from.rows);
    const auto draw = [&row]<class To>(const void* values, std::array<To, rows>& to) {
      for (std::size_t i = 0; i < rows; ++i) to[i] = static_cast<To>(static_cast<const T*>(values)[row[i]]);
    };
    for (std::size_t a = 0; a < from.columns.size(); ++a) draw(from.columns[a], at[a]);
    if (from.scores != nullptr) draw(from.scores, scores);
  }
};

/// What the i-th point of a sample meets in another one: how many are near it, how many are tested, and the nearest
/// with the square of its distance.
template <class T>
struct sampled_partners {
  std::uint32_t near = 0;
  std::uint32_t tested = 0;
  std::size_t nearest = 0;
  T nearest_squared = 0;

  // plain loops without a branch, which a compiler makes vectors of
  sampled_partners(const side_sample<T>& of, std::size_t i, const side_sample<T>& in, T distance,
                   const std::array<T, 3>& reach) {
    using bits = ordered::bits_t<T>;
    constexpr bits places = side_sample<T>::rows - 1;
    static_assert(std::has_single_bit(side_sample<T>::rows));
    const T most = distance * distance;
    bits least = ~bits{0};
    for (std::uint32_t j = 0; j < side_sample<T>::rows; ++j) {
      const T x = of.at[0][i] - in.at[0][j];
      const T y = of.at[1][i] - in.at[1][j];
      const T z = of.at[2][i] - in.at[2][j];
      const T squared = x * x + y * y + z * z;
      near += squared <= most ? 1 : 0;
      const bool is_around = std::abs(x) <= reach[0] && std::abs(y) <= reach[1] && std::abs(z) <= reach[2];
      tested += is_around ? 1 : 0;
      // the bits of a number that is not negative rise with it; the last ones say where it stands
      const bits placed = (std::bit_cast<bits>(squared) & ~places) | j;
      least = placed < least ? placed : least;
    }
    nearest = static_cast<std::size_t>(least & places);
    nearest_squared = std::bit_cast<T>(least & ~places);
  }
};

/// Places of some rows of one side. Of the right side those that say where its cells are; of the left side others, for
/// a side that is joined with itself.
template <class T, unsigned D>
struct side_places {
  static constexpr std::uint32_t most = family::most_place_samples;

  std::array<std::array<T, most>, D> at;
  std::uint32_t count = 0;

  side_places() = default;
  side_places(const spatial_points& from, bool is_right)
      : count(family::sample_groups(from.rows) * family::sample_group) {
    const std::uint64_t first = is_right || from.rows <= most ? 0 : most;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t row = family::grouped_row(first + i, from.rows);
      for (unsigned a = 0; a < D; ++a) at[a][i] = static_cast<const T*>(from.columns[a])[row];
    }
  }
  [[nodiscard]] family::sampled_extents<T, D> extents() const {
    std::array<T, std::size_t{2} * D * family::most_sample_groups> scratch;
    const device::plain_team<std::type_identity> team(0, 0, 0, nullptr);
    return family::extents_of_samples<T, D>(team, count / family::sample_group, scratch.data(),
                                            [&](unsigned a, std::uint32_t i) { return at[a][i]; });
  }
  /// As find_places finds it, by fewer samples: a choice must not take long.
  [[nodiscard]] family::sampled_places<T, D> where(const family::side_extents<T, D>& usual) const {
    constexpr std::uint32_t asked = 32;
    constexpr std::uint32_t others = 256;
    std::array<T, asked> squared;
    const device::plain_team<std::type_identity> team(0, 0, 0, nullptr);
    const std::uint32_t some = std::min(count, others);
    const auto nearest = family::nearest_of<T, D>(
        team, std::min(count, asked), [&](unsigned a, std::uint32_t i) { return at[a][i]; }, at[0].data(), some,
        squared.data());
    return {usual, nearest, some};
  }
  /// Those beyond the cells, put on their border, but for what is beyond reach of all points there.
  [[nodiscard]] side_places beyond(const family::side_extents<T, D>& cells, const family::side_extents<T, D>& all,
                                   T reach) const {
    side_places far;
    for (std::uint32_t i = 0; i < count; ++i) {
      bool is_far = false;
      bool is_in_reach = true;
      for (unsigned a = 0; a < D; ++a) {
        const T x = at[a][i];
        far.at[a][far.count] = std::max(cells.low[a], std::min(x, cells.high[a]));
        is_far = is_far || x < cells.low[a] || x > cells.high[a];
        is_in_reach = is_in_reach && x + reach >= all.low[a] && x - reach <= all.high[a];
      }
      far.count += is_far && is_in_reach ? 1 : 0;
    }
    return far;
  }
};

/// What is expected of a join's grid.
template <class T>
struct grid_guess {
  double share_if_even = 0;    ///< of pairs within the distance, of points spread evenly
  std::array<T, 3> reach{};    ///< how far from a point the others are that it is tested with, on average
  double share_of_border = 0;  ///< of pairs of points that lie beyond the cells and are in the same one at the border
  double share_of_others = 0;  ///< of pairs of points that are tested since cells share a number
};

template <class T, unsigned D>
grid_guess<T> guess_grid(const spatial_arguments& given, double distance) {
  const side_places<T, D> left(given.left, false);
  const side_places<T, D> right(given.right, true);
  const T rounded = static_cast<T>(distance);
  const T reach = family::reach_of(rounded * rounded);
  const auto extents = right.extents();
  const auto& all = extents.all;
  const auto& usual = extents.usual;
  const auto where = [&] { return right.where(usual); };
  const auto grid = family::make_grid_for<T, D>(static_cast<double>(given.right.rows), all, rounded * rounded, reach,
                                                static_cast<double>(family::most_cells(given.right.rows)), where);
  grid_guess<T> guess;
  guess.share_if_even = family::share_if_even(left.extents().usual, usual, reach);
  guess.share_of_others = grid.is_periodic() ? 1.0 / grid.period : 0;
  for (unsigned a = 0; a < D; ++a) {
    const bool is_one = grid.inverse[a] == 0;
    guess.share_of_others *= 1 + 2 * static_cast<double>(rounded * grid.inverse[a]);
    guess.reach[a] = is_one ? std::numeric_limits<T>::infinity() : rounded + T{1} / (2 * grid.inverse[a]);
  }
  auto spread = all;
  bool has_far = false;
  for (unsigned a = 0; a < D; ++a) {
    if (grid.inverse[a] == 0) continue;
    spread.low[a] = std::max(all.low[a], grid.origin[a] + grid.first_cell[a] / grid.inverse[a]);
    spread.high[a] = std::min(all.high[a], grid.origin[a] + (grid.last_cell[a] + 1) / grid.inverse[a]);
    has_far = has_far || all.low[a] < spread.low[a] || all.high[a] > spread.high[a];
  }
  if (!has_far) return guess;
  const auto far = right.beyond(spread, all, reach);
  const auto others = left.beyond(spread, all, reach);
  std::uint32_t tested = 0;
  for (std::uint32_t i = 0; i < others.count; ++i) {
    for (std::uint32_t j = 0; j < far.count; ++j) {
      bool is_around = true;
      for (unsigned a = 0; a < D; ++a) is_around &= std::abs(others.at[a][i] - far.at[a][j]) <= guess.reach[a];
      tested += is_around ? 1 : 0;
    }
  }
  guess.share_of_border = double{1} * tested / left.count / right.count;
  return guess;
}

template <class T>
pair_guess sampled_pairs(const spatial_arguments& given, double distance) {
  constexpr std::size_t samples = side_sample<T>::rows;
  const side_sample<T> left(given.left, false);
  const side_sample<T> right(given.right, true);
  const auto grid =
      given.left.columns.size() == 3 ? guess_grid<T, 3>(given, distance) : guess_grid<T, 2>(given, distance);
  double near = 0;
  double tested = 0;
  std::array<double, samples> partner_scores{};
  std::array<T, samples> squared{};
  for (std::size_t i = 0; i < samples; ++i) {
    const sampled_partners<T> met(left, i, right, static_cast<T>(distance), grid.reach);
    near += met.near;
    tested += met.tested;
    partner_scores[i] = right.scores[met.nearest];
    squared[i] = met.nearest_squared;
  }
  constexpr double pairs = double{samples} * samples;
  const double all = static_cast<double>(given.left.rows) * static_cast<double>(given.right.rows);
  // less three standard deviations: of pairs that were met by chance, or of a point with itself, hardly any count
  const auto surely = [](double met) { return std::max(0.0, met - 3 * std::sqrt(met)); };
  // of clusters that lie apart, a sample is too small to meet pairs
  const auto middle = squared.begin() + samples / 2;
  const auto eighth = squared.begin() + samples / 8;
  std::nth_element(squared.begin(), middle, squared.end());
  std::nth_element(squared.begin(), eighth, middle);
  const double if_dense = family::dense_share(family::nearest_squares<T>{*eighth, *middle}, samples,
                                              distance * distance, static_cast<unsigned>(given.left.columns.size()));
  const bool is_met = surely(near) > grid.share_if_even * pairs;
  const bool is_even = !is_met && if_dense <= 2 * grid.share_if_even;
  const double unless_met = is_even ? grid.share_if_even : if_dense;
  pair_guess guess{
      all * (is_met ? near / pairs : unless_met),
      all * (std::max(surely(tested) / pairs, grid.share_of_border) + grid.share_of_others),
      correlation_of(left.scores, partner_scores),
      {share_of(left.scores, std::ranges::max(left.scores)), share_of(right.scores, std::ranges::max(right.scores))},
      {share_of(left.scores, std::ranges::min(left.scores)), share_of(right.scores, std::ranges::min(right.scores))},
      {}};
  guess.has_scores = given.left.scores != nullptr && given.right.scores != nullptr;
  std::copy_n(left.scores.begin(), guess.scores[0].size(), guess.scores[0].begin());
  std::copy_n(right.scores.begin(), guess.scores[1].size(), guess.scores[1].begin());
  // points that lie evenly and have partners as a rule hide none
  const bool has_partners = guess.near >= static_cast<double>(std::max(given.left.rows, given.right.rows));
  guess.may_hide = !is_met && !(is_even && has_partners);
  return guess;
}

/// Whether many of some scores are one.
bool has_many_equal(std::span<const double> scores) {
  constexpr std::size_t few = 8;
  // if a quarter are, hardly ever none of these is among them
  return std::ranges::any_of(scores.first(few), [&](double one) {
    return static_cast<std::size_t>(std::ranges::count(scores, one)) > scores.size() / few;
  });
}

double score_of(double left, double right, const top_k_spatial_join_options& options) {
  switch (options.score) {
    case pair_score::product: return left * right;
    case pair_score::minimum: return std::min(left, right);
    case pair_score::maximum: return std::max(left, right);
    case pair_score::weighted_sum: return left * options.left_weight + right * options.right_weight;
    default: return left + right;
  }
}

}  // namespace

double share_tied_at(const pair_guess& guess, std::size_t k, const top_k_spatial_join_options& options) {
  constexpr std::size_t most = std::tuple_size_v<decltype(guess.scores)::value_type>;
  const std::span<const double> left(guess.scores[0]);
  const std::span<const double> right(guess.scores[1]);
  if (!guess.has_scores || (!has_many_equal(left) && !has_many_equal(right))) return 0;
  const double wanted = static_cast<double>(k) / guess.near;  // share of the pairs
  if (!(wanted < 1)) return 0;
  std::size_t some = 32;
  while (some < most && static_cast<double>(some * some) * wanted < 4) some *= 2;
  std::vector<double> all;
  all.reserve(some * some);
  for (const double one : left.first(some)) {
    for (const double other : right.first(some)) all.push_back(score_of(one, other, options));
  }
  if (std::ranges::any_of(all, [](double one) { return std::isnan(one); })) return 0;  // they will be refused
  const double rank = wanted * static_cast<double>(all.size());
  if (rank < 1) return 0;
  const auto kth = all.begin() + static_cast<std::ptrdiff_t>(rank);
  if (options.select == selection::largest) {
    std::nth_element(all.begin(), kth, all.end(), std::greater{});
  } else {
    std::nth_element(all.begin(), kth, all.end());
  }
  // a row whose score is its own ties with itself beside all equal ones
  const auto equal = static_cast<std::size_t>(std::ranges::count(all, *kth));
  return equal < 4 * some ? 0 : static_cast<double>(equal) / static_cast<double>(all.size());
}

pair_guess guess_pairs(const spatial_arguments& given, double distance) {
  return given.type == key_type::float32 ? sampled_pairs<float>(given, distance)
                                         : sampled_pairs<double>(given, distance);
}

}  // namespace zenith::detail

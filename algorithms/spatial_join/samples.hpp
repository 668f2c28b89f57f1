#pragma once

/// \file
/// What samples of both sides say: the share of pairs within the distance, a bound that about so many pairs reach, and
/// what a point's score must be to reach it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <algorithms/spatial_join/guess.hpp>
#include <algorithms/spatial_join/input.hpp>
#include <core/device/bisect.hpp>
#include <core/device/context.hpp>

namespace zenith::spatial_join_family::detail {

/// Pairs of samples that a share of all pairs makes of so many; 0: all are wanted.
[[nodiscard]] ZENITH_FN double sample_pairs(double share, double pairs) {
  constexpr double least = 4;
  const double some = std::ceil(share * pairs);
  const double wanted = some < least ? least : some;
  return wanted < pairs / 2 ? wanted : 0;
}

/// The share of pairs within the distance. It is that of evenly spread points, unless surely more pairs of samples were
/// met than these would have; then it is what mostly is: if there are fewer, too few pairs are found, which is soon
/// seen. `dense`: what the nearest samples say, as far as they were asked.
[[nodiscard]] ZENITH_FN double guess_near_share(u32 near, double tested, double even, double dense) {
  double share = even;
  if (surely_expected(near, 3) > even * tested) {
    const double met = surely_expected(near, 1) / tested;
    share = met > share ? met : share;
  }
  const double likely = 0.7 * dense;
  return dense > 2 * even && likely > share ? likely : share;
}
/// Whether so few pairs of samples are near that clusters which lie apart may have none: the nearest samples are asked.
[[nodiscard]] ZENITH_FN bool asks_nearest(double tested, double even) {
  constexpr double few = 8;
  return even * tested < few;
}
/// Of `rows` values, hardly ever more are at least as good as so many of the samples.
[[nodiscard]] ZENITH_FN u64 rows_reaching(u32 samples, u32 all_samples, u64 rows) {
  constexpr u64 few = 4096;
  if (rows <= few) return rows;
  const double share = (samples + 4 * std::sqrt(double{1} * samples) + 8) / all_samples;
  return share < 1 ? static_cast<u64>(share * static_cast<double>(rows)) : rows;
}

/// What is known of the values of one side: scores times their weight.
template <class T>
struct value_range {
  T best;
  T worst;
};
template <class T>
[[nodiscard]] ZENITH_FN value_range<T> values_of(const column_extremes<T>& known, bool is_right, bool smallest) {
  const unsigned column = (is_right ? most_side_columns : 0) + most_side_columns - 1;
  const T least = from_total_order<T>(known.least[column]);
  const T greatest = from_total_order<T>(known.greatest[column]);
  return smallest ? value_range<T>{least, greatest} : value_range<T>{greatest, least};
}

/// The worst value of a side that can reach the bound with the other side's best. The pair of both bests reaches it.
template <class T>
[[nodiscard]] ZENITH_FN T limit_of(const pair_scorer<T>& scorer, const value_range<T>& own, T best_other,
                                   ordered::bits_t<T> bound) {
  using image = ordered::bits_t<T>;
  const ordered::key_order<T> order{scorer.smallest, false};
  image low = order.image(own.worst);
  image high = order.image(own.best);
  while (low < high) {
    const auto middle = static_cast<image>(low + (high - low) / 2);
    if (scorer.image_of(order.key(middle), best_other) >= bound) {
      high = middle;
    } else {
      low = static_cast<image>(middle + 1);
    }
  }
  return order.key(low);
}

/// Samples of both sides: values in order, and the share of pairs within the distance.
template <class T, unsigned D, class Context>
class side_samples {
 public:
  using image = ordered::bits_t<T>;

  explicit side_samples(const pair_scorer<T>& scorer) : scorer_(scorer) {}

  /// Launches what draws them, and what counts in *near, which is 0, how many pairs are near each other.
  void draw(Context& on, const join_input<T, D>& input, u32* near) {
    left_count_ = static_cast<u32>(std::min<u64>(input.left.rows, most_score_samples));
    right_count_ = static_cast<u32>(std::min<u64>(input.right.rows, most_score_samples));
    const u32 all = left_count_ + right_count_;
    images_ = on.template buffer<image>(all);
    u32* const unused = on.template buffer<u32>(all);
    u32* const begins = on.template buffer<u32>(3);
    left_at_ = on.template buffer<T>(D * most_place_samples);
    right_at_ = on.template buffer<T>(D * most_place_samples);
    on.for_each(all, draw_samples<T, D>{input.left, input.right, left_count_, right_count_, scorer_.smallest, images_,
                                        unused, begins, left_at_, right_at_});
    using near_samples = count_near_samples<T, D>;
    on.for_each(std::min(left_count_, most_place_samples) * u64{near_samples::parts},
                near_samples{left_at_, right_at_, rights(), input.squared, near});
    on.sort_segments(images_, unused, all, static_cast<const u32*>(begins), 2, most_score_samples);
  }
  /// `input` says how many of their pairs are near; `left` and `right` are the sides, or the samples' places.
  void learn(Context& on, const join_input<T, D>& input, const point_columns<T, D>& left,
             const point_columns<T, D>& right) {
    const double tested = double{1} * std::min(left_count_, most_place_samples) * rights();
    usual_ = usual_extents(on, left, right);
    even_share_ = share_if_even(usual_.side[0], usual_.side[1], reach_of(input.squared));
    double dense = 0;
    if constexpr (Context::runs_on_host) {
      if (asks_nearest(tested, even_share_)) {
        find_nearest(on);
        dense = dense_share(*nearest_, rights(), static_cast<double>(input.squared), D);
      }
    }
    near_share_ = guess_near_share(input.near, tested, even_share_, dense);
    is_even_ = near_share_ < 1.5 * even_share_;
    is_met_ = surely_expected(input.near, 3) > 0.5 * near_share_ * tested;
  }
  /// What is known of the right side's points: on a host, after `learn`. Where samples met as many pairs as points that
  /// are spread evenly have, the nearest ones need not be found.
  [[nodiscard]] sampled_places<T, D> places_of_right(Context& on, const join_input<T, D>& input) {
    const bool is_even = is_even_ && even_share_ < 1;
    if (!nearest_.has_value() && is_even) {
      nearest_ = nearest_if_even<T>(even_share_, rights(), static_cast<double>(input.squared), D);
    }
    if (!nearest_.has_value()) find_nearest(on);
    return {usual_.side[1], *nearest_, rights()};
  }
  /// Samples that something else drew and put in order, as `draw` does.
  void adopt(const join_input<T, D>& input, image* images) {
    left_count_ = static_cast<u32>(std::min<u64>(input.left.rows, most_score_samples));
    right_count_ = static_cast<u32>(std::min<u64>(input.right.rows, most_score_samples));
    images_ = images;
  }
  void adopt_share(double near_share) { near_share_ = near_share; }

  /// Whether there may be more pairs than samples say: they met hardly any, and it is not that points lie evenly and
  /// have a partner each.
  [[nodiscard]] bool may_hide_pairs(u64 left_rows, u64 right_rows) const {
    const double pairs = near_share_ * static_cast<double>(left_rows) * static_cast<double>(right_rows);
    return !is_met_ && !(is_even_ && pairs >= static_cast<double>(std::max(left_rows, right_rows)));
  }
  /// Where most points of the right side lie: on a host, after `learn`.
  [[nodiscard]] const side_extents<T, D>& usual_right() const { return usual_.side[1]; }

  /// Their places, as columns.
  [[nodiscard]] point_columns<T, D> places(bool is_right) const {
    point_columns<T, D> columns{};
    for (unsigned a = 0; a < D; ++a) columns.at[a] = (is_right ? right_at_ : left_at_) + a * most_place_samples;
    columns.rows = std::min(is_right ? right_count_ : left_count_, most_place_samples);
    return columns;
  }
  /// Values of a side that hardly any is better or worse than: the best sample, and beyond it as much as it is from the
  /// fifth.
  [[nodiscard]] value_range<T> guess_values(Context& on, bool is_right) const {
    constexpr u32 ranks = 5;
    const image* const from = images_ + (is_right ? left_count_ : 0);
    const u32 count = is_right ? right_count_ : left_count_;
    const ordered::key_order<T> order{scorer_.smallest, false};
    const T best = order.key(on.read(from + count - 1));
    const T lower = order.key(on.read(from + (count < ranks ? 0 : count - ranks)));
    T beyond = best + (best - lower);
    if (!std::isfinite(beyond)) beyond = best;
    if (scorer_.kind == pair_score::product) beyond = std::max(beyond, T{0});
    constexpr T most = std::numeric_limits<T>::max();
    return {beyond, scorer_.smallest ? most : -most};
  }
  /// Of `rows` values, hardly ever more are at least as good as the limit.
  [[nodiscard]] u64 most_reaching(Context& on, bool is_right, T limit, u64 rows) const {
    const image* const from = images_ + (is_right ? left_count_ : 0);
    const u32 count = is_right ? right_count_ : left_count_;
    const image least = ordered::key_order<T>{scorer_.smallest, false}.image(limit);
    const u32 below = device::first_failing(count, [&](u32 i) { return on.read(from + i) < least; });
    return rows_reaching(count - below, count, rows);
  }

  /// Of all pairs, as guessed.
  [[nodiscard]] double near_share() const { return near_share_; }

  /// A bound that about such a share of all pairs of values reaches; 0: all.
  [[nodiscard]] image bound_of(Context& on, double share) const {
    const double wanted = sample_pairs(share, pairs());
    if (wanted == 0) return 0;
    using list = list_best_pairs<T>;
    using entry = typename list::entry;
    list best{images_, images_ + left_count_, left_count_, right_count_, 1, 0, scorer_, {}};
    best.want(wanted);
    const u32 lefts = best.lefts();
    u32 listed = 0;
    for (u32 i = 0; i < lefts; ++i) listed += best.partners(i);
    entry* const entries = on.template buffer<entry>(listed);
    entry* const found = on.template buffer<entry>(1);
    best.to = {entries, on.template zeroed<u32>(1), listed};
    on.for_teams(lefts, best);
    on.kth_best(entries, listed, std::min(best.wanted, listed), found);
    return on.read(static_cast<const entry*>(found)).image();
  }

 private:
  void find_nearest(Context& on) {
    const u32 asked = std::min(left_count_, most_asked);
    T* const squared = on.template buffer<T>(asked);
    on.for_each(asked, find_nearest_samples<T, D>{left_at_, right_at_, rights(), squared});
    T* const middle = squared + asked / 2;
    T* const eighth = squared + asked / 8;
    std::nth_element(squared, middle, squared + asked);
    std::nth_element(squared, eighth, middle);
    nearest_ = {*eighth, *middle};
  }
  /// Samples of the right side that have places.
  [[nodiscard]] u32 rights() const { return std::min(right_count_, most_place_samples); }
  [[nodiscard]] double pairs() const { return static_cast<double>(left_count_) * right_count_; }

  pair_scorer<T> scorer_;
  u32 left_count_ = 0;
  u32 right_count_ = 0;
  image* images_ = nullptr;  ///< rising, of the left side and then of the right one
  T* left_at_ = nullptr;     ///< coordinate a of sample i at [a * most_place_samples + i]
  T* right_at_ = nullptr;
  double even_share_ = 0;  ///< of pairs within the distance, of points spread evenly
  double near_share_ = 0;
  bool is_even_ = false;  ///< samples say so
  bool is_met_ = false;   ///< so many pairs of samples are near each other that their share is known
  usual_sides<T, D> usual_{};
  std::optional<nearest_squares<T>> nearest_;  ///< of left samples
};

}  // namespace zenith::spatial_join_family::detail

#pragma once

/// \file
/// The strategies of spatial joins, and every kernel that they launch.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <algorithms/spatial_join/best_pairs.hpp>
#include <algorithms/spatial_join/family.hpp>
#include <algorithms/spatial_join/guess.hpp>
#include <algorithms/spatial_join/input.hpp>
#include <algorithms/spatial_join/pairs.hpp>
#include <algorithms/spatial_join/rows.hpp>
#include <core/device/context.hpp>
#include <zenith/error.hpp>

namespace zenith::spatial_join_family {

template <class T, unsigned D>
using kernels_of = device::concat<
    input_kernels<T, D>, bucket_kernels<T, D, false>, row_kernels<T, D>,
    device::list<count_partners<T, D>, write_partners<T, D, std::uint32_t>, write_partners<T, D, std::uint64_t>,
                 count_takers<T, D>, append_pairs<T, D>, draw_samples<T, D>, count_near_samples<T, D>>>;

using kernels = device::concat<kernels_of<float, 2>, kernels_of<float, 3>, kernels_of<double, 2>, kernels_of<double, 3>,
                               column_kernels<float>, column_kernels<double>, best_pairs_kernels<float>,
                               best_pairs_kernels<double>, best_pairs_common_kernels,
                               device::list<gather_begins, write_left<std::uint32_t>, write_left<std::uint64_t>>,
                               device::list<begin_row, list_best_pairs<float>, list_best_pairs<double>>>;

namespace detail {

/// Calls use(T, D) with the call's type and dimensions.
template <class Use>
void with_points(const spatial_call& call, const Use& use) {
  const auto as = [&]<class T>(std::type_identity<T> type) {
    if (call.dimensions == 3) {
      use(type, std::integral_constant<unsigned, 3>{});
    } else {
      use(type, std::integral_constant<unsigned, 2>{});
    }
  };
  if (call.type == key_type::float32) {
    as(std::type_identity<float>{});
  } else {
    as(std::type_identity<double>{});
  }
}

[[nodiscard]] inline score_rules rules_of(const top_k_spatial_join_call& call) {
  return {true, call.score != pair_score::product, call.left_weight, call.right_weight};
}

template <class T, unsigned D>
[[nodiscard]] pair_scores<T> scores_of(const join_input<T, D>& input) {
  return {input.left.scores, input.right.scores, input.left.weight, input.right.weight};
}

template <class T, class Context>
[[nodiscard]] pair_bound<T>* make_bound(Context& on, ordered::bits_t<T> image) {
  auto* const bound = on.template buffer<pair_bound<T>>(1);
  on.for_each(1, set_bound<T>{{image, ~u64{0}}, bound});
  return bound;
}

/// Pairs are counted, and then written in batches that a pool can hold. The bound rises to the k-th best so far.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> collect_in_batches(Context& on, const placed_sides<T, D>& sides,
                                                const pair_scorer<T>& scorer, pair_bound<T>* bound, u64 k) {
  constexpr u64 batch = u64{1} << 21;
  const u64 n = sides.left.count;
  u64* const counts = on.template buffer<u64>(n);
  u64* const offsets = on.template buffer<u64>(n + 1);
  u64* const most = on.template buffer<u64>(1);
  on.for_each(n, count_takers<T, D>{sides, scorer, bound, counts});
  on.exclusive_scan(static_cast<const u64*>(counts), n, offsets);
  on.template reduce<device::greatest>(static_cast<const u64*>(counts), n, most);
  const u64 total = on.read(static_cast<const u64*>(offsets + n));
  const u64 largest = on.read(static_cast<const u64*>(most));
  if (total == 0) return {{}, 0, 0, 0};
  k = std::min(k, total);
  const u64 capacity = std::min(total, k + 2 * batch + largest);
  if (capacity >= ~u32{0}) {
    throw error(error_code::unsupported,
                "top_k_spatial_join: k is " + std::to_string(k) + ", more pairs than 32 bits can count");
  }
  best_keeper<T, Context> keeper(on, capacity);
  if (total == capacity) {
    on.for_each(n, append_pairs<T, D>{sides, scorer, bound, 0, keeper.pool()});
  } else {
    const u64 batches = (total + batch - 1) / batch;
    u64* const begins = on.template buffer<u64>(batches + 1);
    on.for_each(batches + 1, find_batch{offsets, n, batch, begins});
    u64 begin = 0;
    for (u64 b = 1; b <= batches; ++b) {
      const u64 end = b == batches ? n : on.read(static_cast<const u64*>(begins + b));
      on.for_each(end - begin, append_pairs<T, D>{sides, scorer, bound, begin, keeper.pool()});
      begin = end;
      const u64 count = on.read(static_cast<const u64*>(keeper.pool().count));
      if (b < batches && count > k + batch) keeper.keep(count, k, bound);
    }
  }
  const u64 count = on.read(static_cast<const u64*>(keeper.pool().count));
  if (count > k) keeper.keep(count, k, bound);
  return {keeper.pool(), k, total, k};
}

/// The same without counting first, if no more than `capacity` pairs are found.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> collect_best(Context& on, const placed_sides<T, D>& sides, const pair_scorer<T>& scorer,
                                          pair_bound<T>* bound, u64 k, u64 capacity) {
  best_keeper<T, Context> keeper(on, capacity);
  on.for_each(sides.left.count, append_pairs<T, D>{sides, scorer, bound, 0, keeper.pool()});
  const u64 found = on.read(static_cast<const u64*>(keeper.pool().count));
  if (found > capacity) return collect_in_batches(on, sides, scorer, bound, k);
  // hardly more than are wanted are ranked with them: to leave them out takes longer
  constexpr u64 few = 4096;
  if (found <= 2 * k + few) return {keeper.pool(), std::min(found, k), found, found};
  keeper.keep(found, k, bound);
  return {keeper.pool(), k, found, k};
}

/// What is known of the values of one side: scores times their weight.
template <class T>
struct value_range {
  T best;
  T worst;
};
template <class T>
[[nodiscard]] value_range<T> values_of(const column_extremes<T>& known, bool is_right, bool smallest) {
  const unsigned column = (is_right ? most_side_columns : 0) + most_side_columns - 1;
  const T least = from_total_order<T>(known.least[column]);
  const T greatest = from_total_order<T>(known.greatest[column]);
  return smallest ? value_range<T>{least, greatest} : value_range<T>{greatest, least};
}

/// The worst value of a side that can reach the bound with the other side's best. The pair of both bests reaches it.
template <class T>
[[nodiscard]] T limit_of(const pair_scorer<T>& scorer, const value_range<T>& own, T best_other,
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
    const draw_samples<T, D> drawn{input.left,
                                   input.right,
                                   left_count_,
                                   right_count_,
                                   scorer_.smallest,
                                   images_,
                                   unused,
                                   begins,
                                   on.template buffer<T>(D * most_place_samples),
                                   on.template buffer<T>(D * most_place_samples)};
    on.for_each(all, drawn);
    using near_samples = count_near_samples<T, D>;
    on.for_each(
        std::min(left_count_, most_place_samples) * u64{near_samples::parts},
        near_samples{drawn.left_at, drawn.right_at, std::min(right_count_, most_place_samples), input.squared, near});
    on.sort_segments(images_, unused, all, static_cast<const u32*>(begins), 2, most_score_samples);
  }
  void learn(const join_input<T, D>& input) {
    const double tested =
        double{1} * std::min(left_count_, most_place_samples) * std::min(right_count_, most_place_samples);
    // of few pairs that were met by chance hardly any count
    const double surely = std::max(0.0, input.near - 2 * std::sqrt(double{1} * input.near));
    near_share_ = std::max(surely / tested, share_if_even(input));
  }

  /// Of all pairs, as guessed.
  [[nodiscard]] double near_share() const { return near_share_; }

  /// A bound that about such a share of all pairs of values reaches; 0: all.
  [[nodiscard]] image bound_of(Context& on, double share) const {
    constexpr double least = 4;
    const double wanted = std::max(least, std::ceil(share * pairs()));
    if (!(wanted < pairs() / 2)) return 0;
    using list = list_best_pairs<T>;
    using entry = typename list::entry;
    list best{images_, images_ + left_count_, left_count_, right_count_, 1, 0, scorer_, {}};
    const auto at_step = [&](double step) { return std::ceil(wanted / (step * step)); };
    while (at_step(best.step) > list::most_wanted) ++best.step;
    best.wanted = static_cast<u32>(at_step(best.step));
    const u32 lefts = std::min(best.ranks(left_count_), best.wanted);
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
  [[nodiscard]] double pairs() const { return static_cast<double>(left_count_) * right_count_; }

  /// Of points spread evenly over the extent of both sides: the share of a ball, or of the axes that it does not span.
  [[nodiscard]] static double share_if_even(const join_input<T, D>& input) {
    const double reach = static_cast<double>(reach_of(input.squared));
    constexpr double ball = D == 2 ? 0.7853981634 : 0.5235987756;  // of the square or cube around it
    double share = 1;
    bool is_inside = true;
    for (unsigned a = 0; a < D; ++a) {
      const unsigned b = most_side_columns + a;
      const auto low = static_cast<double>(from_total_order<T>(std::min(input.known.least[a], input.known.least[b])));
      const auto high =
          static_cast<double>(from_total_order<T>(std::max(input.known.greatest[a], input.known.greatest[b])));
      if (2 * reach < high - low) {
        share *= 2 * reach / (high - low);
      } else {
        is_inside = false;
      }
    }
    return is_inside ? ball * share : share;
  }

  pair_scorer<T> scorer_;
  u32 left_count_ = 0;
  u32 right_count_ = 0;
  image* images_ = nullptr;  ///< rising, of the left side and then of the right one
  double near_share_ = 0;
};

}  // namespace detail

namespace detail {

/// All pairs on a host: by the left side's rows.
template <class T, unsigned D, class Context>
void join_by_rows(Context& on, const spatial_join_call& call, const join_input<T, D>& input) {
  using list = list_partners<T, D>;
  using point = packed_point<T, D, false>;
  const u64 groups = (call.left.rows + list::group - 1) / list::group;
  const u64 m = call.right.rows;
  const auto grid = make_side_grid(input, m);
  auto* const points = on.template buffer<point>(m);
  // the same memory for points on their way to cells, and then for ids
  const u64 words = std::max(groups * list::stride, (m * sizeof(point) + sizeof(u32) - 1) / sizeof(u32));
  auto* const spare = on.template buffer<point>((words * sizeof(u32) + sizeof(point) - 1) / sizeof(point));
  const auto* const starts =
      order_by_cells<T, D, false>(on, {input.right, nullptr}, m, grid, ordered_points<T, D, false>{points}, spare);
  const row_probe<T, D> probe{input.left, points, starts, grid};
  u32* const ids = reinterpret_cast<u32*>(spare);
  u32* const counts = on.template buffer<u32>(call.left.rows);
  u64* const sums = on.template buffer<u64>(groups);
  u64* const begins = on.template buffer<u64>(groups + 1);
  u32* const listed = on.template buffer<u32>(groups);
  on.for_teams(groups, list{probe, counts, sums, listed, ids});
  on.exclusive_scan(static_cast<const u64*>(sums), groups, begins);
  const u64 total = on.read(static_cast<const u64*>(begins + groups));
  call.outcome->count = total;
  const auto out = call.provide(call.provide_state, total);
  if (total == 0 || out.left == nullptr) return on.finish();
  with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
    on.for_teams(groups, write_rows<T, D, Index>{probe, counts, listed, ids, begins,
                                                 on.output(static_cast<Index*>(out.left), total, call.out_space),
                                                 on.output(static_cast<Index*>(out.right), total, call.out_space)});
  });
  on.finish();
}

}  // namespace detail

template <class Context>
void grid_join::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = read_input<T, D>(on, call, {});
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    if (on.threads() > 0) return detail::join_by_rows(on, call, input);
    const u64 n = call.left.rows;
    const auto sides = place_sides(on, input);
    u64* const counts = on.template buffer<u64>(n);
    u64* const offsets = on.template buffer<u64>(n + 1);
    u32* const placed_counts = on.template buffer<u32>(n);
    u64* const begins = on.template buffer<u64>(n);
    u32* const kept = on.template buffer<u32>(n * kept_partners);
    on.for_each(n, count_partners<T, D>{sides, counts, placed_counts, kept});
    on.exclusive_scan(static_cast<const u64*>(counts), n, offsets);
    const u64 total = on.read(static_cast<const u64*>(offsets + n));
    call.outcome->count = total;
    const auto out = call.provide(call.provide_state, total);
    if (total == 0 || out.left == nullptr) return on.finish();
    with_index(call.index_bytes, [&]<class Index>(std::type_identity<Index>) {
      auto* const to = on.output(static_cast<Index*>(out.left), total, call.out_space);
      on.for_each(n, write_left<Index>{offsets, to});
      on.for_each(n, gather_begins{offsets, sides.left.rows, begins});
      on.for_each(n, write_partners<T, D, Index>{sides, begins, placed_counts, kept,
                                                 on.output(static_cast<Index*>(out.right), total, call.out_space)});
    });
    on.finish();
  });
}

template <class Context>
void full::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = read_input<T, D>(on, call, detail::rules_of(call));
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    const pair_scorer<T> scorer{call.score, call.select == selection::smallest};
    const auto sides = place_sides(on, input);
    const auto found = detail::collect_in_batches(on, sides, scorer, detail::make_bound<T>(on, 0), call.k);
    if (call.statistics != nullptr) *call.statistics = {1, call.left.rows, call.right.rows, found.total};
    deliver(on, call, detail::scores_of(input), scorer, found);
    on.finish();
  });
}

template <class Context>
void threshold_first::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const pair_scorer<T> scorer{call.score, call.select == selection::smallest};
    detail::side_samples<T, D, Context> samples(scorer);
    const auto input =
        read_input<T, D>(on, call, detail::rules_of(call),
                         [&](const join_input<T, D>& columns, u32* near) { samples.draw(on, columns, near); });
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    samples.learn(input);
    const auto left_values = detail::values_of(input.known, false, scorer.smallest);
    const auto right_values = detail::values_of(input.known, true, scorer.smallest);
    constexpr double most_listed = 1 << 22;
    const double all = static_cast<double>(call.left.rows) * static_cast<double>(call.right.rows);
    const double goal = 1.5 * static_cast<double>(call.k) + 16;
    double share = goal / (all * samples.near_share());
    for (u64 rounds = 1;; ++rounds) {
      const auto image = goal > most_listed ? 0 : samples.bound_of(on, share);
      const auto sides =
          image == 0 ? place_sides(on, input)
                     : place_best(on, input, detail::limit_of(scorer, left_values, right_values.best, image),
                                  detail::limit_of(scorer, right_values, left_values.best, image), scorer.smallest);
      auto* const bound = detail::make_bound<T>(on, image);
      const double expected = 2 * std::min(all * samples.near_share(), most_listed) + 65536;
      const auto found = image == 0 ? detail::collect_in_batches(on, sides, scorer, bound, call.k)
                                    : detail::collect_best(on, sides, scorer, bound, call.k,
                                                           static_cast<u64>(std::min(4 * goal + 65536, expected)));
      // every pair that reaches the bound was joined: if they are enough, the k best are among them
      if (image == 0 || found.total >= call.k) {
        if (call.statistics != nullptr) *call.statistics = {rounds, sides.left.count, sides.right.count, found.total};
        deliver(on, call, detail::scores_of(input), scorer, found);
        return on.finish();
      }
      share *= std::clamp(goal / std::max(1.0, static_cast<double>(found.total)), 4.0, 256.0);
    }
  });
}

}  // namespace zenith::spatial_join_family

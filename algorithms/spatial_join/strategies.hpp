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
#include <core/device/context.hpp>
#include <zenith/error.hpp>

namespace zenith::spatial_join_family {

template <class T, unsigned D>
using kernels_of =
    device::concat<input_kernels<T, D>, device::list<count_partners<T, D>, write_partners<T, D, std::uint32_t>,
                                                     write_partners<T, D, std::uint64_t>, count_takers<T, D>,
                                                     append_pairs<T, D>, draw_samples<T, D>, count_near_samples<T, D>>>;

using kernels = device::concat<
    kernels_of<float, 2>, kernels_of<float, 3>, kernels_of<double, 2>, kernels_of<double, 3>, column_kernels<float>,
    column_kernels<double>, best_pairs_kernels<float>, best_pairs_kernels<double>, best_pairs_common_kernels,
    device::list<gather_begins, write_left<std::uint32_t>, write_left<std::uint64_t>>,
    device::list<begin_row, pick_rows<float>, pick_rows<double>, guess_bound<float>, guess_bound<double>>>;

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

template <class T, unsigned D, class Context>
[[nodiscard]] join_input<T, D> read_scored_input(Context& on, const top_k_spatial_join_call& call) {
  return read_input<T, D>(on, call, {true, call.score != pair_score::product, call.left_weight, call.right_weight});
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
  if (total == 0) return {{}, 0, 0};
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
  return {keeper.pool(), k, total};
}

/// The same without counting first, if no more than `capacity` pairs are found.
template <class T, unsigned D, class Context>
[[nodiscard]] found_pairs<T> collect_best(Context& on, const placed_sides<T, D>& sides, const pair_scorer<T>& scorer,
                                          pair_bound<T>* bound, u64 k, u64 capacity) {
  best_keeper<T, Context> keeper(on, capacity);
  on.for_each(sides.left.count, append_pairs<T, D>{sides, scorer, bound, 0, keeper.pool()});
  const u64 found = on.read(static_cast<const u64*>(keeper.pool().count));
  if (found > capacity) return collect_in_batches(on, sides, scorer, bound, k);
  if (found > k) keeper.keep(found, k, bound);
  return {keeper.pool(), std::min(found, k), found};
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

/// Rows of a side whose values are not worse than the limit.
template <class T, unsigned D, class Context>
[[nodiscard]] picked_rows pick(Context& on, const point_columns<T, D>& side, T limit, bool smallest) {
  u32* const rows = on.template buffer<u32>(side.rows);
  u32* const count = on.template buffer<u32>(1);
  on.fill_zero(count, 1);
  const T sign = smallest ? T{-1} : T{1};
  on.for_each((side.rows + pick_rows<T>::group - 1) / pick_rows<T>::group,
              pick_rows<T>{side.scores, sign * side.weight, sign * limit, side.rows, rows, count});
  return {rows, on.read(static_cast<const u32*>(count))};
}

/// Samples of both sides: values in order, and the share of pairs within the distance.
template <class T, unsigned D, class Context>
class side_samples {
 public:
  using image = ordered::bits_t<T>;

  side_samples(Context& on, const join_input<T, D>& input, const pair_scorer<T>& scorer)
      : scorer_(scorer),
        best_(scorer.image_of(values_of(input.known, false, scorer.smallest).best,
                              values_of(input.known, true, scorer.smallest).best)),
        left_count_(static_cast<u32>(std::min<u64>(input.left.rows, most_score_samples))),
        right_count_(static_cast<u32>(std::min<u64>(input.right.rows, most_score_samples))),
        left_(on.template buffer<image>(left_count_)),
        right_(on.template buffer<image>(right_count_)),
        guessed_(on.template buffer<image>(1)) {
    T* const left_at = on.template buffer<T>(D * most_place_samples);
    T* const right_at = on.template buffer<T>(D * most_place_samples);
    u32* const unused = on.template buffer<u32>(most_score_samples);
    const u32 lefts = std::min(left_count_, most_place_samples);
    const u32 rights = std::min(right_count_, most_place_samples);
    u32* const near = on.template buffer<u32>(lefts);
    u32* const all_near = on.template buffer<u32>(1);
    on.for_each(left_count_, draw_samples<T, D>{input.left, scorer.smallest, left_, unused, left_at});
    on.sort_pairs(left_, unused, left_count_);
    on.for_each(right_count_, draw_samples<T, D>{input.right, scorer.smallest, right_, unused, right_at});
    on.sort_pairs(right_, unused, right_count_);
    on.for_each(lefts, count_near_samples<T, D>{left_at, right_at, rights, input.squared, near});
    on.template reduce<device::plus>(static_cast<const u32*>(near), lefts, all_near);
    const double found = on.read(static_cast<const u32*>(all_near));
    // of few pairs that were met by chance hardly any count
    const double surely = std::max(0.0, found - 2 * std::sqrt(found));
    near_share_ = std::max(surely / (double{1} * lefts * rights), share_if_even(input));
  }

  /// Of all pairs, as guessed.
  [[nodiscard]] double near_share() const { return near_share_; }

  /// A bound that about such a share of all pairs of values reaches; 0: all.
  [[nodiscard]] image bound_of(Context& on, double share) const {
    constexpr double least = 4;
    const double wanted = std::max(least, std::ceil(share * pairs()));
    if (!(wanted < pairs() / 2)) return 0;
    on.for_teams(1, guess_bound<T>{left_, right_, left_count_, right_count_, scorer_, static_cast<u64>(wanted), best_,
                                   guessed_});
    return on.read(static_cast<const image*>(guessed_));
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
  image best_;
  u32 left_count_;
  u32 right_count_;
  image* left_;
  image* right_;
  image* guessed_;
  double near_share_ = 0;
};

}  // namespace detail

template <class Context>
void grid_join::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = read_input<T, D>(on, call, {});
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    const u64 n = call.left.rows;
    const auto sides = place_sides(on, input, {nullptr, n}, {nullptr, call.right.rows});
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
    const auto write = [&]<class Index>(std::type_identity<Index>) {
      auto* const to = on.output(static_cast<Index*>(out.left), total, call.out_space);
      on.for_each(n, write_left<Index>{offsets, to});
      on.for_each(n, gather_begins{offsets, sides.left.rows, begins});
      on.for_each(n, write_partners<T, D, Index>{sides, begins, placed_counts, kept,
                                                 on.output(static_cast<Index*>(out.right), total, call.out_space)});
    };
    if (call.index_bytes == 4) {
      write(std::type_identity<std::uint32_t>{});
    } else {
      write(std::type_identity<std::uint64_t>{});
    }
    on.finish();
  });
}

template <class Context>
void full::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = detail::read_scored_input<T, D>(on, call);
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    const pair_scorer<T> scorer{call.score, call.select == selection::smallest};
    const auto sides = place_sides(on, input, {nullptr, call.left.rows}, {nullptr, call.right.rows});
    const auto found = detail::collect_in_batches(on, sides, scorer, detail::make_bound<T>(on, 0), call.k);
    if (call.statistics != nullptr) *call.statistics = {1, call.left.rows, call.right.rows, found.total};
    deliver(on, call, detail::scores_of(input), scorer, found);
    on.finish();
  });
}

template <class Context>
void threshold_first::run(Context& on, const call_type& call) {
  detail::with_points(call, [&]<class T, unsigned D>(std::type_identity<T>, std::integral_constant<unsigned, D>) {
    const auto input = detail::read_scored_input<T, D>(on, call);
    if (call.outcome->fault != spatial_fault::none) return on.finish();
    const pair_scorer<T> scorer{call.score, call.select == selection::smallest};
    const auto left_values = detail::values_of(input.known, false, scorer.smallest);
    const auto right_values = detail::values_of(input.known, true, scorer.smallest);
    const detail::side_samples<T, D, Context> samples(on, input, scorer);

    constexpr double most_listed = 1 << 22;
    const double all = static_cast<double>(call.left.rows) * static_cast<double>(call.right.rows);
    const double goal = 1.5 * static_cast<double>(call.k) + 16;
    double share = goal / (all * samples.near_share());
    for (u64 rounds = 1;; ++rounds) {
      const auto image = goal > most_listed ? 0 : samples.bound_of(on, share);
      picked_rows left{nullptr, call.left.rows};
      picked_rows right{nullptr, call.right.rows};
      if (image != 0) {
        left = detail::pick(on, input.left, detail::limit_of(scorer, left_values, right_values.best, image),
                            scorer.smallest);
        right = detail::pick(on, input.right, detail::limit_of(scorer, right_values, left_values.best, image),
                             scorer.smallest);
      }
      const auto sides = place_sides(on, input, left, right);
      auto* const bound = detail::make_bound<T>(on, image);
      const double expected = 2 * std::min(all * samples.near_share(), most_listed) + 65536;
      const auto found = image == 0 ? detail::collect_in_batches(on, sides, scorer, bound, call.k)
                                    : detail::collect_best(on, sides, scorer, bound, call.k,
                                                           static_cast<u64>(std::min(4 * goal + 65536, expected)));
      // every pair that reaches the bound was joined: if they are enough, the k best are among them
      if (image == 0 || found.total >= call.k) {
        if (call.statistics != nullptr) *call.statistics = {rounds, left.count, right.count, found.total};
        deliver(on, call, detail::scores_of(input), scorer, found);
        return on.finish();
      }
      share *= std::clamp(goal / std::max(1.0, static_cast<double>(found.total)), 4.0, 256.0);
    }
  });
}

}  // namespace zenith::spatial_join_family

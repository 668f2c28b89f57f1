#pragma once

/// \file
/// What the cost models of spatial joins have in common. A GPU's rates were measured by themselves; on a host the
/// times were fitted to calls of one thread and of two, of 2^6 to 2^20 points a side.

#include <string_view>

#include <zenith/cost.hpp>
#include <zenith/spatial_join.hpp>

namespace zenith::spatial_join_detail {

[[nodiscard]] inline bool is_gpu(const device_profile& on) { return on.kind == device_kind::gpu; }

/// Cores for so many bytes on a host, whose launches wake no more; 0, which is all, where launches take all.
[[nodiscard]] int cores_of(double bytes, const device_profile& on);
/// The same as a divisor.
[[nodiscard]] double workers_of(double bytes, const device_profile& on);

/// Of pairs of so many rows, those whose branches no predictor knows: where points crowd, one partner follows another.
[[nodiscard]] double unpredicted(double pairs, double rows);

/// Of points that reach the k-th score of so many pairs with the best partner there is, if scores are independent.
[[nodiscard]] double share_in_reach(double k, double pairs);
/// The same where scores oppose each other: the best pairs are no better than most.
inline constexpr double opposing_share = 0.4;

/// Pairs of points in neighbouring cells.
[[nodiscard]] double tests_of(const spatial_join_problem& problem);
/// Those of a share of both sides. On a host, fewer points have fewer cells: where these are wider than the distance,
/// more of the points that are left are in one.
[[nodiscard]] double tests_of_some(const top_k_spatial_join_problem& problem, double share, const device_profile& on);

/// One read of so many columns of both sides.
[[nodiscard]] phase reading(const spatial_join_problem& problem, unsigned columns, const device_profile& on);
/// One side's rows that take part, in cells: a count, a place, a copy of every column, all of them scattered.
[[nodiscard]] phase placing(double rows, const spatial_join_problem& problem, const device_profile& on,
                            std::string_view name = "place");
/// Pairs of so many rows with their scores: a selection of the k best, and their order.
[[nodiscard]] phase selecting(double pairs, double rows, double k, const device_profile& on);

/// What each call on a host pays, however few rows there are; more where a pool of pairs is made and chosen from.
void add_call(cost& to, bool has_pool, const device_profile& on);
/// What a GPU's call pays besides its launches: scratch, and values that the host waits for.
void add_waits(cost& to, double waits, const device_profile& on);
/// Points to a device, and its results back.
void add_transfers(cost& to, const spatial_join_problem& problem, unsigned columns, double pairs,
                   unsigned result_columns, const device_profile& on);

}  // namespace zenith::spatial_join_detail

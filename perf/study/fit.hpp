#pragma once

#include <set>
#include <string>
#include <vector>

#include <zenith/cost.hpp>
#include <zenith/machine.hpp>

namespace zenith_study {

/// A cost, and the seconds that the clock showed for it.
struct measured_cost {
  zenith::cost of;
  double seconds = 0;
};

using rate_names = std::set<std::string, std::less<>>;

/// Finds the rates of all work that `points` name, so that the roofline on `profile` predicts their times: least
/// squares of the logarithm of predicted over measured, so that a small problem counts as much as a large one; points
/// that no rate can explain pull with a bounded force. The rates that `profile` has, or the models' estimates, are
/// where it starts, and where a rate stays that the points leave open; those found are written to it, never negative.
/// Rates that are `known` stay as they are, and those found are known afterwards: what points of one operation have
/// told is not changed by another that shares a part of its work.
void fit_rates(const std::vector<measured_cost>& points, zenith::device_profile& profile, rate_names& known);

}  // namespace zenith_study
